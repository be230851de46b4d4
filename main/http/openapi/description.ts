/** The API described in OpenAPI 3.1, from the operations themselves: what `/openapi.json` serves. */
import {
  pathOf,
  type ActivityOperation,
  type Operation,
  type Operations,
  type QueryOperation,
  type VoteOperation,
} from '../../activities/define.ts';
import { activityStatuses } from '../../lib/activity-status.ts';
import { publishedLimits as limits, requestLimits } from '../../lib/published-limits.ts';
import { longestWait } from '../waiters.ts';
import { otherPaths } from './other-paths.ts';
import { details, refusals, refusalsOf } from './refusals.ts';
import {
  answer,
  Components,
  digits,
  object,
  optionally,
  reference,
  text,
  uuid,
  type Json,
  type Properties,
  type Schema,
} from './schemas.ts';

/** Proofs of the caller: one of these. */
const stamped: readonly Json[] = [{ stamp: [] }, { webauthnStamp: [] }];

const introduction = `Every operation is a POST with a JSON body and a stamp: a signature over the body’s bytes, in the header \`X-Stamp\` (an API key)
or \`X-Stamp-Webauthn\` (a passkey). Operations under \`submit\` change or sign something. Each is an *activity*, which the log keeps: the
same body sent again is the same activity, and answers what it answered before, but for tokens:
\`get_activity\` answers those. Operations under \`query\` only read.

An organization has at most ${String(limits.usersPerOrganization)} users, ${String(limits.walletsPerOrganization)} wallets, ${String(limits.policiesPerOrganization)} policies (with ${String(limits.policyCharactersPerOrganization)} characters of expressions in all), ${String(limits.tagsPerOrganization)} tags (a sub-organization ${String(limits.tagsPerSubOrganization)}), ${String(limits.privateKeysPerOrganization)} private keys, ${String(limits.secretsPerOrganization)} secrets,
${String(limits.webhookEndpointsPerOrganization)} webhook endpoints, ${String(limits.interfacesPerOrganization)} smart contract interfaces and ${String(limits.knownAddressesPerOrganization)} known addresses; a user has at most ${String(limits.longLivedApiKeysPerUser)} API keys that last, ${String(limits.expiringApiKeysPerUser)} that expire, ${String(limits.authenticatorsPerUser)} authenticators and
${String(limits.oauthProvidersPerUser)} OAuth providers. \`keyhearth settings set limits\` raises all of them. What would go over one is refused with code 8 and
the \`turnkeyErrorCode\` \`LIMIT_REACHED\`, which waiting does not help; too many requests in a time have another.

What one request may be, no setting changes. A body has at most ${String(requestLimits.values)} values, those in lists and objects counted each: more is
refused with HTTP 413 before it is read. A list has at most ${String(requestLimits.elements)} elements, where its schema does not say fewer. Payloads to sign have at most ${String(requestLimits.payloadCharacters)} characters together, and ${String(requestLimits.payloadValues)} values where they are JSON;
new users have at most ${String(requestLimits.credentials)} credentials together, and new private keys ${String(requestLimits.addresses)} addresses. A request has at most ${String(requestLimits.secrets)} secrets, each of at most ${String(requestLimits.secretBytes)} bytes, and exports at most ${String(requestLimits.secretBytesTogether)} bytes of them.`;

const prefer: Json = {
  name: 'Prefer',
  in: 'header',
  description: `\`wait=SECONDS\` (RFC 7240): where the activity needs votes, the answer comes once it is decided, or after so many seconds as it is then, at most ${String(longestWait)}. \`Preference-Applied\` in the answer says that the request waited. Without it, and where the caller has too many requests waiting or the vault is frozen, the answer comes at once.`,
  schema: text,
  example: 'wait=60',
};

