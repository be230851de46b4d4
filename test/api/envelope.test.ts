/**
 * Answers of every operation: the real API's envelope with the specification's inside it, failures that are
 * kept, refusals that leave nothing, and errors that name the field, the value and what is allowed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { operations } from '../../main/operations/index.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  solanaAccount,
  startTestVault,
} from '../support/support.ts';
import type { ActivityBody, Answer, Json, TestClient, TestVault } from '../support/support.ts';

const uuid = (version: number): RegExp =>
  new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${String(version)}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`);

const time = { seconds: expect.stringMatching(/^[0-9]{10}$/) as string, nanos: '0' };

const digest = 'ab'.repeat(32);

let service: TestVault;
let root: TestClient;
let wallet: Awaited<ReturnType<typeof newWallet>>;
let privateKeyId: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  wallet = await newWallet(root, 'Shared wallet');
  const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [privateKey('Shared key')],
  });
  privateKeyId = resultOf(made).privateKeys[0]?.privateKeyId ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const privateKey = (privateKeyName: string, more: Json = {}): Json => ({
  privateKeyName,
  curve: 'CURVE_SECP256K1',
  privateKeyTags: [],
  addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COMPRESSED'],
  ...more,
});

const apiKey = (more: Json = {}): Json => ({
  apiKeyName: 'Key',
  publicKey: newTestKey().publicKey,
  curveType: 'API_KEY_CURVE_P256',
  ...more,
});

const user = (userName: string, more: Json = {}): Json => ({
  userName,
  apiKeys: [],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...more,
});

const signing = (more: Json = {}): Json => ({
  signWith: wallet.ethereum,
  payload: digest,
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_NO_OP',
  ...more,
});

const without = (name: string, { [name]: _left, ...rest }: Json): Json => rest;

const countRows = (): number => {
  const chain = service.vault.units.read(checkActivityChain);
  if (!chain.ok) throw new Error(chain.problem);
  return chain.rows;
};

interface SubmitCase {
  readonly path: string;
  /** Without the prefix. */
  readonly type: string;
  readonly parameters: () => Json;
  readonly intent: string;
  /** The specification's own intent, where its name or shape differs from the real API's. */
  readonly specified?: { readonly intent: string; readonly of: (parameters: Json) => Json };
  readonly result: string;
  readonly resultShape: Json;
}

const text = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

const oneUser = { userIds: [text(uuid(4))] };
const madeKeys = {
  privateKeys: [
    {
      privateKeyId: text(uuid(5)),
      addresses: [
        { format: 'ADDRESS_FORMAT_ETHEREUM', address: text(/^0x[0-9a-fA-F]{40}$/) },
        { format: 'ADDRESS_FORMAT_COMPRESSED', address: text(/^0[23][0-9a-f]{64}$/) },
      ],
    },
  ],
};
const signature = { r: text(/^[0-9a-f]{64}$/), s: text(/^[0-9a-f]{64}$/), v: text(/^0[01]$/) };

const specifiedUsers = {
  intent: 'createUsersIntent',
  of: ({ users }: Json) => ({
    users: (users as Json[]).map(({ userName, userEmail, apiKeys, authenticators, userTags }) => ({
      userName,
      ...(userEmail === undefined ? {} : { userEmail }),
      accessType: 'ACCESS_TYPE_API',
      apiKeys: (apiKeys as Json[]).map((key) => without('curveType', key)),
      authenticators,
      userTags,
    })),
  }),
};

/** Every accepted type of every activity, with what it answers. */
const submits: readonly SubmitCase[] = [
  {
    path: 'create_users',
    type: 'CREATE_USERS_V4',
    parameters: () => ({
      users: [
        user('Ann', {
          userEmail: 'ann@example.com',
          userPhoneNumber: '+15551234567',
          apiKeys: [apiKey({ expirationSeconds: '3600' })],
        }),
      ],
    }),
    intent: 'createUsersIntentV4',
    specified: specifiedUsers,
    result: 'createUsersResult',
    resultShape: oneUser,
  },
  {
    path: 'create_users',
    type: 'CREATE_USERS_V3',
    parameters: () => ({ users: [user('Ben', { apiKeys: [apiKey()] })] }),
    intent: 'createUsersIntentV3',
    specified: specifiedUsers,
    result: 'createUsersResult',
    resultShape: oneUser,
  },
  {
    path: 'create_users',
    type: 'CREATE_USERS_V2',
    parameters: () => ({
      users: [
        without(
          'oauthProviders',
          user('Cid', { userEmail: 'cid@example.com', apiKeys: [without('curveType', apiKey())] }),
        ),
      ],
    }),
    intent: 'createUsersIntentV2',
    specified: specifiedUsers,
    result: 'createUsersResult',
    resultShape: oneUser,
  },
  {
    path: 'create_users',
    type: 'CREATE_USERS',
    parameters: () => ({
      users: [
        {
          ...without('oauthProviders', user('Dan', { apiKeys: [without('curveType', apiKey())] })),
          accessType: 'ACCESS_TYPE_API',
        },
      ],
    }),
    intent: 'createUsersIntent',
    result: 'createUsersResult',
    resultShape: oneUser,
  },
  {
    path: 'create_api_keys',
    type: 'CREATE_API_KEYS_V2',
    parameters: () => ({ apiKeys: [apiKey(), apiKey({ apiKeyName: 'Second' })], userId: service.rootUserId }),
    intent: 'createApiKeysIntentV2',
    result: 'createApiKeysResult',
    resultShape: { apiKeyIds: [text(uuid(4)), text(uuid(4))] },
  },
  {
    path: 'create_api_keys',
    type: 'CREATE_API_KEYS',
    parameters: () => ({ apiKeys: [without('curveType', apiKey())], userId: service.rootUserId }),
    intent: 'createApiKeysIntent',
    result: 'createApiKeysResult',
    resultShape: { apiKeyIds: [text(uuid(4))] },
  },
  {
    path: 'create_private_keys',
    type: 'CREATE_PRIVATE_KEYS_V2',
    parameters: () => ({ privateKeys: [privateKey('New')] }),
    intent: 'createPrivateKeysIntentV2',
    result: 'createPrivateKeysResultV2',
    resultShape: madeKeys,
  },
  {
    path: 'create_private_keys',
    type: 'CREATE_PRIVATE_KEYS',
    parameters: () => ({ privateKeys: [privateKey('Old')] }),
    intent: 'createPrivateKeysIntent',
    result: 'createPrivateKeysResult',
    resultShape: { privateKeyIds: [text(uuid(5))], ...madeKeys },
  },
  {
    path: 'create_wallet',
    type: 'CREATE_WALLET',
    parameters: () => ({
      walletName: 'New wallet',
      accounts: [{ ...ethereumAccount, name: 'First' }, solanaAccount],
      mnemonicLength: 24,
    }),
    intent: 'createWalletIntent',
    result: 'createWalletResult',
    resultShape: {
      walletId: text(uuid(5)),
      addresses: [text(/^0x[0-9a-fA-F]{40}$/), text(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)],
    },
  },
  {
    path: 'create_wallet_accounts',
    type: 'CREATE_WALLET_ACCOUNTS',
    parameters: () => ({
      walletId: wallet.walletId,
      accounts: [{ ...ethereumAccount, path: "m/44'/60'/0'/0/1" }],
    }),
    intent: 'createWalletAccountsIntent',
    result: 'createWalletAccountsResult',
    resultShape: { addresses: [text(/^0x[0-9a-fA-F]{40}$/)] },
  },
  {
    path: 'sign_raw_payload',
    type: 'SIGN_RAW_PAYLOAD_V2',
    parameters: () => signing(),
    intent: 'signRawPayloadIntentV2',
    specified: {
      intent: 'signRawPayloadIntent',
      of: ({ signWith, ...rest }) => ({ privateKeyId: signWith, ...rest }),
    },
    result: 'signRawPayloadResult',
    resultShape: signature,
  },
  {
    path: 'sign_raw_payload',
    type: 'SIGN_RAW_PAYLOAD',
    parameters: () => without('signWith', signing({ privateKeyId })),
    intent: 'signRawPayloadIntent',
    result: 'signRawPayloadResult',
    resultShape: signature,
  },
];

