/** Every query, asked as the specification writes one and as the vendor's SDKs do, of every generation: one answer for all. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { init, TurnkeyApi, TurnkeyClient } from '@turnkey/http';
import { Turnkey } from '@turnkey/sdk-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertAuthenticator } from '../../main/storage/tables/authenticators.ts';
import { insertOauthProvider } from '../../main/storage/tables/oauth-providers.ts';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { activityOf, newWallet, resultOf, send, startTestVault } from '../support/support.ts';
import type { ActivityBody, Answer, Json, TestClient, TestVault } from '../support/support.ts';
import { taken } from '../vendor/vendor-operations.ts';

// ---- What is asked about ------------------------------------------------------------------------------------------

let service: TestVault;
let root: TestClient;
let organizationId: string;
let recorder: Recorder;

/** The resources for the queries, by the names in requests. */
interface World {
  readonly userId: string;
  readonly apiKeyId: string;
  readonly authenticatorId: string;
  readonly privateKeyId: string;
  readonly walletId: string;
  readonly address: string;
  readonly policyId: string;
  readonly interfaceId: string;
  /** One that a policy allowed. */
  readonly allowedActivityId: string;
  readonly activityId: string;
}

let world: World;

beforeAll(async () => {
  service = await startTestVault();
  ({ root, organizationId } = service);
  recorder = await startRecorder(service.url);
  world = await populate();
});
afterAll(async () => {
  await recorder.close();
  await service[Symbol.asyncDispose]();
});

const subOrganization = {
  subOrganizationName: 'Sub',
  rootUsers: [
    {
      userName: 'Ann',
      userEmail: 'ann@sub.example',
      apiKeys: [],
      authenticators: [],
      oauthProviders: [],
    },
  ],
  rootQuorumThreshold: 1,
};

async function populate(): Promise<World> {
  const userId = service.rootUserId;
  await root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', subOrganization);
  await service.vault.units.write((tx) => {
    tx.run('UPDATE users SET email_verified_at = 1 WHERE email = ?', 'ann@sub.example');
  });
  const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      {
        privateKeyName: 'Key',
        curve: 'CURVE_SECP256K1',
        privateKeyTags: [],
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
      },
    ],
  });
  const privateKeyId = resultOf(made).privateKeys[0]?.privateKeyId ?? '';
  const { walletId, ethereum } = await newWallet(root);
  await newWallet(root, 'Another wallet');
  await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Users', userIds: [userId] });
  await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
    privateKeyTagName: 'Keys',
    privateKeyIds: [privateKeyId],
  });
  await root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
    name: 'FEATURE_NAME_EMAIL_AUTH',
  });
  await root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url: 'https://hook.invalid',
    name: 'Hook',
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES', isActive: false }],
  });
  const readable = await root.submit('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    smartContractInterface: '[{"type":"function","name":"deposit","inputs":[],"outputs":[]}]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'WETH',
  });
  const ann = await service.newUser('Ann');
  const { body } = await root.query('get_user', { userId });
  const [apiKey] = (body as { user: { readonly apiKeys: readonly { readonly apiKeyId: string }[] } }).user
    .apiKeys;
  const [authenticatorId, providerId, policyId] = [
    crypto.randomUUID(),
    crypto.randomUUID(),
    crypto.randomUUID(),
  ];
  const dated = { organizationId, createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_000 };
  await service.vault.units.write((tx) => {
    insertAuthenticator(tx, {
      ...dated,
      id: authenticatorId,
      userId,
      name: 'Passkey',
      credentialId: 'Y3JlZGVudGlhbA',
      publicKey: 'cHVibGljIGtleQ',
      attestationType: 'none',
      aaguid: 'AAAAAAAAAAAAAAAAAAAAAA',
      model: '',
      transports: '["AUTHENTICATOR_TRANSPORT_USB"]',
      signCount: 0,
      lastAssertion: null,
    });
    insertOauthProvider(tx, {
      ...dated,
      id: providerId,
      userId,
      name: 'Issuer',
      issuer: 'https://issuer.example',
      audience: 'keyhearth',
      subject: 'ann',
    });
    insertPolicy(tx, {
      ...dated,
      id: policyId,
      name: 'Policy',
      effect: 'EFFECT_ALLOW',
      condition: 'true',
      consensus: '',
      time: null,
      notes: '',
    });
  });
  const tag = { userTagName: 'By a policy', userIds: [] };
  const allowed = activityOf(await ann.client.submit('create_user_tag', 'CREATE_USER_TAG', tag));
  return {
    userId,
    allowedActivityId: allowed.id,
    apiKeyId: apiKey?.apiKeyId ?? '',
    authenticatorId,
    privateKeyId,
    walletId,
    address: ethereum,
    policyId,
    interfaceId: resultOf(readable).smartContractInterfaceId,
    activityId: activityOf(made).id,
  };
}

