/** Sub-organizations: who is who across organizations, what a parent may do in them, and how they come and go. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertAuthenticator } from '../../main/storage/tables/authenticators.ts';
import { limits } from '../../main/operations/shared/limits.ts';
import { issueVerificationToken } from '../../main/operations/sign-in/verification-tokens.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  send,
  startTestVault,
  TestClient,
} from '../support/support.ts';
import type { Answer, Json, TestKey, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

let made = 0;

const apiKeyOf = ({ publicKey }: TestKey) => ({
  apiKeyName: 'Key',
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});

const userOf = (userName: string, more: Json = {}): Json => ({
  userName,
  apiKeys: [],
  authenticators: [],
  oauthProviders: [],
  ...more,
});

const create = (parameters: Json, version = 'V8'): Promise<Answer> =>
  root.submit('create_sub_organization', `CREATE_SUB_ORGANIZATION${version && `_${version}`}`, {
    subOrganizationName: `Sub ${String(++made)}`,
    rootQuorumThreshold: 1,
    ...parameters,
  });

interface Sub {
  readonly organizationId: string;
  readonly rootUserIds: readonly string[];
  readonly walletId: string;
  readonly addresses: readonly string[];
  readonly client: TestClient;
}

/** A sub-organization with one root user who has an API key, and a wallet. */
async function newSub(key = newTestKey(), more: Json = {}): Promise<Sub> {
  const result = resultOf(
    await create({
      rootUsers: [userOf('Ann', { apiKeys: [apiKeyOf(key)] })],
      wallet: { walletName: 'Wallet', accounts: [ethereumAccount] },
      ...more,
    }),
  ) as Json;
  const organizationId = result['subOrganizationId'] as string;
  return {
    organizationId,
    rootUserIds: result['rootUserIds'] as string[],
    ...(result['wallet'] as { readonly walletId: string; readonly addresses: readonly string[] }),
    client: new TestClient(service.url, organizationId, key),
  };
}

const errorOf = ({ status, body }: Answer): Json => ({
  status,
  message: body?.['message'],
  code: body?.['turnkeyErrorCode'],
});

const mismatch = (target: string, home = service.organizationId) => ({
  status: 400,
  message: `organization mismatch: request is targeting organization (${target}), but voters are in organization (${home})`,
  code: 'ORGANIZATION_MISMATCH',
});

describe('each user keeps a valid credential', () => {
  const noneLeft = (userId: string) => ({
    status: 400,
    message: `user missing valid credential: ${userId} would have none left; create another key first`,
    code: 'REQUEST_INVALID',
  });

  test.each<[string, Json]>([
    ['an email address', { userEmail: 'ann@example.com' }],
    ['a phone number', { userPhoneNumber: '+15551234567' }],
  ])('%s with an enabled login is one', async (_contact, contact) => {
    const key = newTestKey();
    const sub = await newSub(key, {
      rootUsers: [
        userOf('Ann', { ...contact, apiKeys: [apiKeyOf(key)] }),
        userOf('Bob', { userEmail: 'bob@example.com' }),
      ],
    });
    const [ann = '', bob = ''] = sub.rootUserIds;
    const submit = (type: string, parameters: Json) =>
      sub.client.submit(type.toLowerCase(), type, parameters);

    // Bob has nothing else.
    expect((await submit('UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [ann, bob] })).status).toBe(200);
    expect(errorOf(await submit('UPDATE_USER_EMAIL', { userId: bob, userEmail: '' }))).toEqual(noneLeft(bob));

    const { body } = await sub.client.query('get_api_keys', { userId: ann });
    const apiKeyIds = (body as { apiKeys: { apiKeyId: string }[] }).apiKeys.map(({ apiKeyId }) => apiKeyId);
    expect(resultOf(await submit('DELETE_API_KEYS', { userId: ann, apiKeyIds }))).toEqual({ apiKeyIds });
  });

  test('a contact that several users have, or whose login is off, is none', async () => {
    const key = newTestKey();
    const shared = { userEmail: 'both@example.com' };
    const sub = await newSub(key, {
      rootUsers: [userOf('Ann', { ...shared, apiKeys: [apiKeyOf(key)] }), userOf('Bob', shared)],
    });
    const [ann = '', bob = ''] = sub.rootUserIds;
    const quorum = { threshold: 1, userIds: [ann, bob] };
    const setQuorum = () => sub.client.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum);
    expect(errorOf(await setQuorum())).toEqual(noneLeft(bob));
    await sub.client.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId: ann, userEmail: '' });
    expect((await setQuorum()).status).toBe(200);
    for (const feature of ['EMAIL_AUTH', 'EMAIL_RECOVERY', 'OTP_EMAIL_AUTH']) {
      await sub.client.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', {
        name: `FEATURE_NAME_${feature}`,
      });
    }
    expect(errorOf(await setQuorum())).toEqual(noneLeft(bob));
  });
});