describe('the answer of an activity', () => {
  test('is pinned down for every version that these activities accept', () => {
    for (const { path } of submits) {
      const operation = operations.byPath.get(`submit/${path}`);
      const accepted = operation?.kind === 'activity' ? operation.versions.map(({ type }) => type) : [];
      const pinned = submits
        .filter((entry) => entry.path === path)
        .map(({ type }) => `ACTIVITY_TYPE_${type}`);
      expect(pinned.sort(), path).toEqual(accepted.sort());
    }
  });

  test.each(submits)('$type', async ({ path, type, parameters, intent, specified, result, resultShape }) => {
    const sent = parameters();
    const body = root.submitBody(type, sent);
    const before = Math.floor(Date.now() / 1000);
    const answer = await root.post(`submit/${path}`, body);
    const activity = activityOf(answer);
    const after = Math.floor(Date.now() / 1000);

    expect(Object.keys(answer.body ?? {})).toEqual(['activity']);
    expect(Object.keys(activity)).toEqual([
      ...[
        'id',
        'organizationId',
        'status',
        'type',
        'timestampMs',
        'intent',
        'result',
        'votes',
        'fingerprint',
      ],
      ...['canApprove', 'canReject', 'createdAt', 'updatedAt', 'failure'],
    ]);
    expect(activity).toMatchObject({
      id: text(uuid(7)),
      organizationId: service.organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      type: `ACTIVITY_TYPE_${type}`,
      timestampMs: (JSON.parse(body) as Json)['timestampMs'],
      fingerprint: text(/^sha256:[0-9a-f]{64}$/),
      canApprove: false,
      canReject: true,
      createdAt: time,
      updatedAt: time,
      failure: null,
    });
    const { seconds } = activity['createdAt'] as typeof time;
    expect(Number(seconds)).toBeGreaterThanOrEqual(before);
    expect(Number(seconds)).toBeLessThanOrEqual(after);
    expect(activity['updatedAt']).toEqual(activity['createdAt']);
    // A version 7 id begins with the time in milliseconds.
    const made = Number.parseInt(activity.id.replace('-', '').slice(0, 12), 16);
    expect(Math.floor(made / 1000)).toBe(Number(seconds));

    expect(Object.keys(activity.intent)).toEqual([intent, ...(specified ? [specified.intent] : [])]);
    expect(activity.intent[intent]).toEqual(sent);
    const specifiedIntent = specified
      ? { [specified.intent]: specified.of(sent) }
      : { [intent]: activity.intent[intent] };
    if (specified) expect(activity.intent).toEqual({ [intent]: sent, ...specifiedIntent });

    expect(Object.keys(activity.result)).toEqual([result, 'activity']);
    expect(activity.result[result]).toEqual(resultShape);
    expect(activity.result['activity']).toEqual({
      type: `ACTIVITY_TYPE_${type}`,
      intent: specifiedIntent,
      result: { [result]: activity.result[result] },
    });
    expect(Object.keys(activity.result['activity'] ?? {})).toEqual(['type', 'intent', 'result']);

    expect(activity.votes).toEqual([
      {
        id: text(uuid(4)),
        userId: service.rootUserId,
        user: expect.objectContaining({ userId: service.rootUserId, userName: 'Root' }) as unknown,
        activityId: activity.id,
        selection: 'VOTE_SELECTION_APPROVED',
        message: body,
        publicKey: service.key.publicKey,
        signature: text(/^30[0-9a-f]{130,142}$/),
        scheme: 'SIGNATURE_SCHEME_TK_API_P256',
        createdAt: activity['createdAt'],
      },
    ]);

    const again = await root.query('get_activity', { activityId: activity.id });
    expect(again.body?.['activity']).toEqual(activity);
  });

  test('passes over what it does not know, and does not repeat it', async () => {
    const sent = { walletName: 'Extras', accounts: [], theme: 'dark' };
    const answer = await root.submit('create_wallet', 'CREATE_WALLET', sent, {
      generateAppProofs: true,
      more: 1,
    });
    expect(activityOf(answer).intent).toEqual({ createWalletIntent: { walletName: 'Extras', accounts: [] } });
    expect(activityOf(answer)).not.toHaveProperty('appProofs');
  });

  test('leaves out contact fields that come empty', async () => {
    const sent = { users: [user('Empty', { userEmail: '', userPhoneNumber: '' })] };
    const answer = await root.submit('create_users', 'CREATE_USERS_V3', sent);
    expect(activityOf(answer).intent['createUsersIntentV3']).toEqual({ users: [user('Empty')] });
    const { body } = await root.query('get_user', { userId: resultOf(answer).userIds[0] });
    expect(Object.keys(body?.['user'] as Json)).not.toContain('userEmail');
  });

  test('says what access a specified user has', async () => {
    const sent = { users: [user('With key', { apiKeys: [apiKey()] }), user('Without')] };
    const answer = await root.submit('create_users', 'CREATE_USERS_V3', sent);
    const { users } = activityOf(answer).intent['createUsersIntent'] as { users: Json[] };
    expect(users.map(({ accessType }) => accessType)).toEqual(['ACCESS_TYPE_API', 'ACCESS_TYPE_API']);
  });
});

describe('a vote', () => {
  test('keeps its voter as they were when they voted', async () => {
    const first = activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing()));
    const keysThen = first.votes[0]?.user['apiKeys'] as Json[];
    const added = apiKey({ apiKeyName: 'Added later' });
    await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
      apiKeys: [added],
      userId: service.rootUserId,
    });
    const second = activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing()));
    const again = activityOf(await root.query('get_activity', { activityId: first.id }));
    expect(again.votes).toEqual(first.votes);
    expect(second.votes[0]?.user['apiKeys']).toEqual([
      ...keysThen,
      expect.objectContaining({ apiKeyName: 'Added later' }),
    ]);
  });

  test('shows its voter as get_user does', async () => {
    const activity = activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing()));
    const { body } = await root.query('get_user', { userId: service.rootUserId });
    expect(activity.votes[0]?.user).toEqual(body?.['user']);
  });
});