// ---- The queries --------------------------------------------------------------------------------------------------

interface QueryCase {
  readonly operation: string;
  /** The method of the SDKs' clients. */
  readonly method: keyof TurnkeyClient & keyof typeof TurnkeyApi;
  /** The names of what it answers. */
  readonly resource: readonly string[];
  /** The part of the answer that depends on the time of the query. */
  readonly momentary?: string;
  readonly parameters?: (world: World) => Json;
}

const path = "m/44'/60'/0'/0/0";

/** Every query, also with what is optional. */
const queries: readonly QueryCase[] = [
  {
    operation: 'whoami',
    method: 'getWhoami',
    resource: ['organizationId', 'organizationName', 'userId', 'username'],
  },
  { operation: 'get_organization', method: 'getOrganization', resource: ['organizationData'] },
  { operation: 'get_organization_configs', method: 'getOrganizationConfigs', resource: ['configs'] },
  { operation: 'list_suborgs', method: 'getSubOrgIds', resource: ['organizationIds'] },
  {
    operation: 'list_suborgs',
    method: 'getSubOrgIds',
    resource: ['organizationIds'],
    parameters: () => ({
      filterType: 'NAME',
      filterValue: subOrganization.subOrganizationName,
      paginationOptions: { limit: '1' },
    }),
  },
  { operation: 'list_verified_suborgs', method: 'getVerifiedSubOrgIds', resource: ['organizationIds'] },
  {
    operation: 'list_verified_suborgs',
    method: 'getVerifiedSubOrgIds',
    resource: ['organizationIds'],
    parameters: () => ({ filterType: 'EMAIL', filterValue: 'ann@sub.example' }),
  },
  { operation: 'list_users', method: 'getUsers', resource: ['users'] },
  {
    operation: 'get_user',
    method: 'getUser',
    resource: ['user'],
    parameters: ({ userId }) => ({ userId }),
  },
  {
    operation: 'get_api_key',
    method: 'getApiKey',
    resource: ['apiKey'],
    parameters: ({ apiKeyId }) => ({ apiKeyId }),
  },
  { operation: 'get_api_keys', method: 'getApiKeys', resource: ['apiKeys'] },
  {
    operation: 'get_api_keys',
    method: 'getApiKeys',
    resource: ['apiKeys'],
    parameters: ({ userId }) => ({ userId }),
  },
  {
    operation: 'get_authenticator',
    method: 'getAuthenticator',
    resource: ['authenticator'],
    parameters: ({ authenticatorId }) => ({ authenticatorId }),
  },
  {
    operation: 'get_authenticators',
    method: 'getAuthenticators',
    resource: ['authenticators'],
    parameters: ({ userId }) => ({ userId }),
  },
  { operation: 'get_oauth_providers', method: 'getOauthProviders', resource: ['oauthProviders'] },
  {
    operation: 'get_oauth_providers',
    method: 'getOauthProviders',
    resource: ['oauthProviders'],
    parameters: ({ userId }) => ({ userId }),
  },
  { operation: 'list_private_keys', method: 'getPrivateKeys', resource: ['privateKeys'] },
  {
    operation: 'get_private_key',
    method: 'getPrivateKey',
    resource: ['privateKey'],
    parameters: ({ privateKeyId }) => ({ privateKeyId }),
  },
  { operation: 'list_wallets', method: 'getWallets', resource: ['wallets'] },
  {
    operation: 'get_wallet',
    method: 'getWallet',
    resource: ['wallet'],
    parameters: ({ walletId }) => ({ walletId }),
  },
  { operation: 'list_wallet_accounts', method: 'getWalletAccounts', resource: ['accounts'] },
  {
    operation: 'list_wallet_accounts',
    method: 'getWalletAccounts',
    resource: ['accounts'],
    parameters: ({ walletId }) => ({
      walletId,
      includeWalletDetails: true,
      paginationOptions: { limit: '1' },
    }),
  },
  {
    operation: 'get_wallet_account',
    method: 'getWalletAccount',
    resource: ['account'],
    parameters: ({ walletId, address }) => ({ walletId, address }),
  },
  {
    operation: 'get_wallet_account',
    method: 'getWalletAccount',
    resource: ['account'],
    parameters: ({ walletId }) => ({ walletId, path }),
  },
  { operation: 'list_user_tags', method: 'listUserTags', resource: ['userTags'] },
  { operation: 'list_private_key_tags', method: 'listPrivateKeyTags', resource: ['privateKeyTags'] },
  { operation: 'list_webhook_endpoints', method: 'listWebhookEndpoints', resource: ['webhookEndpoints'] },
  {
    operation: 'get_smart_contract_interface',
    method: 'getSmartContractInterface',
    resource: ['smartContractInterface'],
    parameters: ({ interfaceId }) => ({ smartContractInterfaceId: interfaceId }),
  },
  {
    operation: 'list_smart_contract_interfaces',
    method: 'getSmartContractInterfaces',
    resource: ['smartContractInterfaces'],
  },
  { operation: 'list_policies', method: 'getPolicies', resource: ['policies'] },
  {
    operation: 'get_policy',
    method: 'getPolicy',
    resource: ['policy'],
    parameters: ({ policyId }) => ({ policyId }),
  },
  {
    operation: 'get_active_policies',
    method: 'getActivePolicies',
    resource: ['statuses', 'evaluatedAtMs'],
    momentary: 'evaluatedAtMs',
  },
  {
    operation: 'get_policy_evaluations',
    method: 'getPolicyEvaluations',
    resource: ['policyEvaluations'],
    parameters: ({ allowedActivityId }) => ({ activityId: allowedActivityId }),
  },
  { operation: 'list_activities', method: 'getActivities', resource: ['activities'] },
  {
    operation: 'list_activities',
    method: 'getActivities',
    resource: ['activities'],
    parameters: ({ activityId }) => ({
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
      filterByType: ['ACTIVITY_TYPE_CREATE_WALLET', 'ACTIVITY_TYPE_CREATE_USER_TAG'],
      paginationOptions: { limit: '2', before: activityId },
    }),
  },
  {
    operation: 'get_activity',
    method: 'getActivity',
    resource: ['activity'],
    parameters: ({ activityId }) => ({ activityId }),
  },
];

