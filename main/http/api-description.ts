/** The API described in OpenAPI 3.1, from the operations themselves: what `/openapi.json` serves. */
import { z } from 'zod';
import type { ActivityOperation, Operation, QueryOperation, VoteOperation } from '../activities/define.ts';
import { errorCodes, type ErrorCodeName } from '../lib/errors.ts';
import { resourceTexts } from './api-texts.ts';

type Json = Readonly<Record<string, unknown>>;
/** A JSON Schema, draft 2020-12, which OpenAPI 3.1 takes as it is. */
type Schema = Json;
type Properties = Readonly<Record<string, Schema>>;

interface RefusalText {
  readonly text: string;
  readonly of: readonly Operation['kind'][];
}

const every = ['activity', 'query'] as const;

/** What each error says of a request, and whose requests may meet it. */
const refusalTexts: Readonly<Record<ErrorCodeName, RefusalText>> = {
  INVALID_ARGUMENT: { text: 'The request is not what it should be; the message names the field.', of: every },
  WRONG_SECRET: { text: 'What was given opens neither vault nor backup.', of: [] },
  VAULT_LOCKED: { text: 'The vault is locked.', of: every },
  VAULT_FROZEN: { text: 'The vault is frozen until its owner unlocks it with a secret.', of: every },
  VAULT_MISSING: { text: 'There is no vault yet.', of: every },
  VAULT_TAMPERED: { text: 'The vault’s file was changed outside Latchkey, and is not used.', of: every },
  VAULT_ROLLED_BACK: { text: 'The vault’s file is older than one that was used here.', of: [] },
  BACKUP_UNREADABLE: { text: 'A backup is damaged, or no backup.', of: [] },
  FAILED_PRECONDITION: {
    text: 'Something must be set up before; the message says what.',
    of: ['activity'],
  },
  UNAUTHENTICATED: { text: 'The stamp is missing, wrong, or of a key that nobody has.', of: every },
  PERMISSION_DENIED: { text: 'The caller may not do this, or the page’s origin is not paired.', of: every },
  NOT_FOUND: { text: 'Something that the request names is not there.', of: every },
  METHOD_NOT_ALLOWED: { text: 'The method is not POST.', of: [] },
  ALREADY_EXISTS: {
    text: 'What it would make or bring is there already: a key, a seed, an account.',
    of: ['activity'],
  },
  PAYLOAD_TOO_LARGE: { text: 'The body is too large.', of: every },
  UNSUPPORTED_MEDIA_TYPE: { text: 'The body is not announced as JSON.', of: every },
  RESOURCE_EXHAUSTED: { text: 'A limit is reached.', of: every },
  UNAVAILABLE: { text: 'An issuer of identity tokens cannot be reached now.', of: ['activity'] },
  INTERNAL: { text: 'Latchkey failed; the request was not carried out.', of: every },
  UNIMPLEMENTED: { text: 'Latchkey does not have the operation.', of: [] },
};

const activityStatuses = [
  'ACTIVITY_STATUS_CREATED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_REJECTED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
];

const introduction = `Every operation is a POST with a JSON body and a stamp: a signature over the body’s bytes, in the header \`X-Stamp\` (an API key)
or \`X-Stamp-Webauthn\` (a passkey). Operations under \`submit\` change or sign something. Each is an *activity*, which the log keeps: the
same body sent again is the same activity, and answers what it answered before. Operations under \`query\` only read.`;

const text: Schema = { type: 'string' };
const digits: Schema = { type: 'string', pattern: '^[0-9]{1,15}$' };
const uuid: Schema = { type: 'string', format: 'uuid' };

const details: Schema = {
  type: 'array',
  items: object({ '@type': text }, { additionalProperties: true }),
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

const discoveryKeys: Json = {
  operationId: 'discoveryKeys',
  summary: 'Discover keys',
  description: 'Shows the public halves of the vault’s own keys, in hex, to anybody.',
  security: [],
  responses: {
    200: answer('The keys, by what they are for.', { type: 'object', additionalProperties: text }),
  },
};

const webhookKeys: Json = {
  operationId: 'webhookKeys',
  summary: 'Discover webhook keys',
  description: 'Shows the public keys that webhooks are signed with, as a JSON Web Key Set, to anybody.',
  tags: ['Webhooks'],
  security: [],
  responses: {
    200: answer(
      'The keys.',
      object({
        keys: {
          type: 'array',
          items: object({
            kid: text,
            kty: { type: 'string', const: 'OKP' },
            crv: { type: 'string', const: 'Ed25519' },
            alg: { type: 'string', const: 'EdDSA' },
            use: { type: 'string', const: 'sig' },
            x: { ...text, description: 'The public key, in base64url.' },
            turnkey_signature_algorithm: { type: 'string', const: 'ed25519' },
            turnkey_signature_version: { type: 'string', const: 'v1' },
          }),
        },
      }),
    ),
  },
};

/** Its answer is no JSON, and does not end: `event-stream.ts`. */
const activityStream = (): Json => ({
  operationId: 'streamActivities',
  summary: 'Stream activities',
  description:
    'Sends each activity of the organization and its sub-organizations as it is committed, and again whenever it moves on, until the connection is closed. It takes a stamp: a session that may only read opens none.',
  tags: ['Activities'],
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'As `lastEventId` in the body, before which it goes.',
      schema: digits,
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          ...object({ organizationId: uuid }),
          properties: {
            organizationId: uuid,
            lastEventId: {
              ...digits,
              description:
                'The id of the last event that was received: the stream goes on after it. Without it, it begins with what comes next; with `0`, with the first of the log.',
            },
          },
        },
      },
    },
  },
  responses: {
    200: {
      description:
        'Server-sent events (WHATWG HTML 9.2) named `activity`: `id` is the place in the log, `data` is the activity as JSON, an `Activity`. Comments come in between, so that the connection is not taken for dead.',
      content: { 'text/event-stream': { schema: text } },
    },
    ...refusalsOf('query'),
  },
});