interface QueryCase {
  readonly operation: string;
  readonly parameters?: () => Json;
  readonly resource: readonly string[];
  readonly shape: Json;
}

const walletShape = {
  walletId: text(uuid(5)),
  walletName: 'Shared wallet',
  createdAt: time,
  updatedAt: time,
  exported: false,
  imported: false,
};
const privateKeyShape = {
  privateKeyId: text(uuid(5)),
  publicKey: text(/^0[23][0-9a-f]{64}$/),
  privateKeyName: 'Shared key',
  curve: 'CURVE_SECP256K1',
  addresses: madeKeys.privateKeys[0]?.addresses,
  privateKeyTags: [],
  createdAt: time,
  updatedAt: time,
  exported: false,
  imported: false,
};
const userShape = {
  userId: text(uuid(4)),
  userName: 'Root',
  authenticators: [],
  apiKeys: expect.arrayContaining([
    {
      credential: { publicKey: text(/^0[23][0-9a-f]{64}$/), type: 'CREDENTIAL_TYPE_API_KEY_P256' },
      apiKeyId: text(uuid(4)),
      apiKeyName: 'root',
      createdAt: time,
      updatedAt: time,
    },
  ]) as unknown,
  userTags: [],
  oauthProviders: [],
  mfaPolicies: [],
  createdAt: time,
  updatedAt: time,
};
const listOf = (first: Json): unknown => expect.arrayContaining([first]) as unknown;

const queries: readonly QueryCase[] = [
  {
    operation: 'whoami',
    resource: ['organizationId', 'organizationName', 'userId', 'username'],
    shape: {
      organizationId: text(uuid(4)),
      organizationName: 'Tests',
      userId: text(uuid(4)),
      username: 'Root',
    },
  },
  {
    operation: 'get_organization',
    resource: ['organizationData'],
    shape: {
      organizationData: {
        organizationId: text(uuid(4)),
        name: 'Tests',
        users: listOf(userShape),
        policies: [],
        privateKeys: listOf(privateKeyShape),
        invitations: [],
        tags: [],
        rootQuorum: { threshold: 1, userIds: [text(uuid(4))] },
        features: [],
        wallets: listOf(walletShape),
        smartContractInterfaceReferences: [],
      },
    },
  },
  { operation: 'list_users', resource: ['users'], shape: { users: listOf(userShape) } },
  {
    operation: 'get_user',
    parameters: () => ({ userId: service.rootUserId }),
    resource: ['user'],
    shape: { user: userShape },
  },
  {
    operation: 'list_private_keys',
    resource: ['privateKeys'],
    shape: { privateKeys: listOf(privateKeyShape) },
  },
  {
    operation: 'get_private_key',
    parameters: () => ({ privateKeyId }),
    resource: ['privateKey'],
    shape: { privateKey: privateKeyShape },
  },
  { operation: 'list_wallets', resource: ['wallets'], shape: { wallets: listOf(walletShape) } },
  {
    operation: 'get_wallet',
    parameters: () => ({ walletId: wallet.walletId }),
    resource: ['wallet'],
    shape: { wallet: walletShape },
  },
  {
    operation: 'list_wallet_accounts',
    parameters: () => ({ walletId: wallet.walletId }),
    resource: ['accounts'],
    shape: {
      accounts: listOf({
        walletAccountId: text(uuid(4)),
        organizationId: text(uuid(4)),
        walletId: text(uuid(5)),
        ...ethereumAccount,
        address: text(/^0x[0-9a-fA-F]{40}$/),
        createdAt: time,
        updatedAt: time,
        publicKey: text(/^0[23][0-9a-f]{64}$/),
      }),
    },
  },
  {
    operation: 'list_activities',
    resource: ['activities'],
    shape: { activities: listOf({ ...activityShape(), status: 'ACTIVITY_STATUS_COMPLETED' }) },
  },
];

function activityShape(): Json {
  return expect.objectContaining({ id: text(uuid(7)), failure: null }) as Json;
}

describe('the answer of a query', () => {
  test.each(queries)('$operation', async ({ operation, parameters, resource, shape }) => {
    const rows = countRows();
    const answer = await root.query(operation, parameters?.() ?? {});
    expect(answer.status, answer.text).toBe(200);
    const { activity, ...bare } = answer.body as Json & { activity: ActivityBody };
    expect(Object.keys(bare)).toEqual(resource);
    if (operation !== 'list_activities') expect(bare).toEqual(shape);
    expect(Object.keys(activity)).toEqual([
      'id',
      'organizationId',
      'status',
      'type',
      'timestampMs',
      'result',
    ]);
    expect(activity).toEqual({
      id: text(uuid(7)),
      organizationId: service.organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      type: 'ACTIVITY_TYPE_UNKNOWN_V1',
      timestampMs: text(/^[0-9]{13}$/),
      result: bare,
    });
    expect(countRows()).toBe(rows);
  });

  test('get_activity: the activity that is asked for is the one that is there', async () => {
    const made = activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing()));
    const answer = await root.query('get_activity', { activityId: made.id });
    expect(answer.body).toEqual({ activity: made });
  });

  test('ids are found in either case', async () => {
    const named = { organizationId: root.organizationId.toUpperCase() };
    const answer = await root.query('get_wallet', { ...named, walletId: wallet.walletId.toUpperCase() });
    expect(answer.status, answer.text).toBe(200);
    const activity = activityOf(
      await root.submit('update_wallet', 'UPDATE_WALLET', { walletId: wallet.walletId }, named),
    );
    expect(activity.organizationId).toBe(root.organizationId);
  });

  test('list_wallet_accounts shows the wallet with each account where it is asked to', async () => {
    const answer = await root.query('list_wallet_accounts', { includeWalletDetails: true });
    const accounts = answer.body?.['accounts'] as Json[];
    expect(accounts.length).toBeGreaterThan(0);
    for (const account of accounts) {
      expect(account['walletDetails']).toMatchObject({ walletId: account['walletId'] });
    }
  });
});

describe('an account that is not to be kept', () => {
  test('is derived and forgotten, and its faults are named like those of the others', async () => {
    const add = (accounts: readonly Json[], persist: boolean): Promise<Answer> =>
      root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', {
        walletId: wallet.walletId,
        accounts,
        persist,
      });
    const account = { ...ethereumAccount, path: "m/44'/60'/9'/0/0" };
    const looked = resultOf(await add([account], false)).addresses;
    const { body } = await root.query('list_wallet_accounts', { paginationOptions: { limit: '100' } });
    expect((body as { accounts: Json[] }).accounts.map(({ address }) => address)).not.toContain(looked[0]);
    expect(resultOf(await add([account], false)).addresses).toEqual(looked);
    expect(resultOf(await add([account], true)).addresses).toEqual(looked);
    const wrong = await add([account, { ...ethereumAccount, addressFormat: 'ADDRESS_FORMAT_SOLANA' }], false);
    expect(wrong.body?.['message']).toMatch(/^invalid parameters\.accounts\[1\]\.addressFormat: /);
  });
});