/** Nothing to ask about, where only the names count. */
const nothing: World = {
  userId: '',
  apiKeyId: '',
  authenticatorId: '',
  privateKeyId: '',
  walletId: '',
  address: '',
  policyId: '',
  interfaceId: '',
  allowedActivityId: '',
  activityId: '',
};

const named = queries.map((query) => ({
  ...query,
  name: `${query.operation}(${Object.keys(query.parameters?.(nothing) ?? {}).join(', ')})`,
}));

const raw = ({ operation, parameters }: QueryCase, more: Json = {}): Promise<Answer> =>
  root.query(operation, { ...parameters?.(world), ...more });

/** The resource in an answer, without the answer's own envelope. */
function resourceOf({ resource }: QueryCase, body: Json | undefined): Json {
  return Object.fromEntries(resource.map((name) => [name, body?.[name]]));
}

/** The same, without what is another in the next answer. */
function lastingOf(query: QueryCase, body: Json | undefined): Json {
  const { momentary } = query;
  return Object.fromEntries(Object.entries(resourceOf(query, body)).filter(([name]) => name !== momentary));
}

test('each query is asked, but for those that the SDKs do not know', () => {
  const served = [...taken.values()].filter(({ kind }) => kind === 'query').map((query) => query.path);
  const asked = new Set(queries.map(({ operation }) => operation));
  // The tests of secrets and of session profiles ask these by the SDK.
  const elsewhere = ['list_secrets', 'get_session_profile', 'get_session_profiles'];
  const here = served.filter((path) => asked.has(path) || !elsewhere.includes(path));
  expect([...asked].sort()).toEqual(here.sort());
});

describe('the flat body of the specification is answered', () => {
  test.each(named)('$name', async (query) => {
    const { status, headers, body, text } = await raw(query);
    expect(status, text).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    const bare = resourceOf(query, body);
    for (const shown of Object.values(bare)) expect(Object.keys(shown as object)).not.toEqual([]);
    if (query.operation === 'get_activity') {
      expect(body).toEqual(bare);
      expect((bare['activity'] as ActivityBody).id).toBe(world.activityId);
      return;
    }
    // The resource for the SDKs, and beside it the specification's envelope with the same in it.
    expect(body).toEqual({
      ...bare,
      activity: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        organizationId,
        status: 'ACTIVITY_STATUS_COMPLETED',
        type: 'ACTIVITY_TYPE_UNKNOWN_V1',
        timestampMs: expect.stringMatching(/^[0-9]{13}$/) as string,
        result: bare,
      },
    });
  });
});