const vote: Schema = object({
  id: uuid,
  userId: uuid,
  user: reference('User'),
  activityId: uuid,
  selection: { type: 'string', enum: ['VOTE_SELECTION_APPROVED', 'VOTE_SELECTION_REJECTED'] },
  message: { ...text, description: 'The body that was signed.' },
  publicKey: text,
  signature: text,
  scheme: text,
  createdAt: reference('Timestamp'),
});

/**
 * @returns an OpenAPI document without `servers`, which depend on where it is served.
 * @throws Error when a schema has no form in JSON Schema, or two different ones claim one name.
 */
export function describeApi(operations: Operations, version: string): Json {
  const components = new Components();
  const all = [...operations.byPath.values()];
  const activities = all.filter((operation) => operation.kind === 'activity');
  components.add('Vote', vote);
  components.add(
    'Activity',
    activitySchema(
      addActivityParts(
        components,
        activities.filter((operation) => operation.vote === undefined),
      ),
    ),
  );
  const paths = operations.groups.flatMap((group) =>
    group.operations.map((operation) => {
      const described =
        operation.kind === 'query'
          ? describeQuery(components, operation)
          : describeActivity(components, operation);
      return [`/public/v1/${pathOf(operation)}`, { post: { ...described, tags: [group.name] } }];
    }),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Keyhearth',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: operations.groups.map(({ name, about }) => ({ name, description: about })),
    security: stamped,
    paths: {
      ...Object.fromEntries(paths),
      ...otherPaths(),
    },
    components: {
      schemas: components.schemas(),
      responses: refusals(),
      parameters: { Prefer: prefer },
      securitySchemes: {
        stamp: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Stamp',
          description:
            'Base64url of `{"publicKey", "scheme", "signature"}`: the body’s bytes, signed by an API key of the caller’s.',
        },
        webauthnStamp: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Stamp-Webauthn',
          description:
            'JSON `{"credentialId", "authenticatorData", "clientDataJson", "signature"}`: an assertion by a passkey of the caller’s, whose challenge is the hex SHA-256 of the body.',
        },
        readOnlySession: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Session',
          description: 'The token of `create_read_only_session`: it asks queries alone, for an hour.',
        },
      },
    },
  };
}

/** Parts that only activities have: the types under which they are submitted, intents and results. */
interface ActivityParts {
  readonly types: readonly string[];
  readonly intents: Properties;
  /** The specification's, which is the real API's where it has none of its own. */
  readonly specifiedIntents: Properties;
  readonly results: Properties;
}

function addActivityParts(components: Components, operations: readonly ActivityOperation[]): ActivityParts {
  const versions = operations.flatMap((operation) =>
    operation.versions.map((version) => ({ ...version, returns: operation.returns })),
  );
  const intents: Record<string, Schema> = {};
  const results: Record<string, Schema> = {};
  for (const { intent, params, result, returns } of versions) {
    intents[intent] = components.add(capitalize(intent), components.of(params, 'input'));
    results[result] = components.add(capitalize(result), components.of(returns, 'output'));
  }
  const specifiedIntents: Record<string, Schema> = {};
  for (const { type, intent, specified } of versions) {
    const name = specified?.intent ?? intent;
    // The specification's intents are those of the types' first versions.
    const described = intents[name];
    if (described === undefined) throw new Error(`${type}: no version describes its ${name}`);
    specifiedIntents[name] = described;
  }
  return { types: versions.map(({ type }) => type), intents, specifiedIntents, results };
}

/** The envelope of an activity: the real API's and, inside its result, the specification's. */
function activitySchema({ types, intents, specifiedIntents, results }: ActivityParts): Schema {
  const type: Schema = { type: 'string', enum: types };
  return object({
    id: uuid,
    organizationId: uuid,
    status: { type: 'string', enum: activityStatuses },
    type,
    timestampMs: digits,
    intent: optionally(intents),
    result: optionally({
      ...results,
      activity: object({
        type,
        intent: optionally(specifiedIntents),
        result: optionally(results),
      }),
    }),
    votes: { type: 'array', items: reference('Vote') },
    fingerprint: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    canApprove: { type: 'boolean' },
    canReject: { type: 'boolean' },
    createdAt: reference('Timestamp'),
    updatedAt: reference('Timestamp'),
    failure: { anyOf: [object({ code: { type: 'integer' }, message: text, details }), { type: 'null' }] },
  });
}