describe('whose a credential is', () => {
  test('a sub-organization’s own users act in it', async () => {
    const sub = await newSub();
    const signed = await sub.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: sub.addresses[0],
      payload: '00',
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    expect(activityOf(signed)).toMatchObject({
      organizationId: sub.organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      votes: [{ userId: sub.rootUserIds[0] }],
    });
  });

  test('the parent’s users read everything in it, and change nothing', async () => {
    const sub = await newSub();
    const parent = new TestClient(service.url, sub.organizationId, service.key);
    const { body } = await parent.query('list_wallets');
    expect(body).toMatchObject({
      wallets: [{ walletId: sub.walletId }],
      activity: { organizationId: sub.organizationId },
    });
    const refused = await parent.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Mine',
      accounts: [],
    });
    expect(errorOf(refused)).toEqual(mismatch(sub.organizationId));
    const deleted = await parent.submit('delete_sub_organization', 'DELETE_SUB_ORGANIZATION', {
      deleteWithoutExport: true,
    });
    expect(errorOf(deleted)).toEqual(mismatch(sub.organizationId));
  });

  test('whoami finds a user by the parent’s id', async () => {
    const sub = await newSub();
    const { body } = await new TestClient(service.url, service.organizationId, sub.client.key).query(
      'whoami',
    );
    expect(body).toMatchObject({
      organizationId: sub.organizationId,
      userId: sub.rootUserIds[0],
      username: 'Ann',
    });
    // And tells a parent's user who asks about a sub-organization that it is not of it.
    const asParent = await new TestClient(service.url, sub.organizationId, service.key).query('whoami');
    expect(asParent.body).toMatchObject({
      organizationId: service.organizationId,
      userId: service.rootUserId,
    });
  });

  test('no other request does', async () => {
    const sub = await newSub();
    const client = new TestClient(service.url, service.organizationId, sub.client.key);
    const unknown = {
      status: 401,
      message: `could not find public key in organization or its parent organization organizationId=${service.organizationId} publicKey=${sub.client.key.publicKey}`,
      code: 'PUBLIC_KEY_NOT_FOUND',
    };
    expect(errorOf(await client.query('list_wallets'))).toEqual(unknown);
    const wallet = await client.submit('create_wallet', 'CREATE_WALLET', { walletName: 'W', accounts: [] });
    expect(errorOf(wallet)).toEqual(unknown);
  });

  test('a key in several sub-organizations says not which is meant', async () => {
    const key = newTestKey();
    const [one, another] = [await newSub(key), await newSub(key)];
    const asked = await new TestClient(service.url, service.organizationId, key).query('whoami');
    expect(errorOf(asked)).toMatchObject({ status: 401, code: 'CREDENTIAL_CONFLICT' });
    expect(asked.body?.['message']).toContain('more than one suborg associated with a public key');
    for (const { client, organizationId } of [one, another]) {
      expect((await client.query('whoami')).body).toMatchObject({ organizationId });
    }
  });

  test('a key of both parent and sub-organization is of whichever is named', async () => {
    const sub = await newSub(service.key);
    expect((await sub.client.query('whoami')).body).toMatchObject({ organizationId: sub.organizationId });
    expect((await root.query('whoami')).body).toMatchObject({ organizationId: service.organizationId });
    resultOf(await sub.client.submit('create_wallet', 'CREATE_WALLET', { walletName: 'W', accounts: [] }));
  });

  test('the parent has its users signed in, as its own quorum and policies allow', async () => {
    await service.vault.messages.change({ channel: 'desktop', on: true });
    const sub = await newSub(newTestKey(), { rootUsers: [userOf('Ann', { userEmail: 'ann@in.example' })] });
    const { organizationId } = sub;
    const begin = (client: TestClient) =>
      new TestClient(service.url, organizationId, client.key).submit('email_auth', 'EMAIL_AUTH_V3', {
        email: 'ann@in.example',
        targetPublicKey: newTestKey().publicKey,
        emailCustomization: { appName: 'App' },
      });
    const activity = activityOf(await begin(root));
    expect(activity).toMatchObject({
      organizationId,
      votes: [{ userId: service.rootUserId, user: { userName: 'Root' } }],
    });
    const { body } = await new TestClient(service.url, organizationId, service.key).query('get_api_keys');
    expect(body).toMatchObject({
      apiKeys: [{ credential: { type: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256' } }],
    });
    const { client } = await service.newUser('Of the parent, and of no quorum');
    expect(errorOf(await begin(client))).toMatchObject({ status: 403, code: 'REQUEST_NOT_AUTHORIZED' });
  });

  test('stamp_login by the parent’s id is about the sub-organization', async () => {
    const sub = await newSub();
    const login = (organizationId: string, key: TestKey) =>
      new TestClient(service.url, organizationId, key).submit('stamp_login', 'STAMP_LOGIN', {
        publicKey: newTestKey().publicKey,
      });
    const activity = activityOf(await login(service.organizationId, sub.client.key));
    const [result] = Object.values(activity.result);
    const [, claims = ''] = String(result?.['session']).split('.');
    expect(activity.organizationId).toBe(sub.organizationId);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      organization_id: sub.organizationId,
      user_id: sub.rootUserIds[0],
    });
    // A user of the parent cannot sign in to a sub-organization this way.
    expect(errorOf(await login(sub.organizationId, service.key))).toEqual(mismatch(sub.organizationId));
  });

  test('an id of one is not a cursor in the list of another', async () => {
    const [one, another] = [await newSub(), await newSub()];
    const { body } = await one.client.query('list_wallet_accounts');
    const [account] = (body as { accounts: readonly { readonly walletAccountId: string }[] }).accounts;
    const after = account?.walletAccountId;
    const asked = { paginationOptions: { after } };
    expect((await one.client.query('list_wallet_accounts', asked)).status).toBe(200);
    expect((await another.client.query('list_wallet_accounts', asked)).status).toBe(404);
  });

  test('a key of one sub-organization is unknown in another', async () => {
    const [one, another] = [await newSub(), await newSub()];
    const asked = await new TestClient(service.url, another.organizationId, one.client.key).query('whoami');
    expect(errorOf(asked)).toMatchObject({ status: 401, code: 'PUBLIC_KEY_NOT_FOUND' });
  });

  test('passkeys are looked up the same way', async () => {
    const passkey = new SoftwareAuthenticator();
    const sub = await newSub(newTestKey(), {
      rootUsers: [userOf('Ann', { authenticators: [passkey.params('Ann')] })],
    });
    const ask = (organizationId: string, operation: string) => {
      const body = JSON.stringify({ organizationId });
      return send(service.url, {
        path: `/public/v1/query/${operation}`,
        headers: { 'content-type': 'application/json', 'x-stamp-webauthn': passkey.stamp(body) },
        body,
      });
    };
    const { organizationId } = sub;
    expect((await ask(service.organizationId, 'whoami')).body).toMatchObject({ organizationId });
    expect((await ask(organizationId, 'list_wallets')).status).toBe(200);
    expect(errorOf(await ask(service.organizationId, 'list_wallets'))).toMatchObject({
      status: 401,
      code: 'CREDENTIAL_NOT_FOUND',
    });
    const other = await newSub();
    await service.vault.units.write((tx) => {
      const row = tx.get<{ publicKey: string; credentialId: string }>(
        'SELECT public_key AS publicKey, credential_id AS credentialId FROM authenticators WHERE organization_id = ?',
        organizationId,
      );
      insertAuthenticator(tx, {
        id: crypto.randomUUID(),
        organizationId: other.organizationId,
        userId: other.rootUserIds[0] ?? '',
        name: 'The same',
        credentialId: row?.credentialId ?? '',
        publicKey: row?.publicKey ?? '',
        attestationType: 'none',
        aaguid: '',
        model: '',
        transports: '[]',
        signCount: 0,
        lastAssertion: null,
        createdAt: 0,
        updatedAt: 0,
      });
    });
    // A copy that came later takes nothing from the passkey that came with its sub-organization.
    expect((await ask(service.organizationId, 'whoami')).body).toMatchObject({ organizationId });
  });

  test('a sub-organization that is not there is answered as one that does not know the key', async () => {
    const nowhere = new TestClient(service.url, crypto.randomUUID(), service.key);
    expect(errorOf(await nowhere.query('whoami'))).toMatchObject({
      status: 401,
      code: 'PUBLIC_KEY_NOT_FOUND',
    });
  });
});