// ---- The SDKs -----------------------------------------------------------------------------------------------------

interface Recorded {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

/** Stands between a client and the vault, and keeps what passes. */
interface Recorder {
  readonly url: string;
  /** @returns what came since it was asked last. */
  take(): Recorded[];
  close(): Promise<void>;
}

async function startRecorder(target: string): Promise<Recorder> {
  const recorded: Recorded[] = [];
  async function pass(incoming: IncomingMessage): Promise<IncomingMessage> {
    const bytes = await buffer(incoming);
    const { method, url: at = '', headers } = incoming;
    recorded.push({ path: at, headers, body: JSON.parse(bytes.toString('utf8')) as Json });
    const outgoing = httpRequest(new URL(at, target), {
      method: method ?? '',
      headers: { ...headers, host: new URL(target).host, connection: 'close' },
    });
    outgoing.end(bytes);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  }
  const server = createServer((incoming, response) => {
    pass(incoming).then(
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
      () => {
        response.destroy();
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    take: () => recorded.splice(0),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type Method = (input: Json) => Promise<Json>;

interface Sdk {
  readonly name: string;
  readonly version: RegExp | undefined;
  /** Its method, and how it takes a query's parameters; undefined where it has none of this name. */
  readonly ask: (query: QueryCase) => Promise<Json> | undefined;
}

const credentials = (): { apiPublicKey: string; apiPrivateKey: string } => ({
  apiPublicKey: service.key.publicKey,
  apiPrivateKey: service.key.privateKey,
});

/* oxlint-disable typescript/no-deprecated -- programs that were written for the older fetchers still run */
const sdks: readonly Sdk[] = [
  {
    name: '@turnkey/http',
    version: /^@turnkey\/http@[0-9.]+$/,
    ask: ({ method, parameters }) => {
      const client = new TurnkeyClient({ baseUrl: recorder.url }, new ApiKeyStamper(credentials()));
      return (client[method] as Method)({ organizationId, ...parameters?.(world) });
    },
  },
  {
    name: '@turnkey/http, the older fetchers',
    version: undefined,
    ask: ({ method, parameters }) => {
      init({ ...credentials(), baseUrl: recorder.url });
      return (TurnkeyApi[method] as Method)({ body: { organizationId, ...parameters?.(world) } });
    },
  },
  {
    name: '@turnkey/sdk-server',
    version: /^@turnkey\/sdk-server@[0-9.]+$/,
    ask: ({ method, parameters }) => {
      const api = new Turnkey({
        apiBaseUrl: recorder.url,
        ...credentials(),
        defaultOrganizationId: organizationId,
      }).apiClient();
      // It has no method for these.
      if (!(method in api)) return undefined;
      return (api as unknown as Record<string, Method>)[method]?.({
        ...parameters?.(world),
        unset: undefined,
      });
    },
  },
];
/* oxlint-enable typescript/no-deprecated */

describe.each(sdks)('$name is answered as the flat body is', ({ version, ask }) => {
  beforeEach(() => {
    recorder.take();
  });

  test.each(named)('$name', async (query) => {
    const asked = ask(query);
    if (asked === undefined) {
      expect(['get_active_policies', 'get_organization']).toContain(query.operation);
      return;
    }
    const answer = await asked;
    const flat = await raw(query);
    expect(lastingOf(query, answer)).toEqual(lastingOf(query, flat.body));

    // It sends the specification's flat body, and nothing else.
    const [sent, ...more] = recorder.take();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({
      path: `/public/v1/query/${query.operation}`,
      headers: { 'content-type': 'application/json' },
      body: { organizationId, ...query.parameters?.(world) },
    });
    expect(Object.keys(sent?.body ?? {}).sort()).toEqual(
      ['organizationId', ...Object.keys(query.parameters?.(world) ?? {})].sort(),
    );
    if (version) expect(sent?.headers['x-client-version']).toMatch(version);
  });
});

test('another client can later post a query that @turnkey/sdk-server stamped', async () => {
  const api = new Turnkey({
    apiBaseUrl: service.url,
    ...credentials(),
    defaultOrganizationId: organizationId,
  }).apiClient();
  const signed = await api.stampGetWallets({});
  const answer = await send(service.url, {
    path: new URL(signed?.url ?? '').pathname,
    headers: { [signed?.stamp.stampHeaderName ?? '']: signed?.stamp.stampHeaderValue },
    body: signed?.body ?? '',
  });
  expect(answer.body?.['wallets']).toEqual((await root.query('list_wallets')).body?.['wallets']);
});

// ---- What else is sent --------------------------------------------------------------------------------------------

describe('what a query does not know is passed over', () => {
  test.each(named)('$name', async (query) => {
    const flat = lastingOf(query, (await raw(query)).body);
    const strangers: readonly Json[] = [
      { more: 1, nested: { deeper: [{}] }, generateAppProofs: true },
      // An activity's envelope around a query.
      { type: 'ACTIVITY_TYPE_UNKNOWN_V1', timestampMs: String(Date.now()) },
      { type: 7, timestampMs: null, parameters: [] },
      { parameters: { ...query.parameters?.(world), userId: 'nobody', walletId: 7, limit: {} } },
    ];
    for (const more of strangers) {
      const answer = await raw(query, more);
      expect(answer.status, answer.text).toBe(200);
      expect(lastingOf(query, answer.body)).toEqual(flat);
    }
  });

  // No SDK wraps a query as an activity is wrapped: inside the wrapper a parameter is not there.
  test.each(named.filter(({ parameters }) => parameters))('$name, inside a wrapper', async (query) => {
    const inner = query.parameters?.(world) ?? {};
    const wrapped = await root.query(query.operation, { parameters: inner });
    const empty = await root.query(query.operation);
    expect(wrapped.status).toBe(empty.status);
    expect(wrapped.body?.['message']).toBe(empty.body?.['message']);
    if (empty.status !== 200) {
      const first = Object.keys(inner)[0] ?? '';
      expect(empty.body?.['message']).toMatch(new RegExp(`^missing field ${first}: expected `));
    }
  });
});

describe('what a client writes where it means nothing is nothing', () => {
  /** The optional parameters of each query that has any. */
  const optional: Readonly<Record<string, readonly string[]>> = {
    get_api_keys: ['userId'],
    get_oauth_providers: ['userId'],
    list_wallet_accounts: ['walletId', 'includeWalletDetails', 'paginationOptions'],
    get_wallet_account: ['address', 'path'],
    list_activities: ['filterByStatus', 'filterByType', 'paginationOptions', 'inParts'],
  };

  // turnkey_client, of Rust, writes null for whatever is not set.
  test.each(named.filter(({ operation }) => operation in optional))('null: $name', async (query) => {
    const given = query.parameters?.(world) ?? {};
    const nulls = optional[query.operation]?.filter((field) => !(field in given)) ?? [];
    const answer = await raw(query, Object.fromEntries(nulls.map((field) => [field, null])));
    expect(answer.status, answer.text).toBe(200);
    expect(lastingOf(query, answer.body)).toEqual(lastingOf(query, (await raw(query)).body));
  });

  // The same client writes every field of pagination, and lists that are empty.
  test.each([
    ['list_wallet_accounts', { paginationOptions: { limit: '', before: '', after: '' } }],
    ['list_wallet_accounts', { paginationOptions: { limit: null, before: null, after: null } }],
    ['list_activities', { paginationOptions: { limit: '', before: '', after: '' } }],
    ['list_activities', { filterByStatus: [], filterByType: [], paginationOptions: null }],
    ['list_activities', { filterByStatus: null, filterByType: null, paginationOptions: {} }],
  ])('%s %j', async (operation, more) => {
    const answer = await root.query(operation, more);
    expect(answer.status, answer.text).toBe(200);
    const { activity: _own, ...resource } = answer.body ?? {};
    const { activity: _other, ...plain } = (await root.query(operation)).body ?? {};
    expect(resource).toEqual(plain);
  });

  test('and the fields of pagination that are given count', async () => {
    const { body } = await root.query('list_activities', {
      paginationOptions: { limit: '2', before: '', after: world.activityId },
    });
    const all = (await root.query('list_activities', { paginationOptions: { limit: '100' } })).body?.[
      'activities'
    ] as readonly ActivityBody[];
    const from = all.findIndex(({ id }) => id === world.activityId) + 1;
    expect(body?.['activities']).toEqual(all.slice(from, from + 2));
  });

  test('but not where something is required', async () => {
    const answer = await root.query('get_user', { userId: null });
    expect(answer.status).toBe(400);
    expect(answer.body?.['message']).toBe('invalid userId: expected a string, got null');
  });

  test('in an activity either, whose intent does not show it', async () => {
    const user = { userName: 'Bob', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
    const answer = await root.submit('create_users', 'CREATE_USERS_V4', {
      users: [
        // A slice that was never made is null in Go.
        { ...user, userEmail: null, userPhoneNumber: null, apiKeys: null, userTags: null },
      ],
    });
    expect(activityOf(answer).intent['createUsersIntentV4']).toEqual({ users: [user] });
  });
});