describe('paging of wallet accounts', () => {
  let walletId: string;
  let ids: string[];

  beforeAll(async () => {
    const accounts = Array.from({ length: 25 }, (_, index) => ({
      ...ethereumAccount,
      path: `m/44'/60'/${String(index)}'/0/0`,
      name: `Account ${String(index)}`,
    }));
    const made = await root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Many', accounts });
    ({ walletId } = resultOf(made));
    ids = await page({ limit: '100' });
  });

  async function page(paginationOptions?: Json): Promise<string[]> {
    const answer = await root.query('list_wallet_accounts', {
      walletId,
      ...(paginationOptions && { paginationOptions }),
    });
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as { accounts: { walletAccountId: string }[] }).accounts.map(
      ({ walletAccountId }) => walletAccountId,
    );
  }

  test('is in the order of creation, ten at a time unless asked otherwise', async () => {
    expect(ids).toHaveLength(25);
    expect(await page()).toEqual(ids.slice(0, 10));
    expect(await page({ limit: '3' })).toEqual(ids.slice(0, 3));
  });

  test('goes on after a cursor, back before one, and between two', async () => {
    expect(await page({ limit: '10', after: ids[9] })).toEqual(ids.slice(10, 20));
    expect(await page({ limit: '10', after: ids[19] })).toEqual(ids.slice(20));
    expect(await page({ limit: '10', after: ids[24] })).toEqual([]);
    expect(await page({ limit: '3', before: ids[10] })).toEqual(ids.slice(7, 10));
    expect(await page({ limit: '3', before: ids[2] })).toEqual(ids.slice(0, 2));
    expect(await page({ after: ids[4], before: ids[8] })).toEqual(ids.slice(5, 8));
  });
});

describe('failed activities', () => {
  const lastOf = async (filters: Json): Promise<ActivityBody> => {
    const answer = await root.query('list_activities', filters);
    const [activity] = (answer.body as { activities: ActivityBody[] }).activities;
    if (activity === undefined) throw new Error('no activity');
    return activity;
  };

  const failing: readonly (readonly [string, number, number, string, string, () => Json, string])[] = [
    [
      'a digest of the wrong length',
      400,
      3,
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ payload: 'abcd' }),
      'invalid parameters.payload: expected a 32-bytes-long digest with HASH_FUNCTION_NO_OP, got 2 bytes',
    ],
    [
      'an address in lower case',
      404,
      5,
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ signWith: wallet.ethereum.toLowerCase() }),
      'Could not find any resource to sign with.',
    ],
    [
      'a wallet that is not there',
      404,
      5,
      'create_wallet_accounts',
      'CREATE_WALLET_ACCOUNTS',
      () => ({ walletId: '00000000-0000-4000-8000-000000000000', accounts: [ethereumAccount] }),
      'unable to find wallet 00000000-0000-4000-8000-000000000000',
    ],
    [
      'a name that is taken',
      400,
      3,
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'Shared wallet', accounts: [] }),
      'invalid parameters.walletName: wallet name must be unique, "Shared wallet" is taken',
    ],
    [
      'too many keys',
      429,
      8,
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('Keys', { apiKeys: Array.from({ length: 11 }, () => apiKey()) })] }),
      'maximum number of long-lived api keys reached: 10 are allowed, there are 10 and 1 would be added',
    ],
  ];

  test.each(failing)(
    '%s answers %i and is kept',
    async (_what, status, code, path, type, parameters, message) => {
      const rows = countRows();
      const answer = await root.submit(path, type, parameters());
      expect(answer.status, answer.text).toBe(status);
      expect(answer.body).toMatchObject({ code, message });
      expect(countRows()).toBe(rows + 1);
      const activity = await lastOf({ filterByStatus: ['ACTIVITY_STATUS_FAILED'] });
      expect(activity).toMatchObject({
        type: `ACTIVITY_TYPE_${type}`,
        status: 'ACTIVITY_STATUS_FAILED',
        result: {},
        canApprove: false,
        canReject: false,
        failure: { code, message, details: answer.body?.['details'] },
      });
      expect(Object.keys(activity.failure ?? {})).toEqual(['code', 'message', 'details']);
      expect(activity.votes).toHaveLength(1);
      expect(activityOf(await root.query('get_activity', { activityId: activity.id }))).toEqual(activity);
    },
  );

  test('leave nothing of what they began', async () => {
    const users = [
      user('Begun', { apiKeys: [apiKey()] }),
      user('Begun too', { apiKeys: [apiKey({ publicKey: service.key.publicKey })] }),
    ];
    const answer = await root.submit('create_users', 'CREATE_USERS_V3', { users });
    expect(answer.status).toBe(409);
    expect(answer.body?.['message']).toBe(
      'invalid parameters.users[1].apiKeys[0].publicKey: this credential is registered in the organization already',
    );
    const { body } = await root.query('list_users');
    expect((body as { users: Json[] }).users.map(({ userName }) => userName)).not.toContain('Begun');
  });

  test('say what to look at, beside a message that clients match', async () => {
    const answer = await root.submit(
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      signing({ signWith: wallet.walletId }),
    );
    expect(answer.body?.['message']).toBe('Could not find any resource to sign with.');
    expect((answer.body as { details: Json[] }).details[0]).toMatchObject({
      '@type': 'type.googleapis.com/google.rpc.Help',
      description: text(/A wallet id is not accepted\.$/),
    });
  });
});