describe('making one', () => {
  const p256 = () => ({ apiKeyName: 'Key', publicKey: newTestKey().publicKey });
  const early = () => ({ userName: 'Ann', apiKeys: [p256()], authenticators: [] });
  const wallet = { walletName: 'Wallet', accounts: [ethereumAccount] };
  const provider = () => ({
    providerName: 'Issuer',
    oidcClaims: { iss: 'https://issuer.example', sub: crypto.randomUUID(), aud: 'app' },
  });
  type Version = readonly [version: string, result: string, parameters: () => Json, more: Json];
  const versions: Version[] = [
    [
      'V8',
      'V8',
      () => ({ rootUsers: [userOf('Ann', { oauthProviders: [provider()] })], wallet }),
      { wallet: {} },
    ],
    [
      'V7',
      'V7',
      () => ({ rootUsers: [userOf('Ann', { userPhoneNumber: '+15551234567' })], wallet }),
      { wallet: {} },
    ],
    [
      'V6',
      'V6',
      () => ({ rootUsers: [userOf('Ann', { apiKeys: [apiKeyOf(newTestKey())] })], wallet }),
      { wallet: {} },
    ],
    ['V5', 'V5', () => ({ rootUsers: [{ ...early(), oauthProviders: [] }], disableEmailAuth: true }), {}],
    ['V4', 'V4', () => ({ rootUsers: [early()], wallet }), { wallet: {} }],
    [
      'V3',
      'V3',
      () => ({
        rootUsers: [early()],
        privateKeys: [
          {
            privateKeyName: 'Key',
            curve: 'CURVE_SECP256K1',
            privateKeyTags: [],
            addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          },
        ],
      }),
      { privateKeys: [{ addresses: [{ format: 'ADDRESS_FORMAT_ETHEREUM' }] }] },
    ],
    ['V2', '', () => ({ rootUsers: [early()] }), {}],
  ];

  test.each<Version>(versions)('%s', async (version, result, parameters, more) => {
    const answer = await create(parameters(), version);
    const { result: shown, intent } = activityOf(answer);
    expect(Object.keys(intent)).toEqual([`createSubOrganizationIntent${version}`]);
    const made = shown[`createSubOrganizationResult${result}`];
    expect(made).toMatchObject({ rootUserIds: [expect.any(String)], ...more });
    const sub = new TestClient(service.url, made?.['subOrganizationId'] as string, service.key);
    const { body } = await sub.query('get_organization');
    expect(body?.['organizationData']).toMatchObject({
      rootQuorum: { threshold: 1, userIds: made?.['rootUserIds'] },
      users: [{ userName: 'Ann' }],
    });
  });

  test('the first type, with one authenticator', async () => {
    const answer = await root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION', {
      name: 'First',
      rootAuthenticator: new SoftwareAuthenticator().params('Key'),
    });
    const made = activityOf(answer).result['createSubOrganizationResult'];
    const sub = new TestClient(service.url, made?.['subOrganizationId'] as string, service.key);
    expect((await sub.query('list_users')).body).toMatchObject({
      users: [{ authenticators: [{ authenticatorName: 'Key' }] }],
    });
  });

  test('its users may sign in by mail and message, unless it is created without', async () => {
    const features = async (more: Json): Promise<unknown> => {
      const { organizationId } = await newSub(newTestKey(), more);
      const { body } = await new TestClient(service.url, organizationId, service.key).query(
        'get_organization_configs',
      );
      return (
        body as { configs: { readonly features: readonly { readonly name: string }[] } }
      ).configs.features.map(({ name }) => name);
    };
    expect(await features({})).toEqual([
      'FEATURE_NAME_EMAIL_AUTH',
      'FEATURE_NAME_EMAIL_RECOVERY',
      'FEATURE_NAME_SMS_AUTH',
      'FEATURE_NAME_OTP_EMAIL_AUTH',
    ]);
    expect(
      await features({
        disableEmailAuth: true,
        disableEmailRecovery: true,
        disableSmsAuth: true,
        disableOtpEmailAuth: true,
      }),
    ).toEqual([]);
  });

  test.each<[string, Json, RegExp]>([
    [
      'a quorum of more users than there are',
      { rootUsers: [userOf('A', { userEmail: 'a@example.com' })], rootQuorumThreshold: 2 },
      /rootQuorumThreshold: expected at most 1, the number of root users, got 2/,
    ],
    [
      'a quorum of nobody',
      { rootUsers: [userOf('A', { userEmail: 'a@example.com' })], rootQuorumThreshold: 0 },
      /^invalid parameters\.rootQuorumThreshold: quorum threshold must be non-zero integer, got 0$/,
    ],
    ['no root user', { rootUsers: [] }, /parameters\.rootUsers/],
    [
      'a user who cannot sign in',
      { rootUsers: [userOf('A')] },
      /user missing valid credential: parameters\.rootUsers\[0\]/,
    ],
    [
      'a user whose one way in is switched off',
      {
        rootUsers: [userOf('A', { userPhoneNumber: '+15551234567' })],
        disableSmsAuth: true,
      },
      /user missing valid credential: parameters\.rootUsers\[0\]/,
    ],
    [
      'two users of one name',
      { rootUsers: [1, 2].map(() => userOf('A', { userEmail: 'a@example.com' })) },
      /"A" is given twice/,
    ],
    [
      'a wallet account that cannot be',
      {
        rootUsers: [userOf('A', { userEmail: 'a@example.com' })],
        wallet: {
          walletName: 'W',
          accounts: [{ ...ethereumAccount, addressFormat: 'ADDRESS_FORMAT_SOLANA' }],
        },
      },
      /parameters\.wallet\.accounts\[0\]\.addressFormat/,
    ],
  ])('%s is refused, and nothing is left of it', async (_name, parameters, message) => {
    const count = () => service.vault.units.read((tx) => tx.get('SELECT count(*) FROM organizations'));
    const before = count();
    const { status, body } = await create(parameters);
    expect(status).toBe(400);
    expect(body?.['message']).toMatch(message);
    expect(count()).toEqual(before);
  });

  test('it has none of its own', async () => {
    const { client } = await newSub();
    const answer = await client.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: 'Nested',
      rootUsers: [userOf('A', { userEmail: 'a@example.com' })],
      rootQuorumThreshold: 1,
    });
    expect(errorOf(answer)).toMatchObject({
      status: 400,
      message: expect.stringContaining('a sub-organization has no sub-organizations of its own') as string,
    });
  });

  test('the same seed, key or name may be in several', async () => {
    const [one, another] = [await newSub(), await newSub()];
    expect(one.walletId).not.toBe(another.walletId);
    expect((await newWallet(one.client, 'Second')).walletId).not.toBe('');
    expect((await newWallet(another.client, 'Second')).walletId).not.toBe('');
  });

  test('it has fewer tags', async () => {
    const { client } = await newSub();
    const add = (name: string) =>
      client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: name, userIds: [] });
    for (let tag = 0; tag < limits.tagsPerSubOrganization; tag++) resultOf(await add(`Tag ${String(tag)}`));
    expect(errorOf(await add('One more'))).toMatchObject({ status: 429 });
  });
});

