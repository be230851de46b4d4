/**
 * The specification, section by section: every field of every resource, intent and result that it names, looked for on
 * real answers. The table is the specification's own tables, transcribed; what it calls optional is asked for too.
 */
import { decryptCredentialBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { operations } from '../../main/operations/index.ts';
import { issueOneTimeCode } from '../../main/operations/sign-in/one-time-codes.ts';
import { startOidcProvider } from '../sign-in/oidc-provider.ts';
import type { OidcProvider } from '../sign-in/oidc-provider.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  startTestVault,
} from '../support/support.ts';
import type { ActivityBody, Answer, Json, TestClient, TestVault } from '../support/support.ts';

/** The expected form of a field; one in brackets is an array that holds at least one such element. */
type Shape = RegExp | 'string' | 'boolean' | readonly [Shape] | Fields;
interface Fields {
  readonly [field: string]: Shape;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hex = /^[0-9a-f]+$/;
const base64url = /^[A-Za-z0-9_-]+$/;

const oneOf = (prefix: string, names: string): RegExp =>
  new RegExp(`^${prefix}(${names.split(' ').join('|')})$`);

// 2.1 Common types
const timestamp = { seconds: /^[0-9]{10}$/, nanos: /^[0-9]+$/ };
const addressFormat = oneOf(
  'ADDRESS_FORMAT_',
  'UNCOMPRESSED COMPRESSED ETHEREUM SOLANA COSMOS TRON SUI APTOS BITCOIN_(MAINNET|TESTNET|SIGNET|REGTEST)_(P2PKH|P2SH|P2WPKH|P2WSH|P2TR) SEI XLM DOGE_MAINNET DOGE_TESTNET TON_V3R2 TON_V4R2 XRP',
);
const curve = oneOf('CURVE_', 'SECP256K1 ED25519');
const credentialType = oneOf(
  'CREDENTIAL_TYPE_',
  'WEBAUTHN_AUTHENTICATOR API_KEY_P256 RECOVER_USER_KEY_P256 API_KEY_SECP256K1 EMAIL_AUTH_KEY_P256 API_KEY_ED25519 OTP_AUTH_KEY_P256 READ_WRITE_SESSION_KEY_P256 OAUTH_KEY_P256',
);
const credential = { publicKey: 'string', type: credentialType } as const;
const transport = oneOf('AUTHENTICATOR_TRANSPORT_', 'BLE INTERNAL NFC USB HYBRID');
const dated = { createdAt: timestamp, updatedAt: timestamp };

// 2.3 to 2.7 Resources
const privateKey = {
  privateKeyId: uuid,
  publicKey: hex,
  privateKeyName: 'string',
  curve,
  addresses: [{ format: addressFormat, address: 'string' }],
  privateKeyTags: [uuid],
  ...dated,
  exported: 'boolean',
  imported: 'boolean',
} as const;
const wallet = {
  walletId: uuid,
  walletName: 'string',
  ...dated,
  exported: 'boolean',
  imported: 'boolean',
} as const;
const policy = {
  policyId: uuid,
  policyName: 'string',
  effect: oneOf('EFFECT_', 'ALLOW DENY'),
  ...dated,
  notes: 'string',
  consensus: 'string',
  condition: 'string',
} as const;
const user = {
  userId: uuid,
  userName: 'string',
  userEmail: /@/,
  userPhoneNumber: /^\+/,
  authenticators: [
    {
      transports: [transport],
      attestationType: 'string',
      aaguid: 'string',
      credentialId: base64url,
      model: 'string',
      credential,
      authenticatorId: uuid,
      authenticatorName: 'string',
      ...dated,
    },
  ],
  apiKeys: [{ credential, apiKeyId: uuid, apiKeyName: 'string', ...dated, expirationSeconds: /^[0-9]+$/ }],
  userTags: [uuid],
  oauthProviders: [
    {
      providerId: uuid,
      providerName: 'string',
      issuer: /^https?:/,
      audience: 'string',
      subject: 'string',
      ...dated,
    },
  ],
  ...dated,
} as const;
const feature = {
  name: oneOf('FEATURE_NAME_', 'WEBHOOK ROOT_USER_EMAIL_RECOVERY'),
  value: 'string',
} as const;

// 4.3: the intents of authenticators
const intentAuthenticator = {
  authenticatorName: 'string',
  userId: 'string',
  challenge: 'string',
  attestation: {
    id: base64url,
    type: /^public-key$/,
    rawId: base64url,
    authenticatorAttachment: /^(cross-platform|platform)$/,
    response: {
      clientDataJson: base64url,
      attestationObject: base64url,
      transports: [transport],
      authenticatorAttachment: /^(cross-platform|platform)$/,
    },
    clientExtensionResults: { appid: 'boolean', appidExclude: 'boolean', credProps: { rk: 'boolean' } },
  },
} as const;

// 2.2: the envelope
const envelope = {
  id: uuid,
  status: /^ACTIVITY_STATUS_COMPLETED$/,
  type: /^ACTIVITY_TYPE_[A-Z0-9_]+$/,
  organizationId: uuid,
  timestampMs: /^[0-9]{13}$/,
} as const;

interface Submit {
  readonly type: string;
  readonly parameters: () => Promise<Json> | Json;
  readonly intent: readonly [name: string, fields: Fields];
  readonly result: readonly [name: string, fields: Fields];
}
interface Query {
  readonly parameters: () => Promise<Json> | Json;
  readonly resource: readonly [name: string, shape: Shape];
}

const signIn = {
  targetPublicKey: hex,
  apiKeyName: 'string',
  expirationSeconds: /^60$/,
  invalidateExisting: 'boolean',
} as const;

const world = {} as {
  service: TestVault;
  root: TestClient;
  oidc: OidcProvider;
  userTagId: string;
  keyTagId: string;
  privateKeyId: string;
  policyId: string;
};
/** The target key of the sign-in requests. */
const target = generateP256KeyPair();
const oidcSubject = 'ann-at-the-issuer';

/** Section 4.2 to 4.6, operation by operation, in an order in which each finds what it needs. */
const sections: Readonly<Record<string, Readonly<Record<string, Submit | Query>>>> = {
  '4.3 Users and credentials': {
    'submit/create_users': {
      type: 'CREATE_USERS_V3',
      parameters: async () => ({
        users: [
          {
            userName: 'Ann',
            userEmail: 'ann@example.com',
            userPhoneNumber: '+15551234567',
            apiKeys: [
              {
                apiKeyName: 'Key of Ann',
                publicKey: newTestKey().publicKey,
                curveType: 'API_KEY_CURVE_P256',
                expirationSeconds: '3600',
              },
            ],
            authenticators: [new SoftwareAuthenticator().params('Passkey of Ann')],
            oauthProviders: [
              { providerName: 'Issuer', oidcToken: await world.oidc.idToken({ subject: oidcSubject }) },
            ],
            userTags: [world.userTagId],
          },
        ],
      }),
      intent: [
        'createUsersIntent',
        {
          users: [
            {
              userName: 'string',
              userEmail: 'string',
              accessType: oneOf('ACCESS_TYPE_', 'WEB API ALL'),
              apiKeys: [{ apiKeyName: 'string', publicKey: hex, expirationSeconds: 'string' }],
              authenticators: [intentAuthenticator],
              userTags: [uuid],
            },
          ],
        },
      ],
      result: ['createUsersResult', { userIds: [uuid] }],
    },
    'query/list_users': { parameters: () => ({}), resource: ['users', [user]] },
    'submit/delete_api_keys': {
      type: 'DELETE_API_KEYS',
      parameters: async () => {
        const userId = await ann();
        const answer = await world.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
          userId,
          apiKeys: [
            { apiKeyName: 'Gone', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' },
          ],
        });
        return { userId, apiKeyIds: resultOf(answer).apiKeyIds };
      },
      intent: ['deleteApiKeysIntent', { userId: uuid, apiKeyIds: [uuid] }],
      result: ['deleteApiKeysResult', { apiKeyIds: [uuid] }],
    },
    'submit/create_authenticators': {
      type: 'CREATE_AUTHENTICATORS_V2',
      parameters: async () => ({
        userId: await ann(),
        authenticators: [new SoftwareAuthenticator().params('Another passkey')],
      }),
      intent: ['createAuthenticatorsIntent', { authenticators: [intentAuthenticator], userId: uuid }],
      result: ['createAuthenticatorsResult', { authenticatorIds: [uuid] }],
    },
    'submit/delete_authenticators': {
      type: 'DELETE_AUTHENTICATORS',
      parameters: async () => {
        const answer = await world.root.query('list_users');
        const found = userNamed(answer, 'Ann');
        const [authenticator] = found['authenticators'] as readonly Json[];
        return { userId: found['userId'], authenticatorIds: [authenticator?.['authenticatorId']] };
      },
      intent: ['deleteAuthenticatorsIntent', { userId: uuid, authenticatorIds: [uuid] }],
      result: ['deleteAuthenticatorsResult', { authenticatorIds: [uuid] }],
    },
    'submit/delete_users': {
      type: 'DELETE_USERS',
      parameters: async () => ({ userIds: [(await world.service.newUser('Passing')).userId] }),
      intent: ['deleteUsersIntent', { userIds: [uuid] }],
      result: ['deleteUsersResult', { userIds: [uuid] }],
    },
  },
  '4.2 Authentication': {
    'submit/oauth': {
      type: 'OAUTH',
      parameters: async () => ({
        oidcToken: await world.oidc.idToken({
          subject: oidcSubject,
          boundTo: target.publicKeyUncompressed,
        }),
        targetPublicKey: target.publicKeyUncompressed,
        apiKeyName: 'By token',
        expirationSeconds: '60',
        invalidateExisting: true,
      }),
      intent: ['oauthIntent', { oidcToken: 'string', ...signIn }],
      result: ['oauthResult', { userId: uuid, apiKeyId: uuid, credentialBundle: 'string' }],
    },
    'submit/otp_auth': {
      type: 'OTP_AUTH',
      parameters: async () => {
        const { otpId, otpCode } = await oneTimeCode(await ann());
        return {
          otpId,
          otpCode,
          targetPublicKey: target.publicKeyUncompressed,
          apiKeyName: 'By code',
          expirationSeconds: '60',
          invalidateExisting: true,
        };
      },
      intent: ['otpAuthIntent', { otpId: uuid, otpCode: 'string', ...signIn }],
      result: ['otpAuthResult', { userId: uuid, apiKeyId: uuid, credentialBundle: 'string' }],
    },
  },
  '4.4 Private keys': {
    'query/get_private_key': {
      parameters: () => ({ privateKeyId: world.privateKeyId }),
      resource: ['privateKey', privateKey],
    },
    'submit/export_private_key': {
      type: 'EXPORT_PRIVATE_KEY',
      parameters: () => ({
        privateKeyId: world.privateKeyId,
        targetPublicKey: generateP256KeyPair().publicKeyUncompressed,
      }),
      intent: ['exportPrivateKeyIntent', { privateKeyId: uuid, targetPublicKey: hex }],
      result: ['exportPrivateKeyResult', { privateKeyId: uuid, exportBundle: /^\{.*\}$/ }],
    },
    'submit/init_import_private_key': {
      type: 'INIT_IMPORT_PRIVATE_KEY',
      parameters: () => ({ userId: world.service.rootUserId }),
      intent: ['initImportPrivateKeyIntent', { userId: uuid }],
      result: ['initImportPrivateKeyResult', { importBundle: /^\{.*\}$/ }],
    },
    'submit/sign_raw_payload': {
      type: 'SIGN_RAW_PAYLOAD_V2',
      parameters: () => ({
        signWith: world.privateKeyId,
        payload: 'ab'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      }),
      intent: [
        'signRawPayloadIntent',
        {
          privateKeyId: uuid,
          payload: hex,
          encoding: /^PAYLOAD_ENCODING_HEXADECIMAL$/,
          hashFunction: /^HASH_FUNCTION_NO_OP$/,
        },
      ],
      result: ['signRawPayloadResult', { r: hex, s: hex, v: hex }],
    },
    'submit/update_private_key_tag': {
      type: 'UPDATE_PRIVATE_KEY_TAG',
      parameters: async () => ({
        privateKeyTagId: world.keyTagId,
        newPrivateKeyTagName: 'Renamed',
        addPrivateKeyIds: [await newPrivateKey('Added')],
        removePrivateKeyIds: [world.privateKeyId],
      }),
      intent: [
        'updatePrivateKeyTagIntent',
        {
          privateKeyTagId: uuid,
          newPrivateKeyTagName: 'string',
          addPrivateKeyIds: [uuid],
          removePrivateKeyIds: [uuid],
        },
      ],
      result: ['updatePrivateKeyTagResult', { privateKeyTagId: uuid }],
    },
    'submit/delete_private_key_tags': {
      type: 'DELETE_PRIVATE_KEY_TAGS',
      parameters: () => ({ privateKeyTagIds: [world.keyTagId] }),
      intent: ['deletePrivateKeyTagsIntent', { privateKeyTagIds: [uuid] }],
      result: ['deletePrivateKeyTagsResult', { privateKeyTagIds: [uuid], privateKeyIds: [uuid] }],
    },
  },
  '4.5 Wallets': {
    'query/get_wallet': {
      parameters: async () => ({ walletId: (await newWallet(world.root, 'Read')).walletId }),
      resource: ['wallet', wallet],
    },
    'submit/import_wallet': {
      type: 'IMPORT_WALLET',
      parameters: async () => ({
        userId: world.service.rootUserId,
        walletName: 'Imported',
        encryptedBundle: await encryptedMnemonic(),
        accounts: [ethereumAccount],
      }),
      intent: [
        'importWalletIntent',
        {
          userId: uuid,
          walletName: 'string',
          encryptedBundle: 'string',
          accounts: [{ curve, pathFormat: /^PATH_FORMAT_BIP32$/, path: /^m\//, addressFormat }],
        },
      ],
      result: ['importWalletResult', { walletId: uuid, addresses: ['string'] }],
    },
    'submit/delete_wallets': {
      type: 'DELETE_WALLETS',
      parameters: async () => ({
        walletIds: [(await newWallet(world.root, 'Passing')).walletId],
        deleteWithoutExport: true,
      }),
      intent: ['deleteWalletsIntent', { walletIds: [uuid], deleteWithoutExport: 'boolean' }],
      result: ['deleteWalletsResult', { walletIds: [uuid] }],
    },
  },
  '4.6 Policies and the organization': {
    'query/get_policy': {
      parameters: () => ({ policyId: world.policyId }),
      resource: ['policy', policy],
    },
    'submit/set_organization_feature': {
      type: 'SET_ORGANIZATION_FEATURE',
      parameters: () => ({ name: 'FEATURE_NAME_WEBHOOK', value: 'http://127.0.0.1:9/hook' }),
      intent: ['setOrganizationFeatureIntent', feature],
      result: ['setOrganizationFeatureResult', { features: [feature] }],
    },
    'submit/remove_organization_feature': {
      type: 'REMOVE_ORGANIZATION_FEATURE',
      parameters: async () => {
        const left = { name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY', value: 'on' };
        await world.root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', left);
        return { name: 'FEATURE_NAME_WEBHOOK' };
      },
      intent: ['removeOrganizationFeatureIntent', { name: feature.name }],
      result: ['removeOrganizationFeatureResult', { features: [feature] }],
    },
  },
};

const table = Object.values(sections).flatMap((section) => Object.entries(section));

// The fields found in answers, and all declared ones.
const asserted = { operations: new Set<string>(), fields: new Set<string>() };
const declared = new Set<string>(
  table.flatMap(([path, row]) =>
    'type' in row
      ? [
          ...fieldsOf(envelope, `${path} activity`),
          ...fieldsOf(row.intent[1], `${path} ${row.intent[0]}`),
          ...fieldsOf(row.result[1], `${path} ${row.result[0]}`),
        ]
      : [
          ...fieldsOf(envelope, `${path} activity`),
          ...fieldsOf({ [row.resource[0]]: row.resource[1] }, path),
        ],
  ),
);

beforeAll(async () => {
  const oidc = await startOidcProvider();
  const service = await startTestVault({ oidcIssuers: [oidc.issuer] });
  const { root } = service;
  Object.assign(world, { oidc, service, root });
  world.userTagId = textOf(
    await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Tag', userIds: [] }),
    'userTagId',
  );
  world.keyTagId = textOf(
    await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
      privateKeyTagName: 'Tag',
      privateKeyIds: [],
    }),
    'privateKeyTagId',
  );
  world.privateKeyId = await newPrivateKey('Key', [world.keyTagId]);
  world.policyId = '4f0f8b6e-9a1c-4c6e-8d6b-0c5f0a9d7e11';
  await service.vault.units.write((tx) => {
    insertPolicy(tx, {
      id: world.policyId,
      organizationId: service.organizationId,
      name: 'Policy',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'WALLET'",
      consensus: 'approvers.count() >= 1',
      time: null,
      notes: 'Notes',
      createdAt: Date.now(),
      updatedAt: Date.now(),
    });
  });
});
afterAll(async () => {
  await world.service[Symbol.asyncDispose]();
  await world.oidc[Symbol.asyncDispose]();
});

describe.each(Object.entries(sections))('%s', (_section, rows) => {
  test.each(Object.entries(rows))('%s', async (path, row) => {
    const [, operation = ''] = path.split('/');
    const parameters = await row.parameters();
    const answer =
      'type' in row
        ? await world.root.submit(operation, row.type, parameters)
        : await world.root.query(operation, parameters);
    const activity = activityOf(answer);
    look(envelope, activity, `${path} activity`);
    expect(answer.headers['content-type']).toBe('application/json');
    if ('type' in row) lookAtSubmit(path, row, activity, parameters);
    else lookAtQuery(path, row, answer, activity);
    asserted.operations.add(path);
  });
});

function lookAtSubmit(path: string, row: Submit, activity: ActivityBody, parameters: Json): void {
  const [intentName, intentFields] = row.intent;
  const [resultName, resultFields] = row.result;
  expect(activity.type).toBe(`ACTIVITY_TYPE_${row.type}`);
  // 2.2: the result holds an activity of type, intent and result, the last two of exactly one object each.
  const inner = activity.result['activity'] as { type: string; intent: Json; result: Json };
  expect(inner.type).toBe(activity.type);
  expect(Object.keys(inner.intent)).toEqual([intentName]);
  expect(Object.keys(inner.result)).toEqual([resultName]);
  look(intentFields, inner.intent[intentName], `${path} ${intentName}`);
  look(resultFields, inner.result[resultName], `${path} ${resultName}`);
  // 4.1: below, intent and result are the objects inside activity.intent and activity.result.
  expect(activity.intent[intentName]).toEqual(inner.intent[intentName]);
  expect(activity.result[resultName]).toEqual(inner.result[resultName]);
  // The intent is the request.
  const [real = {}] = Object.values(activity.intent);
  expect(real).toEqual(parameters);
}

function lookAtQuery(path: string, row: Query, answer: Answer, activity: ActivityBody): void {
  const [name, shape] = row.resource;
  expect(activity.type).toBe('ACTIVITY_TYPE_UNKNOWN_V1');
  look({ [name]: shape }, activity.result, path);
  expect(answer.body?.[name]).toEqual(activity.result[name]);
}

describe('5 Authentication', () => {
  test('a request without a stamp is not answered', async () => {
    for (const [path] of table) {
      const answer = await world.root.post(path, '{}', { 'x-stamp': undefined });
      expect(answer.status, path).toBe(401);
    }
  });

  test.each([
    ['submit/oauth', 'OAUTH', 'CREDENTIAL_TYPE_OAUTH_KEY_P256', /^Oauth - \S+/],
    ['submit/otp_auth', 'OTP_AUTH', 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', /^OTP Auth - \S+/],
  ] as const)(
    '%s makes a key of 15 minutes, which its caller alone can open',
    async (path, type, credential, name) => {
      const row = table.find(([candidate]) => candidate === path)?.[1];
      const given = await row?.parameters();
      const { apiKeyName: _n, expirationSeconds: _e, invalidateExisting: _i, ...required } = given ?? {};
      const answer = await world.root.submit(path.slice('submit/'.length), type, required);
      const { userId, apiKeyId, credentialBundle } = resultOf(answer);
      const key = decryptCredentialBundle(credentialBundle as string, target.privateKey);
      const shown = await world.root.query('get_api_key', { apiKeyId });
      expect(shown.body?.['apiKey']).toMatchObject({
        apiKeyName: expect.stringMatching(name) as string,
        credential: { type: credential },
        expirationSeconds: '900',
      });
      expect(key).toMatch(/^[0-9a-f]{64}$/);
      expect(userId).toBe(await ann());
    },
  );
});

describe('7 and 9: errors and versions', () => {
  test('an operation takes its own types alone, under its own path', async () => {
    for (const [path, row] of table) {
      if (!('type' in row)) continue;
      const [, operation = ''] = path.split('/');
      const answer = await world.root.submit(operation, 'NO_SUCH_TYPE', {});
      expect(answer.status, path).toBe(400);
      expect(answer.body?.['message'], path).toContain(`ACTIVITY_TYPE_${row.type}`);
    }
  });
});

// Last: it counts what the tests before it found.
test('nothing of the specification is left out', () => {
  process.stdout.write(
    `specification: operations ${String(asserted.operations.size)} of 20, ` +
      `fields ${String(asserted.fields.size)} of ${String(declared.size)}\n`,
  );
  expect(table.map(([path]) => path).filter((path) => !operations.byPath.has(path))).toEqual([]);
  expect([...asserted.operations]).toHaveLength(20);
  expect([...declared].filter((field) => !asserted.fields.has(field))).toEqual([]);
});

/** Looks for every field of a shape, and remembers that it was there. */
function look(shape: Shape, value: unknown, at: string): void {
  if (shape === 'string' || shape === 'boolean') {
    expect(typeof value, at).toBe(shape);
  } else if (shape instanceof RegExp) {
    expect(value, at).toMatch(shape);
  } else if (isList(shape)) {
    expect(
      Array.isArray(value) && value.length > 0,
      `${at} is a list of something, got ${JSON.stringify(value)}`,
    ).toBe(true);
    // A field may be on some elements alone: a user without a telephone has no number.
    lookAtOne(shape[0], value as readonly unknown[], `${at}[]`);
    return;
  } else {
    for (const [field, inner] of Object.entries(shape)) {
      const record = value as Json | undefined;
      expect(record !== undefined && Object.hasOwn(record, field), `${at}.${field} is there`).toBe(true);
      look(inner, record?.[field], `${at}.${field}`);
    }
    return;
  }
  asserted.fields.add(at);
}

/** One element of a list has everything. */
function lookAtOne(shape: Shape, elements: readonly unknown[], at: string): void {
  const problems = elements.map((element) => {
    try {
      look(shape, element, at);
      return undefined;
    } catch (error) {
      return error;
    }
  });
  if (!problems.includes(undefined)) throw problems.at(-1);
}

/** The leaves of a shape, by their paths. */
function fieldsOf(shape: Shape, at: string): string[] {
  if (typeof shape === 'string' || shape instanceof RegExp) return [at];
  if (isList(shape)) return fieldsOf(shape[0], `${at}[]`);
  return Object.entries(shape).flatMap(([field, inner]) => fieldsOf(inner, `${at}.${field}`));
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

const textOf = (answer: Answer, field: string): string => resultOf(answer)[field] as string;

function userNamed(answer: Answer, name: string): Json {
  const users = answer.body?.['users'] as readonly Json[];
  const found = users.find(({ userName }) => userName === name);
  if (found === undefined) throw new Error(`there is no user ${name}`);
  return found;
}

const ann = async (): Promise<string> =>
  userNamed(await world.root.query('list_users'), 'Ann')['userId'] as string;

/** A code as it goes out to Ann by mail. */
const oneTimeCode = (userId: string): Promise<{ readonly otpId: string; readonly otpCode: string }> =>
  world.service.vault.units.write((tx) =>
    issueOneTimeCode(
      {
        tx,
        keys: world.service.vault.keyring,
        organizationId: world.service.organizationId,
        random: (_purpose, length) => crypto.getRandomValues(new Uint8Array(length)),
        now: Date.now(),
      },
      { purpose: 'sign in', userId, contact: { channel: 'email', address: 'ann@example.com' } },
    ),
  );

async function newPrivateKey(
  privateKeyName: string,
  privateKeyTags: readonly string[] = [],
): Promise<string> {
  const answer = await world.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      {
        privateKeyName,
        curve: 'CURVE_SECP256K1',
        privateKeyTags,
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
      },
    ],
  });
  return resultOf(answer).privateKeys[0]?.privateKeyId ?? '';
}

async function encryptedMnemonic(): Promise<string> {
  const { rootUserId: userId, organizationId, vault } = world.service;
  const begun = await world.root.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId });
  const { serverKeys } = await vault.rpc.status();
  return encryptWalletToBundle({
    mnemonic: `legal winner thank year wave sausage worth useful legal winner thank yellow`,
    importBundle: textOf(begun, 'importBundle'),
    userId,
    organizationId,
    dangerouslyOverrideSignerPublicKey: serverKeys?.signer ?? '',
  });
}