describe('list_activities', () => {
  let other: TestVault;
  let ids: string[];

  beforeAll(async () => {
    other = await startTestVault();
    const { ethereum } = await newWallet(other.root);
    ids = [];
    for (let count = 0; count < 11; count++) {
      const signWith = count % 3 === 0 ? 'nobody' : ethereum;
      await other.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing({ signWith }));
    }
    ids = await list({ paginationOptions: { limit: '100' } });
  });
  afterAll(() => other[Symbol.asyncDispose]());

  async function activities(parameters: Json): Promise<ActivityBody[]> {
    const answer = await other.root.query('list_activities', parameters);
    expect(answer.status, answer.text).toBe(200);
    return answer.body?.['activities'] as ActivityBody[];
  }

  const list = async (parameters: Json): Promise<string[]> =>
    (await activities(parameters)).map(({ id }) => id);

  test('is newest first, ten at a time unless asked otherwise', async () => {
    expect(ids).toHaveLength(12);
    const all = await activities({ paginationOptions: { limit: '100' } });
    expect(all.at(-1)?.type).toBe('ACTIVITY_TYPE_CREATE_WALLET');
    const times = all.map(({ timestampMs }) => Number(timestampMs));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await list({})).toEqual(ids.slice(0, 10));
  });

  // The class: a part tells of activities that the list does not, of this organization or of another.
  test('comes in parts to the same list, and refuses a cursor of another organization', async () => {
    const seen: string[] = [];
    let next: string | undefined;
    do {
      const paginationOptions = { limit: '5', ...(next !== undefined && { after: next }) };
      const { body } = await other.root.query('list_activities', { inParts: true, paginationOptions });
      const part = body as { readonly activities: readonly ActivityBody[]; readonly next?: string };
      seen.push(...part.activities.map(({ id }) => id));
      ({ next } = part);
    } while (next !== undefined);
    expect(seen).toEqual(ids);
    for (const cursor of ['after', 'before']) {
      for (const inParts of [true, false]) {
        const asked = { inParts, paginationOptions: { [cursor]: ids[3] } };
        const { status, text } = await root.query('list_activities', asked);
        expect(status).toBe(404);
        expect(text).not.toContain(String(ids[2]));
      }
    }
    const whole = await other.root.query('list_activities', { paginationOptions: { limit: '5' } });
    expect(whole.body).not.toHaveProperty('next');
  });

  test('goes on after a cursor to older ones, and before one to newer', async () => {
    expect(await list({ paginationOptions: { limit: '5', after: ids[4] } })).toEqual(ids.slice(5, 10));
    expect(await list({ paginationOptions: { limit: '5', after: ids[9] } })).toEqual(ids.slice(10));
    expect(await list({ paginationOptions: { after: ids[11] } })).toEqual([]);
    expect(await list({ paginationOptions: { limit: '2', before: ids[5] } })).toEqual(ids.slice(3, 5));
    expect(await list({ paginationOptions: { limit: '5', before: ids[2] } })).toEqual(ids.slice(0, 2));
    expect(await list({ paginationOptions: { after: ids[2], before: ids[6] } })).toEqual(ids.slice(3, 6));
    expect(await list({ paginationOptions: { after: ids[2], before: ids[0] } })).toEqual([]);
  });

  test('is filtered by status and by type, both at once too', async () => {
    const failed = { filterByStatus: ['ACTIVITY_STATUS_FAILED'] };
    expect(await activities(failed)).toHaveLength(4);
    const completed = await activities({
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_PENDING'],
    });
    expect(completed).toHaveLength(8);
    const wallets = await activities({ filterByType: ['ACTIVITY_TYPE_CREATE_WALLET'] });
    expect(wallets.map(({ type }) => type)).toEqual(['ACTIVITY_TYPE_CREATE_WALLET']);
    expect(await activities({ ...failed, filterByType: ['ACTIVITY_TYPE_CREATE_WALLET'] })).toEqual([]);
    expect(await activities({ filterByType: ['ACTIVITY_TYPE_DELETE_WALLETS'] })).toEqual([]);
    expect(await activities({ filterByStatus: [], filterByType: [] })).toHaveLength(10);
    const [first = '', second = ''] = (await activities(failed)).map(({ id }) => id);
    expect(await list({ ...failed, paginationOptions: { limit: '1', after: first } })).toEqual([second]);
  });
});