describe('contacts that are proven', () => {
  const tokenFor = (
    address: string,
    { organizationId = service.organizationId, publicKey, seconds = 600 }: TokenOptions = {},
  ): Promise<string> =>
    service.vault.units.write((tx) =>
      issueVerificationToken(
        {
          tx,
          keys: service.vault.keyring,
          organizationId,
          random: (_purpose, length) => crypto.getRandomValues(new Uint8Array(length)),
          now: Date.now(),
        },
        { channel: address.startsWith('+') ? 'sms' : 'email', address },
        publicKey,
        seconds,
      ),
    );
  interface TokenOptions {
    readonly organizationId?: string;
    readonly publicKey?: string;
    readonly seconds?: number;
  }

  const verified = async (filterType: string, filterValue: string) => {
    const { body } = await root.query('list_verified_suborgs', { filterType, filterValue });
    return body?.['organizationIds'];
  };

  const newcomer = (userEmail: string, more: Json = {}) => userOf('Newcomer', { userEmail, ...more });

  test('are so from the start where a token comes with the user', async () => {
    const both = {
      rootUsers: [newcomer('One@example.com'), userOf('Other', { userPhoneNumber: '+15552220000' })],
    };
    const one = await newSub(newTestKey(), { ...both, verificationToken: await tokenFor('one@example.com') });
    expect(await verified('EMAIL', 'one@example.com')).toEqual([one.organizationId]);
    expect(await verified('PHONE_NUMBER', '+15552220000')).toEqual([]);
    const two = await newSub(newTestKey(), { ...both, verificationToken: await tokenFor('+15552220000') });
    expect(await verified('PHONE_NUMBER', '+15552220000')).toEqual([two.organizationId]);
    const { body } = await root.query('list_verified_suborgs', { paginationOptions: { limit: '100' } });
    expect(body?.['organizationIds']).toEqual([one.organizationId, two.organizationId]);
  });

  test('are so until they change, and again by another token', async () => {
    const sub = await newSub(newTestKey(), {
      rootUsers: [userOf('Ann', { userEmail: 'ann@example.com', apiKeys: [apiKeyOf(newTestKey())] })],
      verificationToken: await tokenFor('ann@example.com'),
    });
    const key = newTestKey();
    await service.vault.units.write((tx) => {
      tx.run('UPDATE api_keys SET public_key = ? WHERE user_id = ?', key.publicKey, sub.rootUserIds[0] ?? '');
    });
    const client = new TestClient(service.url, sub.organizationId, key);
    const [userId] = sub.rootUserIds;
    const set = (userEmail: string, verificationToken?: string) =>
      client.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail, verificationToken });
    const name = await client.submit('update_user_name', 'UPDATE_USER_NAME', { userId, userName: 'Anna' });
    resultOf(name);
    expect(await verified('EMAIL', 'ann@example.com')).toEqual([sub.organizationId]);
    resultOf(await set('anna@example.com'));
    expect(await verified('EMAIL', 'anna@example.com')).toEqual([]);
    resultOf(await set('ann@example.com'));
    expect(await verified('EMAIL', 'ann@example.com')).toEqual([]);

    // By its own token, or its parent's.
    const { organizationId } = sub;
    resultOf(await set('anna@example.com', await tokenFor('anna@example.com', { organizationId })));
    expect(await verified('EMAIL', 'anna@example.com')).toEqual([organizationId]);
    resultOf(await set('ann@example.com', await tokenFor('ann@example.com')));
    expect(await verified('EMAIL', 'ann@example.com')).toEqual([organizationId]);
    const phone = { userId, userPhoneNumber: '+15552220001' };
    const token = await tokenFor(phone.userPhoneNumber);
    resultOf(
      await client.submit('update_user_phone_number', 'UPDATE_USER_PHONE_NUMBER', {
        ...phone,
        verificationToken: token,
      }),
    );
    expect(await verified('PHONE_NUMBER', '+15552220001')).toEqual([organizationId]);

    const sibling = await newSub();
    const refusals: (readonly [string, RegExp])[] = [
      [await tokenFor('else@example.com'), /is about another contact/],
      [await tokenFor('+15552220001'), /is about another contact/],
      [await tokenFor('new@example.com', { seconds: -1 }), /it has expired/],
      [
        await tokenFor('new@example.com', { organizationId: sibling.organizationId }),
        /it was issued in another organization/,
      ],
      ['no.token.atall', /it is none that this vault issued/],
    ];
    for (const [refused, message] of refusals) {
      const { status, body } = await set('new@example.com', refused);
      expect(status).toBe(400);
      expect(body?.['message']).toMatch(message);
    }
    expect(await verified('EMAIL', 'ann@example.com')).toEqual([organizationId]);
  });

  test('are not proven by a token without a user', async () => {
    const answer = await create({
      rootUsers: [newcomer('two@example.com')],
      verificationToken: await tokenFor('somebody@example.com'),
    });
    expect(errorOf(answer)).toMatchObject({
      status: 400,
      message: expect.stringContaining('none of parameters.rootUsers has the contact') as string,
    });
  });

  describe('by a token that is bound to a client’s key', () => {
    const client = newTestKey();
    const apiKeys = [{ ...apiKeyOf(newTestKey()), expirationSeconds: '3600' }];
    const user = newcomer('three@example.com', { apiKeys });
    const idOf = (token: string): unknown =>
      (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json)['id'];
    const signed = (token: string, change: Json = {}) => ({
      tokenId: idOf(token),
      type: 'USAGE_TYPE_SIGNUP',
      // As clients write it: numbers, and what is not there as empty or not at all.
      signupV2: {
        email: 'three@example.com',
        phoneNumber: '',
        apiKeys: [{ ...apiKeys[0], expirationSeconds: 3600 }],
        authenticators: [],
      },
      ...change,
    });
    const sign = (message: string, key = client) => {
      const { publicKey } = key;
      const der = (JSON.parse(Buffer.from(key.stamp(message), 'base64url').toString()) as Json)['signature'];
      return { publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message, signature: der };
    };
    const signUp = async (
      clientSignature: (token: string) => Json | undefined,
      token?: string,
    ): Promise<Answer> => {
      const bound = token ?? (await tokenFor('three@example.com', { publicKey: client.publicKey }));
      return create({
        rootUsers: [user],
        verificationToken: bound,
        clientSignature: clientSignature(bound),
      });
    };

    test('which signs for the user', async () => {
      const { subOrganizationId } = resultOf(
        await signUp((token) => sign(JSON.stringify(signed(token)))),
      ) as Json;
      expect(await verified('EMAIL', 'three@example.com')).toEqual([subOrganizationId]);
    });

    test.each<[string, (token: string) => Json | undefined, RegExp]>([
      ['which does not sign', () => undefined, /is bound to a key: expected a signature by it/],
      [
        'where another key signs',
        (token) => sign(JSON.stringify(signed(token)), newTestKey()),
        /clientSignature\.publicKey: expected the key/,
      ],
      [
        'for another use',
        (token) => sign(JSON.stringify(signed(token, { type: 'USAGE_TYPE_LOGIN' }))),
        /clientSignature\.message: expected JSON with this token's id/,
      ],
      [
        'for another token',
        (token) => sign(JSON.stringify(signed(token, { tokenId: crypto.randomUUID() }))),
        /clientSignature\.message: expected JSON with this token's id/,
      ],
      [
        'for another user',
        (token) => sign(JSON.stringify(signed(token, { signupV2: { email: 'three@example.com' } }))),
        /clientSignature\.message: expected "signupV2" with apiKeys/,
      ],
      [
        'for nobody',
        (token) => sign(JSON.stringify(signed(token, { signupV2: null }))),
        /clientSignature\.message: expected "signupV2" with apiKeys/,
      ],
      [
        'for something bottomless',
        (token) => {
          const levels = 20_000;
          const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`;
          const message = JSON.stringify(signed(token, { signupV2: { apiKeys: 0 } }));
          return sign(message.replace('"apiKeys":0', `"apiKeys":${nested}`));
        },
        /clientSignature\.message: expected/,
      ],
    ])('%s', async (_name, clientSignature, message) => {
      const { status, body } = await signUp(clientSignature);
      expect(status).toBe(400);
      expect(body?.['message']).toMatch(message);
    });

    test('and a signature needs such a token', async () => {
      const unbound = await tokenFor('three@example.com');
      const { body } = await signUp((token) => sign(JSON.stringify(signed(token))), unbound);
      expect(body?.['message']).toMatch(/is bound to no key/);
      const alone = await create({ rootUsers: [user], clientSignature: sign('{}') });
      expect(alone.body?.['message']).toMatch(/expected parameters\.verificationToken too/);
    });
  });
});

describe('finding them', () => {
  const find = async (filterType: string, filterValue: string, operation = 'list_suborgs') => {
    const { status, body, text } = await root.query(operation, { filterType, filterValue });
    expect(status, text).toBe(200);
    return body?.['organizationIds'];
  };

  test('by name, by what their users have, and by address', async () => {
    const passkey = new SoftwareAuthenticator();
    const key = newTestKey();
    const { organizationId, addresses } = await newSub(key, {
      subOrganizationName: 'To be found',
      rootUsers: [
        userOf('Findable', {
          userEmail: 'findable@example.com',
          userPhoneNumber: '+15550001111',
          apiKeys: [apiKeyOf(key)],
          authenticators: [passkey.params('Passkey')],
          oauthProviders: [
            { providerName: 'Issuer', oidcClaims: { iss: 'https://issuer.example', sub: 'x', aud: 'app' } },
          ],
        }),
      ],
    });
    const claims = { iss: 'https://issuer.example', aud: ['app', 'other'], azp: 'app', sub: 'x' };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.e30`;
    const credentialId = passkey.credentialId;
    const [address = ''] = addresses;
    const filters: Readonly<Record<string, readonly string[]>> = {
      NAME: ['To be found'],
      USERNAME: ['Findable'],
      EMAIL: ['findable@example.com', 'Findable@Example.com'],
      PHONE_NUMBER: ['+15550001111'],
      CREDENTIAL_ID: [credentialId],
      PUBLIC_KEY: [key.publicKey, key.publicKey.toUpperCase()],
      OIDC_TOKEN: [token],
      WALLET_ACCOUNT_ADDRESS: [address, address.toLowerCase()],
    };
    for (const [type, values] of Object.entries(filters)) {
      for (const value of values) expect(await find(type, value), type).toEqual([organizationId]);
    }
    for (const type of Object.keys(filters).filter((name) => name !== 'OIDC_TOKEN')) {
      expect(await find(type, 'nothing that is there'), type).toEqual([]);
    }
    expect(await find('EMAIL', 'findable@example.com', 'list_verified_suborgs')).toEqual([]);
    // In the parent are users too: they are not of a sub-organization.
    expect(await find('USERNAME', 'Root')).toEqual([]);
  });

  test.each<[Json, RegExp]>([
    [{ filterType: 'NAME' }, /filterType, filterValue: expected both/],
    [{ filterValue: 'x' }, /filterType, filterValue: expected both/],
    [{ filterType: 'COLOUR', filterValue: 'x' }, /invalid filterType: expected one of "", NAME/],
    [{ filterType: 'OIDC_TOKEN', filterValue: 'x' }, /expected an ID token/],
  ])('%j is refused', async (parameters, message) => {
    const { status, body } = await root.query('list_suborgs', parameters);
    expect(status).toBe(400);
    expect(body?.['message']).toMatch(message);
  });

  test('in pages, in the order of their making', async () => {
    const page = async (paginationOptions: Json): Promise<string[]> => {
      const { body } = await root.query('list_suborgs', { paginationOptions });
      return body?.['organizationIds'] as string[];
    };
    await newSub();
    const all = await page({ limit: '100' });
    expect((await page({})).length).toBe(Math.min(all.length, 10));
    const [first = '', second = '', third = ''] = all;
    expect(await page({ limit: '2' })).toEqual([first, second]);
    expect(await page({ limit: '1', after: first })).toEqual([second]);
    expect(await page({ limit: '1', before: third })).toEqual([second]);
    const { status } = await root.query('list_suborgs', {
      paginationOptions: { after: service.organizationId },
    });
    expect(status).toBe(404);
  });

  test('a sub-organization sees none', async () => {
    const { client } = await newSub();
    expect((await client.query('list_suborgs')).body).toMatchObject({ organizationIds: [] });
  });
});

describe('the window', () => {
  test('acts in one that has its key, and reads any', async () => {
    const { rpc } = service.vault;
    const owner = await root.query('get_user', { userId: service.rootUserId });
    const { apiKeys } = (
      owner.body as {
        user: {
          readonly apiKeys: readonly { readonly apiKeyName: string; readonly credential: TestKey }[];
        };
      }
    ).user;
    const windowKey = apiKeys.find(({ apiKeyName }) => apiKeyName === 'Keyhearth window')?.credential;
    const other = await newSub();
    const { organizationId, rootUserIds } = await newSub(newTestKey(), {
      rootUsers: [
        userOf('Ann', { userEmail: 'a@example.com', apiKeys: windowKey ? [apiKeyOf(windowKey)] : [] }),
      ],
    });
    const call = (path: string, body: Json) => rpc.call(`/public/v1/${path}`, body);
    const wallet = { type: 'ACTIVITY_TYPE_CREATE_WALLET', parameters: { walletName: 'W', accounts: [] } };
    expect(await call('submit/create_wallet', { organizationId, ...wallet })).toMatchObject({
      status: 200,
      body: { activity: { organizationId, votes: [{ userId: rootUserIds[0] }] } },
    });
    const elsewhere = { organizationId: other.organizationId };
    expect(await call('query/list_wallets', elsewhere)).toMatchObject({
      status: 200,
      body: { wallets: [{ walletId: other.walletId }] },
    });
    expect(await call('submit/create_wallet', { ...elsewhere, ...wallet })).toMatchObject({ status: 400 });
    expect(await call('query/whoami', {})).toMatchObject({
      body: { organizationId: service.organizationId },
    });
    const keys = await call('query/get_api_keys', { organizationId });
    const [key] = (keys.body as { readonly apiKeys: readonly { readonly apiKeyId: string }[] }).apiKeys;
    // The owner needs it to use the vault at all; here it is a key like others, and may go.
    const second = { ...apiKeyOf(newTestKey()), apiKeyName: 'Second' };
    const submit = (operation: string, type: string, parameters: Json) =>
      call(`submit/${operation}`, { organizationId, type: `ACTIVITY_TYPE_${type}`, parameters });
    const [userId] = rootUserIds;
    await rpc.prove({ with: 'recovery', phrase: service.recoveryPhrase });
    expect(
      await submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: [second] }),
    ).toMatchObject({
      status: 200,
    });
    expect(
      await submit('delete_api_keys', 'DELETE_API_KEYS', { userId, apiKeyIds: [key?.apiKeyId] }),
    ).toMatchObject({ status: 200 });
    expect(await submit('create_wallet', 'CREATE_WALLET', wallet.parameters)).toMatchObject({ status: 400 });
  });
});