function describeActivity(components: Components, operation: ActivityOperation | VoteOperation): Json {
  const isVote = operation.vote !== undefined;
  for (const { intent, params } of isVote ? operation.versions : []) {
    components.add(capitalize(intent), components.of(params, 'input'));
  }
  const requests = operation.versions.map(({ type, intent }) => ({
    type,
    schema: components.add(
      capitalize(intent.replace('Intent', 'Request')),
      object({
        type: { type: 'string', const: type },
        timestampMs: { ...digits, description: 'The time of the request, in milliseconds since the epoch.' },
        organizationId: uuid,
        parameters: reference(capitalize(intent)),
      }),
    ),
  }));
  const [only] = requests;
  const body =
    only !== undefined && requests.length === 1
      ? only.schema
      : {
          oneOf: requests.map(({ schema }) => schema),
          discriminator: {
            propertyName: 'type',
            mapping: Object.fromEntries(requests.map(({ type, schema }) => [type, schema['$ref']])),
          },
        };
  const activity = isVote ? reference('Activity') : activitySchema(addActivityParts(components, [operation]));
  const about = isVote ? 'The activity that the vote is about.' : 'The activity.';
  return {
    ...describeOperation(operation, body, answer(about, object({ activity }))),
    parameters: [{ $ref: '#/components/parameters/Prefer' }],
  };
}

function describeQuery(components: Components, operation: QueryOperation): Json {
  const params = objectOf(operation, components.of(operation.params, 'input'));
  const returns = objectOf(operation, components.of(operation.returns, 'output'));
  const result = components.add(`${pascal(operation.path)}Result`, returns);
  const envelope = object({
    id: uuid,
    organizationId: uuid,
    status: { type: 'string', const: 'ACTIVITY_STATUS_COMPLETED' },
    type: { type: 'string', const: 'ACTIVITY_TYPE_UNKNOWN_V1' },
    timestampMs: digits,
    result,
  });
  return describeOperation(
    operation,
    {
      ...params,
      properties: { organizationId: uuid, ...params.properties },
      required: ['organizationId', ...params.required],
    },
    answer('The resource under its name, and the specification’s envelope around it.', {
      ...returns,
      // A resource named `activity` is itself an activity, and is what clients read there.
      properties: { activity: envelope, ...returns.properties },
      required: [...new Set(['activity', ...returns.required])],
    }),
  );
}

const spelled: Readonly<Record<string, string>> = { api: 'API', oauth: 'OAuth', otp: 'OTP' };

/** `create_api_keys` as Create API keys. */
const title = (path: string): string =>
  capitalize(
    path
      .split('_')
      .map((word) => spelled[word] ?? word)
      .join(' '),
  );

function describeOperation(operation: Operation, body: Schema, success: Json): Json {
  return {
    operationId: operation.path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    summary: title(operation.path),
    description: operation.summary,
    ...(operation.kind === 'query' && { security: [...stamped, { readOnlySession: [] }] }),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: success,
      ...refusalsOf(operation.kind),
    },
  };
}

interface ObjectSchema extends Schema {
  readonly properties: Properties;
  readonly required: readonly string[];
}

function objectOf({ path }: Operation, schema: Schema): ObjectSchema {
  if (schema['type'] !== 'object') throw new Error(`${path}: expected the schema of an object`);
  return { properties: {}, required: [], ...schema };
}

/** `create_wallet` as CreateWallet. */
const pascal = (name: string): string => name.split('_').map(capitalize).join('');

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