describe('a user without the root quorum’s rights', () => {
  let plain: TestClient;

  beforeAll(async () => {
    plain = (await service.newUser('Plain')).client;
  });

  test.each(submits)('may not $type, and leaves no activity', async ({ path, type, parameters }) => {
    const rows = countRows();
    const answer = await plain.submit(path, type, parameters());
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      code: 7,
      message:
        "You don't have sufficient permissions to take this action. Please check your policies, or ask a member of the root quorum.",
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: 'No policies evaluated to outcome: Allow',
          policyEvaluations: [],
        },
        {
          '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
          turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
        },
      ],
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
    });
    expect(countRows()).toBe(rows);
  });

  test.each(queries)('may ask $operation', async ({ operation, parameters }) => {
    const answer = await plain.query(operation, parameters?.() ?? {});
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('input that does not fit names the field, what was seen and what is allowed', () => {
  const uuidText = '0192d3a4-0000-7000-8000-000000000000';
  const longName = 'n'.repeat(256);

  const refusedSubmits: readonly (readonly [string, string, () => Json, string | RegExp])[] = [
    ['create_users', 'CREATE_USERS_V3', () => ({}), 'missing field parameters.users: expected an array'],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [] }),
      'invalid parameters.users: expected at least 1 element, got []',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('')] }),
      'invalid parameters.users[0].userName: expected at least 1 character, got ""',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user(longName)] }),
      `invalid parameters.users[0].userName: expected at most 255 characters, got "${longName.slice(0, 76)}...`,
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user(' a')] }),
      'invalid parameters.users[0].userName: expected no white space at either end, got " a"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a\u0007')] }),
      'invalid parameters.users[0].userName: expected no control characters or others that cannot be seen, got "a\\u0007"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a', { userEmail: 'nobody' })] }),
      'invalid parameters.users[0].userEmail: expected an email address, got "nobody"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a', { userEmail: 7 })] }),
      'invalid parameters.users[0].userEmail: expected "" or a string, got 7',
    ],
    [
      'create_users',
      'CREATE_USERS_V4',
      () => ({ users: [user('a', { userPhoneNumber: '555' })] }),
      'invalid parameters.users[0].userPhoneNumber: expected a phone number in E.164 form, like +15551234567, got "555"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a', { apiKeys: [apiKey({ curveType: 'API_KEY_CURVE_P384' })] })] }),
      'invalid parameters.users[0].apiKeys[0].curveType: expected one of API_KEY_CURVE_P256, API_KEY_CURVE_SECP256K1, API_KEY_CURVE_ED25519, got "API_KEY_CURVE_P384"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a', { authenticators: [{}] })] }),
      'missing field parameters.users[0].authenticators[0].authenticatorName: expected a string',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('a', { userTags: ['x'] })] }),
      'invalid parameters.users[0].userTags[0]: expected a UUID, got "x"',
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [without('userTags', user('a'))] }),
      'missing field parameters.users[0].userTags: expected an array',
    ],
    [
      'create_users',
      'CREATE_USERS_V1',
      () => ({ users: [user('a')] }),
      'invalid activity type: create_users expects ACTIVITY_TYPE_CREATE_USERS_V4, ACTIVITY_TYPE_CREATE_USERS_V3, ACTIVITY_TYPE_CREATE_USERS_V2, ACTIVITY_TYPE_CREATE_USERS, got "ACTIVITY_TYPE_CREATE_USERS_V1"',
    ],
    [
      'create_users',
      'CREATE_WALLET',
      () => ({ walletName: 'x', accounts: [] }),
      /^invalid activity type: create_users expects .*, got "ACTIVITY_TYPE_CREATE_WALLET"$/,
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey()] }),
      'missing field parameters.userId: expected a string',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [], userId: uuidText }),
      'invalid parameters.apiKeys: expected at least 1 element, got []',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey({ publicKey: '0x02' })], userId: uuidText }),
      'invalid parameters.apiKeys[0].publicKey: expected a compressed public key in hex (66 characters; 64 for Ed25519), got "0x02"',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey({ expirationSeconds: '0' })], userId: uuidText }),
      'invalid parameters.apiKeys[0].expirationSeconds: expected a positive whole number of seconds, in digits, got "0"',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey({ expirationSeconds: 900 })], userId: uuidText }),
      'invalid parameters.apiKeys[0].expirationSeconds: expected a string, got 900',
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('k', { curve: 'CURVE_P384' })] }),
      'invalid parameters.privateKeys[0].curve: expected one of CURVE_SECP256K1, CURVE_ED25519, CURVE_P256, got "CURVE_P384"',
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('k', { addressFormats: ['ETHEREUM'] })] }),
      /^invalid parameters\.privateKeys\[0\]\.addressFormats\[0\]: expected one of ADDRESS_FORMAT_UNCOMPRESSED, .*, got "ETHEREUM"$/,
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: 'one' }),
      'invalid parameters.privateKeys: expected an array, got "one"',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'w', accounts: [{ ...ethereumAccount, path: 'm/abc' }] }),
      'invalid parameters.accounts[0].path: component 1 is "abc"; expected a number from 0 to 2147483647, followed by \' where it is hardened, got "m/abc"',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'w', accounts: [{ ...ethereumAccount, pathFormat: 'BIP32' }] }),
      'invalid parameters.accounts[0].pathFormat: expected PATH_FORMAT_BIP32, got "BIP32"',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'w', accounts: [], mnemonicLength: 13 }),
      'invalid parameters.mnemonicLength: expected one of 12, 15, 18, 21, 24, got 13',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'w' }),
      'missing field parameters.accounts: expected an array',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'w', accounts: Array.from({ length: 101 }, () => ethereumAccount) }),
      /^invalid parameters\.accounts: expected at most 100 elements, got \[\{.{70,80}\.\.\.$/,
    ],
    [
      'create_wallet_accounts',
      'CREATE_WALLET_ACCOUNTS',
      () => ({ walletId: 'w', accounts: [ethereumAccount] }),
      'invalid parameters.walletId: expected a UUID, got "w"',
    ],
    [
      'create_wallet_accounts',
      'CREATE_WALLET_ACCOUNTS',
      () => ({ walletId: uuidText, accounts: [] }),
      'invalid parameters.accounts: expected at least 1 element, got []',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ encoding: 'PAYLOAD_ENCODING_BASE64' }),
      'invalid parameters.encoding: expected one of PAYLOAD_ENCODING_HEXADECIMAL, PAYLOAD_ENCODING_TEXT_UTF8, PAYLOAD_ENCODING_EIP712, PAYLOAD_ENCODING_EIP7702_AUTHORIZATION, got "PAYLOAD_ENCODING_BASE64"',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ hashFunction: 'SHA256' }),
      'invalid parameters.hashFunction: expected one of HASH_FUNCTION_NO_OP, HASH_FUNCTION_NOT_APPLICABLE, HASH_FUNCTION_SHA256, HASH_FUNCTION_KECCAK256, got "SHA256"',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => without('signWith', signing()),
      'missing field parameters.signWith: expected a string',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD',
      () => signing(),
      'missing field parameters.privateKeyId: expected a string',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ payload: 'a'.repeat(1_000_001) }),
      /^invalid parameters\.payload: expected at most 1000000 characters, got "a{76}\.\.\.$/,
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' }),
      'invalid hash function: parameters.hashFunction: a key on CURVE_SECP256K1 takes HASH_FUNCTION_NO_OP, HASH_FUNCTION_SHA256, HASH_FUNCTION_KECCAK256, got HASH_FUNCTION_NOT_APPLICABLE',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ signWith: wallet.solana }),
      'invalid hash function: parameters.hashFunction: a key on CURVE_ED25519 takes HASH_FUNCTION_NOT_APPLICABLE, got HASH_FUNCTION_NO_OP',
    ],
  ];

  test.each(refusedSubmits)('%s %s', async (path, type, parameters, message) => {
    const rows = countRows();
    const answer = await root.submit(path, type, parameters());
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body).toMatchObject({ code: 3, turnkeyErrorCode: 'REQUEST_INVALID' });
    if (typeof message === 'string') expect(answer.body?.['message']).toBe(message);
    else expect(answer.body?.['message']).toMatch(message);
    // An invalid request leaves no activity.
    expect(countRows()).toBe(rows);
  });

  test('has a case for every activity', () => {
    expect(new Set(refusedSubmits.map(([path]) => path))).toEqual(new Set(submits.map(({ path }) => path)));
  });

  /** These fit their schema and fail in what they would do: their activity is kept. */
  const failedSubmits: readonly (readonly [string, string, () => Json, number, string | RegExp])[] = [
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ payload: 'xyz' }),
      400,
      'invalid parameters.payload: expected hex, got "x" at character 1',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () =>
        signing({
          payload: '\ud800',
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        }),
      400,
      'invalid parameters.payload: expected Unicode text, got a lone surrogate',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ payload: '{}', encoding: 'PAYLOAD_ENCODING_EIP712' }),
      400,
      'invalid parameters.payload.domain: expected an object, got nothing',
    ],
    [
      'sign_raw_payloads',
      'SIGN_RAW_PAYLOADS',
      () => ({
        ...without('payload', signing({ encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION' })),
        payloads: [
          JSON.stringify({ address: `0x${'1'.repeat(40)}`, chainId: 1, nonce: 0 }),
          '{"chainId":-1}',
        ],
      }),
      400,
      'invalid parameters.payloads[1].chainId: expected uint256, got a number that is too small',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () => signing({ encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_KECCAK256' }),
      400,
      'invalid hash function: parameters.hashFunction: PAYLOAD_ENCODING_EIP712 makes the digest itself, expected HASH_FUNCTION_NO_OP, got HASH_FUNCTION_KECCAK256',
    ],
    [
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      () =>
        signing({
          signWith: wallet.solana,
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
        }),
      400,
      'invalid parameters.encoding: PAYLOAD_ENCODING_EIP712 makes a digest, which a key on CURVE_ED25519 does not sign; expected PAYLOAD_ENCODING_HEXADECIMAL or PAYLOAD_ENCODING_TEXT_UTF8',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey({ publicKey: `02${'ff'.repeat(32)}` })], userId: service.rootUserId }),
      400,
      'invalid parameters.apiKeys[0].publicKey: expected a P-256 public key of 66 hex characters, got a text that is no usable point of the curve',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey({ curveType: 'API_KEY_CURVE_ED25519' })], userId: service.rootUserId }),
      400,
      'invalid parameters.apiKeys[0].publicKey: expected a Ed25519 public key of 64 hex characters, got 66 characters',
    ],
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      () => ({ apiKeys: [apiKey()], userId: uuidText }),
      404,
      `unable to find user ${uuidText}`,
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('Twice'), privateKey('Twice')] }),
      400,
      'invalid parameters.privateKeys: "Twice" is given twice',
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('Shared key')] }),
      400,
      'invalid parameters.privateKeys[0].privateKeyName: private key name must be unique, "Shared key" is taken',
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('Mismatch', { curve: 'CURVE_ED25519' })] }),
      400,
      'invalid parameters.privateKeys[0].addressFormats[0]: ADDRESS_FORMAT_ETHEREUM is an address format of CURVE_SECP256K1, not of CURVE_ED25519; expected one of ADDRESS_FORMAT_COMPRESSED, ADDRESS_FORMAT_SOLANA, ADDRESS_FORMAT_SUI, ADDRESS_FORMAT_APTOS, ADDRESS_FORMAT_XLM, ADDRESS_FORMAT_TON_V3R2, ADDRESS_FORMAT_TON_V4R2, ADDRESS_FORMAT_TON_V5R1',
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('Tagged', { privateKeyTags: [uuidText] })] }),
      404,
      `invalid parameters.privateKeys[0].privateKeyTags[0]: there is no private key tag ${uuidText}`,
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('Tagged', { userTags: [uuidText] })] }),
      404,
      `invalid parameters.users[0].userTags[0]: there is no user tag ${uuidText}`,
    ],
    [
      'create_users',
      'CREATE_USERS_V3',
      () => ({ users: [user('Root')] }),
      400,
      'invalid parameters.users[0].userName: user name must be unique, "Root" is taken',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({
        walletName: 'Mismatch',
        accounts: [{ ...ethereumAccount, curve: 'CURVE_ED25519', path: "m/0'" }],
      }),
      400,
      'invalid parameters.accounts[0].addressFormat: ADDRESS_FORMAT_ETHEREUM is an address format of CURVE_SECP256K1, not of CURVE_ED25519; expected one of ADDRESS_FORMAT_COMPRESSED, ADDRESS_FORMAT_SOLANA, ADDRESS_FORMAT_SUI, ADDRESS_FORMAT_APTOS, ADDRESS_FORMAT_XLM, ADDRESS_FORMAT_TON_V3R2, ADDRESS_FORMAT_TON_V4R2, ADDRESS_FORMAT_TON_V5R1',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'Soft', accounts: [{ ...solanaAccount, path: "m/44'/501'/0'/0" }] }),
      400,
      'invalid parameters.accounts[0].path: component 4 is "0", which is not hardened; CURVE_ED25519 (SLIP-0010) has hardened components only, expected "0\'"',
    ],
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'Doubled', accounts: [ethereumAccount, ethereumAccount] }),
      409,
      /^path already exists in wallet account [0-9a-f-]{36}: invalid parameters\.accounts\[1\]: the wallet has m\/44'\/60'\/0'\/0\/0 as ADDRESS_FORMAT_ETHEREUM$/,
    ],
    [
      'create_wallet_accounts',
      'CREATE_WALLET_ACCOUNTS',
      () => ({ walletId: wallet.walletId, accounts: [ethereumAccount] }),
      409,
      /^path already exists in wallet account [0-9a-f-]{36}: invalid parameters\.accounts\[0\]: /,
    ],
  ];

  test.each(failedSubmits)('%s %s, while it runs (%#)', async (path, type, parameters, status, message) => {
    const rows = countRows();
    const answer = await root.submit(path, type, parameters());
    expect(answer.status, answer.text).toBe(status);
    if (typeof message === 'string') expect(answer.body?.['message']).toBe(message);
    else expect(answer.body?.['message']).toMatch(message);
    expect(countRows()).toBe(rows + 1);
  });

  const refusedQueries: readonly (readonly [string, Json, number, string])[] = [
    ['get_user', {}, 400, 'missing field userId: expected a string'],
    ['get_user', { userId: 'root' }, 400, 'invalid userId: expected a UUID, got "root"'],
    ['get_user', { userId: uuidText }, 404, `unable to find user ${uuidText}`],
    ['get_private_key', { privateKeyId: 1 }, 400, 'invalid privateKeyId: expected a string, got 1'],
    ['get_private_key', { privateKeyId: uuidText }, 404, `unable to find private key ${uuidText}`],
    ['get_wallet', {}, 400, 'missing field walletId: expected a string'],
    ['get_wallet', { walletId: uuidText }, 404, `unable to find wallet ${uuidText}`],
    ['get_activity', { activityId: null }, 400, 'invalid activityId: expected a string, got null'],
    ['get_activity', { activityId: uuidText }, 404, `unable to find activity ${uuidText}`],
    ['list_wallet_accounts', { walletId: uuidText }, 404, `unable to find wallet ${uuidText}`],
    [
      'list_wallet_accounts',
      { includeWalletDetails: 'yes' },
      400,
      'invalid includeWalletDetails: expected a boolean, got "yes"',
    ],
    [
      'list_wallet_accounts',
      { paginationOptions: { limit: '101' } },
      400,
      'invalid paginationOptions.limit: expected 1 to 100, got "101"',
    ],
    [
      'list_wallet_accounts',
      { paginationOptions: { limit: '0' } },
      400,
      'invalid paginationOptions.limit: expected 1 to 100, got "0"',
    ],
    [
      'list_wallet_accounts',
      { paginationOptions: { limit: 10 } },
      400,
      'invalid paginationOptions.limit: expected a string, got 10',
    ],
    [
      'list_wallet_accounts',
      { paginationOptions: { after: uuidText } },
      404,
      'invalid paginationOptions: after and before name a wallet account of this organization',
    ],
    [
      'list_activities',
      { paginationOptions: { before: uuidText } },
      404,
      'invalid paginationOptions: after and before name an activity of this organization',
    ],
    [
      'list_activities',
      { filterByStatus: ['DONE'] },
      400,
      'invalid filterByStatus[0]: expected one of ACTIVITY_STATUS_CREATED, ACTIVITY_STATUS_PENDING, ACTIVITY_STATUS_COMPLETED, ACTIVITY_STATUS_FAILED, ACTIVITY_STATUS_CONSENSUS_NEEDED, ACTIVITY_STATUS_REJECTED, ACTIVITY_STATUS_AUTHENTICATORS_NEEDED, got "DONE"',
    ],
    [
      'list_activities',
      { filterByType: ['x'] },
      400,
      'invalid filterByType[0]: expected an activity type, got "x"',
    ],
  ];

  test.each(refusedQueries)('%s %j', async (operation, parameters, status, message) => {
    const answer = await root.query(operation, parameters);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.body).toMatchObject({ code: status === 404 ? 5 : 3, message });
  });
});