describe('deleting one', () => {
  const remove = ({ client }: Sub, parameters: Json = {}) =>
    client.submit('delete_sub_organization', 'DELETE_SUB_ORGANIZATION', parameters);

  test('asks that its keys be exported first', async () => {
    const sub = await newSub();
    expect(errorOf(await remove(sub))).toMatchObject({
      status: 400,
      code: 'WALLET_ACCOUNT_NOT_EXPORTED',
      message: expect.stringContaining(sub.walletId) as string,
    });
    const key = resultOf(
      await sub.client.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
        privateKeys: [
          { privateKeyName: 'Key', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] },
        ],
      }),
    ).privateKeys[0]?.privateKeyId;
    await sub.client.submit('export_wallet', 'EXPORT_WALLET', {
      walletId: sub.walletId,
      targetPublicKey: newTestKey().publicKey,
    });
    expect(errorOf(await remove(sub))).toMatchObject({
      code: 'WALLET_ACCOUNT_NOT_EXPORTED',
      message: expect.stringContaining(key ?? 'a key') as string,
    });
    await sub.client.submit('export_private_key', 'EXPORT_PRIVATE_KEY', {
      privateKeyId: key,
      targetPublicKey: newTestKey().publicKey,
    });
    expect(resultOf(await remove(sub))).toEqual({ subOrganizationUuid: sub.organizationId });
  });

  test('leaves nothing of it but its log', async () => {
    const sub = await newSub(newTestKey(), {
      rootUsers: [
        userOf('Ann', { userEmail: 'ann@example.com', apiKeys: [apiKeyOf(newTestKey())] }),
        userOf('Bob', { authenticators: [new SoftwareAuthenticator().params('Bob')] }),
      ],
    });
    const { organizationId } = sub;
    const key = newTestKey();
    const another = await newSub(key);
    await service.vault.units.write((tx) => {
      tx.run(
        'UPDATE api_keys SET public_key = ? WHERE organization_id = ?',
        sub.client.key.publicKey,
        organizationId,
      );
    });
    await sub.client.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'Tag',
      userIds: sub.rootUserIds,
    });
    await sub.client.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId: sub.rootUserIds[0] });
    const activity = activityOf(await remove(sub, { deleteWithoutExport: true }));
    expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED', organizationId });
    expect(activity.votes[0]?.user).toMatchObject({ userName: 'Ann' });

    const { connection } = service.vault;
    const tables = connection.all<{ name: string }>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'",
    );
    const left = tables.flatMap(({ name }) => {
      const rows = connection.all<Json>(`SELECT * FROM "${name}"`);
      return rows.some((row) => Object.values(row).includes(organizationId)) ? [name] : [];
    });
    expect(left).toEqual(['activities']);
    expect(service.vault.guard.verifyNow()).toEqual([]);

    expect(errorOf(await sub.client.query('whoami'))).toMatchObject({
      status: 401,
      code: 'PUBLIC_KEY_NOT_FOUND',
    });
    const { body } = await root.query('list_suborgs', { paginationOptions: { limit: '100' } });
    expect(body?.['organizationIds']).not.toContain(organizationId);
    expect((await another.client.query('list_wallets')).body).toMatchObject({
      wallets: [{ walletId: another.walletId }],
    });
  });

  test('takes the whole quorum, and leaves what it decided in the log', async () => {
    const [first, second] = [newTestKey(), newTestKey()];
    const sub = await newSub(first, {
      rootUsers: [
        userOf('Ann', { apiKeys: [apiKeyOf(first)] }),
        userOf('Bob', { apiKeys: [apiKeyOf(second)] }),
      ],
      rootQuorumThreshold: 2,
    });
    const asked = activityOf(await remove(sub, { deleteWithoutExport: true }));
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    // A reader from the parent has no vote in it.
    const { organizationId } = sub;
    const { fingerprint } = asked;
    const approve = (key: TestKey) =>
      new TestClient(service.url, organizationId, key).submit('approve_activity', 'APPROVE_ACTIVITY', {
        fingerprint,
      });
    const parent = new TestClient(service.url, organizationId, service.key);
    expect((await parent.query('get_activity', { activityId: asked.id })).body?.['activity']).toMatchObject({
      canApprove: false,
      canReject: false,
    });
    expect(errorOf(await approve(service.key))).toEqual(mismatch(organizationId));
    const done = activityOf(await approve(second));
    expect(done).toMatchObject({
      id: asked.id,
      status: 'ACTIVITY_STATUS_COMPLETED',
      votes: [{ user: { userName: 'Ann' } }, { user: { userName: 'Bob' } }],
    });
    expect((await parent.query('whoami')).status).toBe(401);
  });

  test('comes upon no row that another still needs, whichever tables there are', () => {
    const { connection } = service.vault;
    const columns = (table: string) =>
      connection
        .all<{ name: string }>('SELECT name FROM pragma_table_info(?)', table)
        .map(({ name }) => name);
    const kept = new Set(['activities', 'vault', 'outbox', 'outbox_payloads']);
    const emptied = connection
      .all<{ name: string }>("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
      .map(({ name }) => name)
      .filter((name) => !kept.has(name) && columns(name).includes('organization_id'));
    expect(emptied).toContain('users');
    const left = connection.all<{ name: string; target: string; on_delete: string }>(
      `SELECT t.name AS name, f."table" AS target, f.on_delete AS on_delete
       FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS f WHERE t.schema = 'main'`,
    );
    const standing = left.filter(
      ({ name, target, on_delete: then }) =>
        emptied.includes(target) && then !== 'CASCADE' && (!emptied.includes(name) || name > target),
    );
    expect(standing).toEqual([]);
  });

  test('is not for the vault’s own organization', async () => {
    const answer = await root.submit('delete_sub_organization', 'DELETE_SUB_ORGANIZATION', {
      deleteWithoutExport: true,
    });
    expect(errorOf(answer)).toMatchObject({
      status: 400,
      message: expect.stringContaining('expected a sub-organization') as string,
    });
  });
});