/**
 * @param operations By path, as it follows `/public/v1/`.
 * @returns an OpenAPI document without `servers`, which depend on where it is served.
 * @throws Error when a schema has no form in JSON Schema, or two different ones claim one name.
 */
export function describeApi(operations: ReadonlyMap<string, Operation>, version: string): Json {
  const components = new Components();
  const named = [...operations].sort(([, a], [, b]) => position(a) - position(b));
  const all = named.map(([, operation]) => operation);
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
  const paths = named.map(([path, operation]) => [
    `/public/v1/${path}`,
    {
      post:
        operation.kind === 'query'
          ? describeQuery(components, operation)
          : describeActivity(components, operation),
    },
  ]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Latchkey',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: resourceTexts
      .filter((resource) => all.some(({ path }) => Object.hasOwn(resource.operations, path)))
      .map(({ name, about }) => ({ name, description: about })),
    security: [{ stamp: [] }, { webauthnStamp: [] }],
    paths: {
      ...Object.fromEntries(paths),
      '/public/v1/stream/activities': { post: activityStream() },
      '/public/v1/discovery/keys': { get: discoveryKeys },
      '/public/v1/discovery/webhooks/jwks': { get: webhookKeys },
    },
    components: {
      schemas: components.schemas(),
      responses: refusals(),
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
      },
    },
  };
}

/** The schemas that have a name of their own. */
class Components {
  readonly #schemas = new Map<string, Schema>();

  /** @returns a reference to the schema. */
  add(name: string, schema: Schema): Schema {
    const present = this.#schemas.get(name);
    if (present !== undefined && JSON.stringify(present) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are called ${name}`);
    }
    this.#schemas.set(name, schema);
    return reference(name);
  }

  /**
   * Takes a schema over; what it names by an `id` becomes a component.
   * @param io What a caller sends, or what an answer holds.
   */
  of(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const json = JSON.stringify(
      z.toJSONSchema(schema, {
        io,
        override: ({ jsonSchema }) => {
          tidy(jsonSchema, io);
        },
      }),
    );
    const {
      $schema,
      $defs = {},
      ...rest
    } = JSON.parse(json.replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema & {
      readonly $defs?: Properties;
    };
    for (const [name, definition] of Object.entries($defs)) {
      // What operations show of an activity is described here.
      if (name !== 'Activity') this.add(name, definition);
    }
    return rest;
  }

  schemas(): Properties {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Leaves out what a reader has no use for, and what would forbid a later version to show more. */
function tidy(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

/** What activities have of their own: the types that they are submitted under, what was asked and what came of it. */
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
  return describeOperation(operation, body, answer(about, object({ activity })));
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

const inOrder = resourceTexts.flatMap(({ operations }) => Object.keys(operations));

/** Where a reader looks for an operation; what nothing is said of comes first. */
const position = ({ path }: Operation): number => inOrder.indexOf(path);

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
  const resource = resourceTexts.find(({ operations }) => Object.hasOwn(operations, operation.path));
  return {
    operationId: operation.path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    summary: title(operation.path),
    ...(resource && { description: resource.operations[operation.path], tags: [resource.name] }),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: success,
      ...refusalsOf(operation.kind),
    },
  };
}

/** What answers a request of a kind where it is refused, by HTTP status. */
const refusalsOf = (kind: Operation['kind']): Json =>
  Object.fromEntries(
    statuses()
      .filter(([, names]) => names.some((name) => refusalTexts[name].of.includes(kind)))
      .map(([status]) => [status, { $ref: `#/components/responses/Refusal${String(status)}` }]),
  );

/** The HTTP statuses of errors, in order, each with the errors that have it. */
function statuses(): (readonly [number, readonly ErrorCodeName[]])[] {
  const names = Object.keys(errorCodes) as ErrorCodeName[];
  const met = names.filter((name) => refusalTexts[name].of.length > 0);
  return [...Map.groupBy(met, (name) => errorCodes[name].http as number)].sort(([a], [b]) => a - b);
}

function refusals(): Json {
  return Object.fromEntries(
    statuses().map(([status, names]) => [
      `Refusal${String(status)}`,
      answer(
        names.map((name) => refusalTexts[name].text).join(' '),
        object({
          code: { type: 'integer', enum: [...new Set(names.map((name) => errorCodes[name].grpc))] },
          message: text,
          details,
          turnkeyErrorCode: text,
        }),
      ),
    ]),
  );
}

function answer(description: string, schema: Schema): Json {
  return { description, content: { 'application/json': { schema } } };
}

/** An object that always has these fields. */
function object(properties: Properties, more: Schema = {}): Schema {
  return { type: 'object', properties, required: Object.keys(properties), ...more };
}

/** An object that may have these fields. */
function optionally(properties: Properties): Schema {
  return { type: 'object', properties };
}

interface ObjectSchema extends Schema {
  readonly properties: Properties;
  readonly required: readonly string[];
}

function objectOf({ path }: Operation, schema: Schema): ObjectSchema {
  if (schema['type'] !== 'object') throw new Error(`${path}: expected the schema of an object`);
  return { properties: {}, required: [], ...schema };
}

function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `create_wallet` as CreateWallet. */
const pascal = (name: string): string => name.split('_').map(capitalize).join('');

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