describe('limits', () => {
  let other: TestVault;
  beforeAll(async () => {
    other = await startTestVault();
  });
  afterAll(() => other[Symbol.asyncDispose]());

  const refusedFor = (answer: Answer, message: string): void => {
    expect(answer.status, answer.text).toBe(429);
    expect(answer.body).toMatchObject({ code: 8, message, turnkeyErrorCode: 'LIMIT_REACHED' });
  };

  const addKeys = (userId: string, apiKeys: readonly Json[]): Promise<Answer> =>
    other.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys });

  test('ten long-lived keys for a user', async () => {
    const { userId } = await other.newUser('Long');
    expect(
      resultOf(
        await addKeys(
          userId,
          Array.from({ length: 9 }, () => apiKey()),
        ),
      ).apiKeyIds,
    ).toHaveLength(9);
    refusedFor(
      await addKeys(userId, [apiKey()]),
      'maximum number of long-lived api keys reached: 10 are allowed, there are 10 and 1 would be added',
    );
  });

  test('ten expiring keys beside them: the next takes the place of an expired one, else of the oldest', async () => {
    const { userId } = await other.newUser('Short');
    const named = (apiKeyName: string, expirationSeconds = '3600'): Json =>
      apiKey({ apiKeyName, expirationSeconds });
    const names = async (): Promise<unknown[]> => {
      const { body } = await other.root.query('get_user', { userId });
      const { apiKeys } = (body as { user: { apiKeys: Json[] } }).user;
      return apiKeys.map(({ apiKeyName }) => apiKeyName);
    };
    await addKeys(userId, [
      named('a'),
      named('b'),
      named('brief', '60'),
      ...['d', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => named(name)),
    ]);
    expect(await names()).toEqual(['Short', 'a', 'b', 'brief', 'd', 'e', 'f', 'g', 'h', 'i', 'j']);
    await addKeys(userId, [named('k')]);
    expect(await names()).toEqual(['Short', 'b', 'brief', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']);
    other.clock.advance(61_000);
    try {
      await other.root.submit(
        'create_api_keys',
        'CREATE_API_KEYS_V2',
        { userId, apiKeys: [named('l')] },
        { timestampMs: String(other.clock.wall()) },
      );
    } finally {
      other.clock.advance(-61_000);
    }
    expect(await names()).toEqual(['Short', 'b', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']);
  });

  test('a hundred users', async () => {
    const { body } = await other.root.query('list_users');
    const present = (body as { users: Json[] }).users.length;
    const more = Array.from({ length: 100 - present }, (_, index) => user(`User ${String(index)}`));
    const many = await other.root.submit('create_users', 'CREATE_USERS_V3', {
      users: [...more, user('One too many')],
    });
    refusedFor(
      many,
      `maximum number of users reached: 100 are allowed, there are ${String(present)} and ${String(101 - present)} would be added`,
    );
    const fitting = await other.root.submit('create_users', 'CREATE_USERS_V3', { users: more });
    expect(resultOf(fitting).userIds).toHaveLength(100 - present);
    refusedFor(
      await other.root.submit('create_users', 'CREATE_USERS_V3', { users: [user('One too many')] }),
      'maximum number of users reached: 100 are allowed, there are 100 and 1 would be added',
    );
  });

  test('a hundred wallets', async () => {
    for (let index = 0; index < 100; index++) {
      const made = await other.root.submit('create_wallet', 'CREATE_WALLET', {
        walletName: `Wallet ${String(index)}`,
        accounts: [],
      });
      expect(made.status).toBe(200);
    }
    refusedFor(
      await other.root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'One too many', accounts: [] }),
      'maximum number of wallets reached: 100 are allowed, there are 100 and 1 would be added',
    );
  });

  test('a thousand private keys, a hundred in one request', async () => {
    const batch = (at: number, count: number): Json => ({
      privateKeys: Array.from({ length: count }, (_, index) =>
        privateKey(`Key ${String(at + index)}`, { addressFormats: [], curve: 'CURVE_ED25519' }),
      ),
    });
    const add = (parameters: Json): Promise<Answer> =>
      other.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', parameters);
    expect((await add(batch(0, 101))).body?.['message']).toMatch(
      /^invalid parameters\.privateKeys: expected at most 100 elements/,
    );
    for (let at = 0; at < 1000; at += 100) expect((await add(batch(at, 100))).status).toBe(200);
    refusedFor(
      await add(batch(1000, 1)),
      'maximum number of private keys reached: 1000 are allowed, there are 1000 and 1 would be added',
    );
    expect((await other.root.query('list_private_keys')).body?.['privateKeys']).toHaveLength(1000);
  });

  test('names of 64 characters, of any script', async () => {
    for (const walletName of ['n'.repeat(64), '金庫 Ω-1_2:3/4.5 @home']) {
      const made = await root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] });
      expect(made.status, made.text).toBe(200);
    }
  });
});

describe('a locked vault', () => {
  const locked = {
    code: 9,
    message:
      'The vault is locked: unlock it with its password, keychain or recovery phrase, then send the request again.',
    details: [
      { '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail', turnkeyErrorCode: 'VAULT_LOCKED' },
    ],
    turnkeyErrorCode: 'VAULT_LOCKED',
  };

  const needKeys: readonly (readonly [string, string, () => Json])[] = [
    [
      'create_wallet',
      'CREATE_WALLET',
      () => ({ walletName: 'Made after unlock', accounts: [ethereumAccount] }),
    ],
    [
      'create_wallet_accounts',
      'CREATE_WALLET_ACCOUNTS',
      () => ({ walletId: wallet.walletId, accounts: [{ ...ethereumAccount, path: "m/44'/60'/7'/0/0" }] }),
    ],
    [
      'create_private_keys',
      'CREATE_PRIVATE_KEYS_V2',
      () => ({ privateKeys: [privateKey('Made after unlock')] }),
    ],
    ['sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', () => signing()],
    ['sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', () => signing({ signWith: privateKeyId })],
  ];

  test.each(needKeys)(
    '%s says so, leaves nothing, and works with the same body once unlocked',
    async (path, type, parameters) => {
      // Used once, so that a key which stays in memory would be found out.
      await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing());
      await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing({ signWith: privateKeyId }));
      const rows = countRows();
      const body = root.submitBody(type, parameters());
      await service.vault.rpc.lock();
      try {
        const answer = await root.post(`submit/${path}`, body);
        expect(answer.status).toBe(400);
        expect(answer.body).toEqual(locked);
        expect(countRows()).toBe(rows);
      } finally {
        await service.unlock();
      }
      expect(activityOf(await root.post(`submit/${path}`, body)).status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(countRows()).toBe(rows + 1);
    },
  );

  test('answers every query as before', async () => {
    const ask = async (): Promise<unknown[]> => {
      const answers = await Promise.all(
        queries.map(({ operation, parameters }) => root.query(operation, parameters?.() ?? {})),
      );
      return answers.map(({ status, body }) => [status, without('activity', body ?? {})]);
    };
    const unlocked = await ask();
    await service.vault.rpc.lock();
    try {
      expect(await ask()).toEqual(unlocked);
    } finally {
      await service.unlock();
    }
  });

  test('still answers a body that was run before, and refuses who may not do it first', async () => {
    const body = root.submitBody('SIGN_RAW_PAYLOAD_V2', signing());
    const first = await root.post('submit/sign_raw_payload', body);
    const { client } = await service.newUser('Locked out');
    await service.vault.rpc.lock();
    try {
      expect((await root.post('submit/sign_raw_payload', body)).text).toBe(first.text);
      expect((await client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing())).status).toBe(403);
    } finally {
      await service.unlock();
    }
  });
});

describe('a missing vault', () => {
  test('is reported as missing, to every caller', async () => {
    await using empty = await startTestVault({ empty: true });
    const client = empty.root.as(newTestKey());
    const missing = {
      code: 9,
      message: 'there is no vault yet: create one in the window or with `keyhearth init`',
      turnkeyErrorCode: 'VAULT_MISSING',
    };
    const organizationId = service.organizationId;
    const query = await client.query('whoami', { organizationId });
    expect(query.status).toBe(400);
    expect(query.body).toMatchObject(missing);
    const submit = await client.submit(
      'create_wallet',
      'CREATE_WALLET',
      { walletName: 'x', accounts: [] },
      { organizationId },
    );
    expect(submit.status).toBe(400);
    expect(submit.body).toMatchObject(missing);
  });
});
