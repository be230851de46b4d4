/** Sessions with a profile: what they may do, for how long, and every way in which one could get more than its scope. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { denied, fails, invalid, isRefused, missing } from '../support/refusals.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  newTestKey,
  newWallet,
  resultOf,
  startTestVault,
  TestClient,
} from '../support/support.ts';
import type { ActivityBody, Answer, Json, TestKey, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;
let wallet: { readonly walletId: string; readonly ethereum: string };

beforeAll(async () => {
  // No event is tried where there is no network: rows change by requests alone.
  service = await startTestVault({ substitutes: { shell: { isOnline: () => false } } });
  ({ root } = service);
  wallet = await newWallet(root);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const submit = (client: TestClient, kind: string, parameters: Json): Promise<Answer> =>
  client.submit(kind.toLowerCase().replace(/_v\d$/, ''), kind, parameters);

let numbers = 0;
const newName = (): string => `Profile ${String(++numbers)}`;

async function newProfile(scope: string, more: Json = {}, client = root): Promise<string> {
  const made = await submit(client, 'CREATE_SESSION_PROFILE', {
    sessionProfileName: newName(),
    scope,
    ...more,
  });
  return String(resultOf(made)['sessionProfileId']);
}

const login = (
  client: TestClient,
  key: TestKey,
  sessionProfileId: string,
  more: Json = {},
): Promise<Answer> => submit(client, 'STAMP_LOGIN', { publicKey: key.publicKey, sessionProfileId, ...more });

/** A session of the client's user. */
async function newSession(
  client: TestClient,
  sessionProfileId: string,
  more: Json = {},
): Promise<TestClient> {
  const key = newTestKey();
  activityOf(await login(client, key, sessionProfileId, more));
  return client.as(key);
}

const payload = (signWith: string) => ({
  ...{ signWith, payload: 'hello', encoding: 'PAYLOAD_ENCODING_TEXT_UTF8' },
  hashFunction: 'HASH_FUNCTION_KECCAK256',
});
const sign = (client: TestClient, signWith = wallet.ethereum): Promise<Answer> =>
  submit(client, 'SIGN_RAW_PAYLOAD_V2', payload(signWith));

const isDenied = (work: () => Promise<Answer>): Promise<void> => isRefused(service, work, denied);

const allow = async (condition: string, consensus?: string): Promise<void> => {
  const policy = { policyName: newName(), effect: 'EFFECT_ALLOW', condition, notes: '' };
  activityOf(
    await submit(root, 'CREATE_POLICY_V3', { ...policy, ...(consensus !== undefined && { consensus }) }),
  );
};

describe('a session of the root quorum with a profile', () => {
  test('does what its scope allows, and reads; the owner’s other rights are not its own', async () => {
    const session = await newSession(root, await newProfile("activity.action == 'SIGN'"));
    expect(activityOf(await sign(session)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect((await session.query('list_wallets', {})).status).toBe(200);
    await isDenied(() => submit(session, 'CREATE_USER_TAG', { userTagName: newName(), userIds: [] }));
    const policy = { policyName: newName(), effect: 'EFFECT_ALLOW', condition: '', notes: '' };
    await isDenied(() => submit(session, 'CREATE_POLICY_V3', policy));
    await isDenied(() =>
      submit(session, 'CREATE_SESSION_PROFILE', { sessionProfileName: 'Mine', scope: 'true' }),
    );
  });

  test('has its scope asked of each item, with the facts of the item', async () => {
    const other = await newWallet(root, 'Other');
    const scope = `activity.action == 'SIGN' && wallet.id == '${wallet.walletId}'`;
    const session = await newSession(root, await newProfile(scope));
    activityOf(await sign(session));
    await isDenied(() => sign(session, other.ethereum));
    const deleting = await newSession(root, await newProfile("wallet.label == 'Other'"));
    const both = { walletIds: [other.walletId, wallet.walletId], deleteWithoutExport: true };
    await isDenied(() => submit(deleting, 'DELETE_WALLETS', both));
  });

  test.each([
    'eth.tx.value < 5',
    "activity.params.session_profile_id == ''",
    "activity.resource == 'NOTHING'",
    'false',
  ])('may not do what %s does not say', async (scope) => {
    const session = await newSession(root, await newProfile(scope));
    await isDenied(() => sign(session));
  });

  // The class: whatever leads to a credential that has no profile. Operations say themselves that they add a way in.
  const target = newTestKey().publicKey;
  const apiKeys = [{ apiKeyName: 'K', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' }];
  const user = { userName: 'Mine', apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
  const mail = { appName: 'App', magicLinkTemplate: 'https://attacker.example/%s' };
  const email = { email: 'root@example.com', targetPublicKey: target, emailCustomization: mail };
  const provider = { providerName: 'P', oidcClaims: { iss: 'https://issuer.example', sub: 'm', aud: 'app' } };
  const token = 'a.b.c';
  const signature = {
    ...{ scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', publicKey: target, message: '{}' },
    signature: '00'.repeat(64),
  };
  const ways: Readonly<Record<string, (userId: string) => readonly [string, Json]>> = {
    create_api_keys: (userId) => ['CREATE_API_KEYS_V2', { userId, apiKeys }],
    create_authenticators: (userId) => [
      'CREATE_AUTHENTICATORS_V2',
      { userId, authenticators: [new SoftwareAuthenticator().params('Mine')] },
    ],
    create_oauth_providers: (userId) => ['CREATE_OAUTH_PROVIDERS_V2', { userId, oauthProviders: [provider] }],
    create_users: () => ['CREATE_USERS_V4', { users: [user] }],
    create_api_only_users: () => [
      'CREATE_API_ONLY_USERS',
      {
        apiOnlyUsers: [{ userName: 'Mine', userTags: [], apiKeys: [{ apiKeyName: 'K', publicKey: target }] }],
      },
    ],
    update_user: (userId) => ['UPDATE_USER', { userId, userEmail: 'mine@example.com' }],
    update_user_email: (userId) => ['UPDATE_USER_EMAIL', { userId, userEmail: 'mine@example.com' }],
    update_user_phone_number: (userId) => [
      'UPDATE_USER_PHONE_NUMBER',
      { userId, userPhoneNumber: '+15550000000' },
    ],
    update_root_quorum: (userId) => ['UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [userId] }],
    set_organization_feature: () => [
      'SET_ORGANIZATION_FEATURE',
      { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' },
    ],
    remove_organization_feature: () => [
      'REMOVE_ORGANIZATION_FEATURE',
      { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' },
    ],
    create_read_write_session: () => ['CREATE_READ_WRITE_SESSION_V2', { targetPublicKey: target }],
    create_read_only_session: () => ['CREATE_READ_ONLY_SESSION', {}],
    stamp_login: () => ['STAMP_LOGIN', { publicKey: target }],
    oauth: () => ['OAUTH', { oidcToken: token, targetPublicKey: target }],
    oauth_login: () => ['OAUTH_LOGIN', { oidcToken: token, publicKey: target }],
    otp_auth: () => ['OTP_AUTH', { otpId: crypto.randomUUID(), otpCode: '123456', targetPublicKey: target }],
    otp_login: () => [
      'OTP_LOGIN_V2',
      { verificationToken: token, publicKey: target, clientSignature: signature },
    ],
    email_auth: () => ['EMAIL_AUTH_V3', email],
    init_user_email_recovery: () => ['INIT_USER_EMAIL_RECOVERY_V2', email],
    recover_user: (userId) => [
      'RECOVER_USER',
      { userId, authenticator: new SoftwareAuthenticator().params('Mine') },
    ],
  };

  test('adds no way in, whatever its scope says', async () => {
    const adding = [...operations.byPath.values()].flatMap((operation) =>
      operation.kind === 'activity' && operation.vote === undefined && operation.stepUp?.for === 'wayIn'
        ? [operation.path]
        : [],
    );
    expect(Object.keys(ways).sort()).toEqual(adding.sort());
    const session = await newSession(root, await newProfile('true'));
    for (const [path, way] of Object.entries(ways)) {
      const answer = await session.submit(path, ...way(service.rootUserId));
      expect(answer.status, path).toBe(403);
      expect(answer.text, path).toContain('A session with a profile adds no way in');
    }
  });

  // The class: whatever changes what others may do, read or are taken for. What the scope forbids would happen in another's name, or after
  // the session. A new tag has an ID that no policy has.
  const noBundle = JSON.stringify({ encappedPublic: `04${'00'.repeat(64)}`, ciphertext: '00'.repeat(32) });
  const rights: Readonly<Record<string, (of: Others) => readonly [string, Json]>> = {
    create_policy: () => [
      'CREATE_POLICY_V3',
      { policyName: newName(), effect: 'EFFECT_ALLOW', condition: 'false', notes: '' },
    ],
    create_policies: () => [
      'CREATE_POLICIES',
      { policies: [{ policyName: newName(), effect: 'EFFECT_ALLOW', condition: 'false', notes: '' }] },
    ],
    update_policy: ({ policyId }) => ['UPDATE_POLICY_V2', { policyId, policyCondition: 'true' }],
    delete_policy: ({ policyId }) => ['DELETE_POLICY', { policyId }],
    delete_policies: ({ policyId }) => ['DELETE_POLICIES', { policyIds: [policyId] }],
    create_grant: () => ['CREATE_GRANT', { fingerprint: `sha256:${'0'.repeat(64)}`, span: 'TODAY' }],
    update_user_tag: ({ userId, userTagId }) => ['UPDATE_USER_TAG', { userTagId, addUserIds: [userId] }],
    delete_user_tags: ({ userTagId }) => ['DELETE_USER_TAGS', { userTagIds: [userTagId] }],
    update_user: ({ userId, userTagId }) => ['UPDATE_USER', { userId, userTagIds: [userTagId] }],
    update_user_name: ({ userId }) => ['UPDATE_USER_NAME', { userId, userName: newName() }],
    create_users: ({ userTagId }) => [
      'CREATE_USERS_V4',
      { users: [{ ...user, userName: newName(), apiKeys: [], userTags: [userTagId] }] },
    ],
    create_api_only_users: ({ userTagId }) => [
      'CREATE_API_ONLY_USERS',
      { apiOnlyUsers: [{ userName: newName(), userTags: [userTagId], apiKeys: [] }] },
    ],
    update_private_key_tag: ({ privateKeyTagId }) => ['UPDATE_PRIVATE_KEY_TAG', { privateKeyTagId }],
    delete_private_key_tags: ({ privateKeyTagId }) => [
      'DELETE_PRIVATE_KEY_TAGS',
      { privateKeyTagIds: [privateKeyTagId] },
    ],
    update_wallet: () => ['UPDATE_WALLET', { walletId: wallet.walletId, walletName: newName() }],
    create_smart_contract_interface: () => [
      'CREATE_SMART_CONTRACT_INTERFACE',
      {
        ...{ smartContractAddress: `0x${'11'.repeat(20)}`, smartContractInterface: '[]', label: newName() },
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      },
    ],
    delete_smart_contract_interface: () => [
      'DELETE_SMART_CONTRACT_INTERFACE',
      { smartContractInterfaceId: crypto.randomUUID() },
    ],
    create_known_address: () => [
      'CREATE_KNOWN_ADDRESS',
      { name: newName(), address: `0x${'22'.repeat(20)}` },
    ],
    import_private_key: ({ rootUserId }) => [
      'IMPORT_PRIVATE_KEY',
      {
        ...{ userId: rootUserId, privateKeyName: 'Cold storage', encryptedBundle: noBundle },
        ...{ curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] },
      },
    ],
    import_wallet: ({ rootUserId }) => [
      'IMPORT_WALLET',
      { userId: rootUserId, walletName: 'Cold storage', encryptedBundle: noBundle, accounts: [] },
    ],
    delete_known_address: () => ['DELETE_KNOWN_ADDRESS', { knownAddressId: crypto.randomUUID() }],
    create_webhook_endpoint: () => [
      'CREATE_WEBHOOK_ENDPOINT',
      { name: newName(), url: 'https://attacker.invalid/' },
    ],
    update_webhook_endpoint: () => [
      'UPDATE_WEBHOOK_ENDPOINT',
      { endpointId: crypto.randomUUID(), url: 'https://attacker.invalid/' },
    ],
    delete_webhook_endpoint: () => ['DELETE_WEBHOOK_ENDPOINT', { endpointId: crypto.randomUUID() }],
    set_organization_feature: () => [
      'SET_ORGANIZATION_FEATURE',
      { name: 'FEATURE_NAME_WEBHOOK', value: 'https://attacker.invalid/' },
    ],
    remove_organization_feature: () => ['REMOVE_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_WEBHOOK' }],
    create_sub_organization: () => [
      'CREATE_SUB_ORGANIZATION_V8',
      { subOrganizationName: newName(), rootUsers: [user], rootQuorumThreshold: 1 },
    ],
  };
  interface Others {
    readonly userId: string;
    readonly rootUserId: string;
    readonly policyId: string;
    readonly userTagId: string;
    readonly privateKeyTagId: string;
  }

  async function others(userId: string): Promise<Others> {
    const policy = { policyName: newName(), effect: 'EFFECT_DENY', condition: 'false', notes: '' };
    const made = async (kind: string, parameters: Json) => resultOf(await submit(root, kind, parameters));
    return {
      userId,
      rootUserId: service.rootUserId,
      policyId: String((await made('CREATE_POLICY_V3', policy))['policyId']),
      userTagId: String(
        (await made('CREATE_USER_TAG', { userTagName: newName(), userIds: [] }))['userTagId'],
      ),
      privateKeyTagId: String(
        (await made('CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: newName(), privateKeyIds: [] }))[
          'privateKeyTagId'
        ],
      ),
    };
  }

  afterAll(async () => {
    const { body } = await root.query('list_policies', {});
    const policies = body?.['policies'] as readonly { readonly policyId: string }[];
    activityOf(
      await submit(root, 'DELETE_POLICIES', { policyIds: policies.map(({ policyId }) => policyId) }),
    );
  });

  test('gives no other user what its scope forbids, unless the scope names that', async () => {
    const changing = [...operations.byPath.values()].flatMap((operation) =>
      operation.kind === 'activity' && operation.authority.changesRights !== undefined
        ? [operation.path]
        : [],
    );
    expect(Object.keys(rights).sort()).toEqual(changing.sort());
    const { userId } = await service.newUser(newName());
    const of = await others(userId);
    for (const scope of ['true', "activity.action != 'EXPORT'", "activity.resource != 'SECRET'"]) {
      const session = await newSession(root, await newProfile(scope));
      for (const [path, change] of Object.entries(rights)) {
        const answer = await session.submit(path, ...change(of));
        expect(answer.status, `${path} of ${scope}`).toBe(403);
        expect(answer.text, path).toContain('does not name what changes the rights of others');
      }
    }
  });

  test.each([
    ["activity.resource == 'POLICY'", 'create_policy'],
    ["activity.kind == 'CREATE_POLICY'", 'create_policy'],
    ["activity.type == 'ACTIVITY_TYPE_CREATE_POLICY_V3' && activity.action != 'EXPORT'", 'create_policy'],
    ["activity.resource in ['USER', 'WALLET'] && activity.action != 'EXPORT'", 'update_user_tag'],
    ["activity.kind == 'UPDATE_WALLET'", 'update_wallet'],
    ["activity.resource == 'POLICY'", 'create_known_address'],
    ["activity.resource == 'WEBHOOK_ENDPOINT'", 'create_webhook_endpoint'],
    ["activity.type == 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE'", 'set_organization_feature'],
    ["activity.kind == 'CREATE_SUB_ORGANIZATION'", 'create_sub_organization'],
  ])('with the scope %s changes rights by %s', async (scope, path) => {
    const { userId } = await service.newUser(newName());
    const session = await newSession(root, await newProfile(scope));
    const change = rights[path]?.(await others(userId));
    if (change === undefined) throw new Error(`no request of ${path}`);
    activityOf(await session.submit(path, ...change));
  });

  test('lets no other user export what its scope keeps in', async () => {
    const { client, userId } = await service.newUser(newName());
    const session = await newSession(root, await newProfile("activity.action != 'EXPORT'"));
    const condition = `activity.action == 'EXPORT' && submitter.id == '${userId}'`;
    const consensus = `approvers.any(user, user.id == '${userId}')`;
    const policy = { policyName: newName(), effect: 'EFFECT_ALLOW', condition, consensus, notes: '' };
    await isDenied(() => submit(session, 'CREATE_POLICY_V3', policy));
    const exported = { walletId: wallet.walletId, targetPublicKey: newTestKey().publicKey };
    await isDenied(() => submit(client, 'EXPORT_WALLET', exported));
  });

  test('does not leave its profile by a login, with its own key or another', async () => {
    const narrow = await newProfile("activity.action == 'SIGN' || activity.resource == 'AUTH'");
    const wide = await newProfile('true');
    const session = await newSession(root, narrow);
    for (const profile of ['', wide, narrow]) {
      await isDenied(() => login(session, session.key, profile));
      await isDenied(() => login(session, newTestKey(), profile));
    }
    expect(activityOf(await sign(session)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  });
});

test('a session with a profile does not take the last way in from its user, which it could not give back', async () => {
  const { client, userId } = await service.newUser(newName());
  const session = await newSession(client, await newProfile("activity.action == 'DELETE'"));
  const { body } = await client.query('get_api_keys', { userId });
  const keys = body?.['apiKeys'] as readonly {
    readonly apiKeyId: string;
    readonly credential: { readonly publicKey: string };
  }[];
  const lasting = keys.find(({ credential }) => credential.publicKey === client.key.publicKey);
  await fails(
    service,
    () => submit(session, 'DELETE_API_KEYS', { userId, apiKeyIds: [lasting?.apiKeyId] }),
    invalid(/^user missing valid credential/),
  );
  expect((await client.query('whoami')).status).toBe(200);
});

test('a scope gives no right that its user does not have', async () => {
  const { client } = await service.newUser(newName());
  const session = await newSession(client, await newProfile('true'));
  await isDenied(() => sign(session));
  await isDenied(() =>
    submit(session, 'CREATE_SESSION_PROFILE', { sessionProfileName: newName(), scope: 'true' }),
  );
});

describe('votes of a session', () => {
  /** An activity that waits for Ann’s vote. */
  async function waitingFor(annsId: string, kind: string, parameters: Json): Promise<ActivityBody> {
    const { client, userId } = await service.newUser(newName());
    await allow(
      `activity.kind == '${kind.replace(/_V\d$/, '')}' && submitter.id == '${userId}'`,
      `approvers.any(user, user.id == '${userId}') && approvers.any(user, user.id == '${annsId}')`,
    );
    const waiting = activityOf(await submit(client, kind, parameters));
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    return waiting;
  }
  const approve = (client: TestClient, { fingerprint }: ActivityBody) =>
    submit(client, 'APPROVE_ACTIVITY', { fingerprint });
  const reject = (client: TestClient, { fingerprint }: ActivityBody) =>
    submit(client, 'REJECT_ACTIVITY', { fingerprint });

  test('need the scope for the vote, and an approval for what it approves too', async () => {
    const ann = await service.newUser(newName());
    const signature = await waitingFor(ann.userId, 'SIGN_RAW_PAYLOAD_V2', payload(wallet.ethereum));
    const profileOf = async (scope: string) => newSession(ann.client, await newProfile(scope));
    const signing = await profileOf("activity.action == 'SIGN'");
    const approving = await profileOf("activity.action == 'APPROVE'");
    // The session sees the votes that it can give, and no others.
    const rights = async (session: TestClient, { id }: ActivityBody) => {
      const { canApprove, canReject } = activityOf(await session.query('get_activity', { activityId: id }));
      return [canApprove, canReject];
    };
    expect(await rights(ann.client, signature)).toEqual([true, true]);
    for (const session of [signing, approving]) {
      expect(await rights(session, signature)).toEqual([false, false]);
      await isDenied(() => approve(session, signature));
    }
    await isDenied(() => reject(approving, signature));
    const both = await profileOf("activity.action in ['SIGN', 'APPROVE']");
    const tagging = await waitingFor(ann.userId, 'CREATE_USER_TAG', { userTagName: newName(), userIds: [] });
    expect(await rights(both, tagging)).toEqual([false, false]);
    await isDenied(() => approve(both, tagging));
    expect(await rights(both, signature)).toEqual([true, false]);
    expect(activityOf(await approve(both, signature)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    const rejecting = await profileOf("activity.action == 'REJECT'");
    expect(await rights(rejecting, tagging)).toEqual([false, true]);
    expect(activityOf(await reject(rejecting, tagging)).status).toBe('ACTIVITY_STATUS_REJECTED');
  });

  test('approve no way in, rights of others by name alone, and nothing by the same request as the submitter’s', async () => {
    const ann = await service.newUser(newName());
    const all = await newSession(ann.client, await newProfile('true'));
    const users = [
      { userName: newName(), apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] },
    ];
    const keyed = [{ apiKeyName: 'K', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const harmless = await waitingFor(ann.userId, 'CREATE_USERS_V3', { users });
    expect(activityOf(await approve(all, harmless)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    const wayIn = await waitingFor(ann.userId, 'CREATE_USERS_V3', {
      users: [{ ...users[0], userName: newName(), apiKeys: keyed }],
    });
    await isDenied(() => approve(all, wayIn));
    const policy = { policyName: newName(), effect: 'EFFECT_ALLOW', condition: 'false', notes: '' };
    const rights = await waitingFor(ann.userId, 'CREATE_POLICY_V3', policy);
    await isDenied(() => approve(all, rights));
    const naming = await newSession(
      ann.client,
      await newProfile("activity.resource in ['POLICY', 'ACTIVITY']"),
    );
    expect(activityOf(await approve(naming, rights)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    const narrow = await newSession(ann.client, await newProfile("activity.action == 'EXPORT'"));
    const [vote] = wayIn.votes;
    await isDenied(() => narrow.post('submit/create_users', String(vote?.['message'])));
  });
});

describe('a login', () => {
  test('names a profile of its organization or of the parent, and no other', async () => {
    const key = newTestKey();
    const apiKeys = [{ apiKeyName: 'Root', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const below = async (subOrganizationName: string) => {
      const made = await submit(root, 'CREATE_SUB_ORGANIZATION_V8', {
        subOrganizationName,
        rootUsers: [{ userName: 'Root', apiKeys, authenticators: [], oauthProviders: [] }],
        rootQuorumThreshold: 1,
      });
      return new TestClient(service.url, String(resultOf(made)['subOrganizationId']), key);
    };
    const [one, other] = [await below('One'), await below('Other')];
    const [above, own] = [await newProfile("activity.action == 'SIGN'"), await newProfile('true', {}, one)];
    for (const profile of [above, own]) activityOf(await login(one, newTestKey(), profile));
    const nowhere = crypto.randomUUID();
    for (const [client, profile] of [
      [other, own],
      [root, own],
      [root, nowhere],
    ] as const) {
      const answer = await login(client, newTestKey(), profile);
      expect(answer.body).toMatchObject({ code: 5, message: `unable to find session profile ${profile}` });
      expect((await client.query('get_session_profile', { sessionProfileId: profile })).body).toMatchObject({
        ...{ code: 5, message: `unable to find session profile ${profile}` },
      });
    }
    const session = await newSession(one, above);
    expect((await submit(session, 'CREATE_USER_TAG', { userTagName: 'T', userIds: [] })).status).toBe(403);
    const listed = (await one.query('get_session_profiles', {})).body?.['sessionProfiles'] as readonly Json[];
    expect(listed.map(({ sessionProfileId }) => sessionProfileId)).toEqual(
      expect.arrayContaining([above, own]) as unknown,
    );
    expect(listed.at(-1)).toMatchObject({ sessionProfileId: own, scope: 'true' });
    const listedAbove = (await root.query('get_session_profiles', {})).body?.[
      'sessionProfiles'
    ] as readonly Json[];
    expect(listedAbove.map(({ sessionProfileId }) => sessionProfileId)).not.toContain(own);
    activityOf(await submit(one, 'DELETE_SUB_ORGANIZATION', { deleteWithoutExport: true }));
    expect(service.vault.connection.all('SELECT id FROM session_profiles WHERE id = ?', own)).toEqual([]);
  });

  test.each([
    [undefined, undefined, 900],
    ['600', undefined, 600],
    [undefined, '3600', 3600],
    ['600', '60', 60],
    ['600', '3600', 600],
  ])('by a profile of %s seconds, of %s wanted, lasts for %i', async (most, wanted, lasts) => {
    const profile = await newProfile('true', most === undefined ? {} : { expirationSeconds: most });
    const key = newTestKey();
    const more = wanted === undefined ? {} : { expirationSeconds: wanted };
    const { session } = resultOf(await login(root, key, profile, more)) as unknown as {
      readonly session: string;
    };
    const claims = decodeJwt(session);
    expect(claims).toMatchObject({ session_profile_id: profile, scope: 'true' });
    expect(Math.abs((claims.exp ?? 0) - service.clock.now() / 1000 - lasts)).toBeLessThan(30);
    const { apiKeys } = (await root.query('get_api_keys', { userId: service.rootUserId })).body as {
      readonly apiKeys: readonly { readonly credential: Json; readonly expirationSeconds: string }[];
    };
    const made = apiKeys.find(({ credential }) => credential['publicKey'] === key.publicKey);
    expect(made).toMatchObject({
      credential: { type: 'CREDENTIAL_TYPE_LOGIN', sessionProfileId: profile },
      expirationSeconds: String(lasts),
    });
  });

  test('has the profile’s name for its type, and shows the profile to policies', async () => {
    const sessionProfileName = newName();
    const profile = await newProfile('true', { sessionProfileName });
    const { client, userId } = await service.newUser(newName());
    const effect = 'EFFECT_DENY';
    const condition = `submitter.id == '${userId}' && activity.params.session_profile_id != '${profile}'`;
    activityOf(
      await submit(root, 'CREATE_POLICY_V3', { policyName: newName(), effect, condition, notes: '' }),
    );
    await isDenied(() => submit(client, 'STAMP_LOGIN', { publicKey: newTestKey().publicKey }));
    await isDenied(() => login(client, newTestKey(), ''));
    const { session } = resultOf(await login(client, newTestKey(), profile)) as unknown as {
      readonly session: string;
    };
    expect(decodeJwt(session)).toMatchObject({ session_type: sessionProfileName, user_id: userId });
    const listed = await root.query('list_sessions', { userId });
    expect(listed.body?.['sessions']).toMatchObject([{ credential: { sessionProfileId: profile } }]);
  });

  test('ends in time, and with its user’s own session', async () => {
    const session = await newSession(root, await newProfile('true', { expirationSeconds: '60' }), {
      expirationSeconds: '86400',
    });
    activityOf(await sign(session));
    service.clock.advance(61_000);
    expect((await sign(session)).status).toBe(401);
  });
});

describe('a profile', () => {
  test.each([
    ['an empty scope', { scope: ' ' }, /scope: expected an expression/i],
    ['a scope that is none', { scope: 'activity.action ==' }, /^invalid parameters\.scope: /],
    ['a scope of an unknown word', { scope: 'nonsense == 1' }, /^invalid parameters\.scope: /],
    [
      'a scope that counts',
      { scope: "RollingCount('1h', submitter.id) < 5" },
      /^invalid parameters\.scope: /,
    ],
    ['the name of a type of sessions', { sessionProfileName: 'SESSION_TYPE_READ_WRITE' }, /SESSION_TYPE_/],
    ['no life', { expirationSeconds: '0' }, /expiration/],
  ])('with %s is refused', async (_, more, message) => {
    const parameters = { sessionProfileName: newName(), scope: 'true', ...more };
    const answer = await submit(root, 'CREATE_SESSION_PROFILE', parameters);
    expect(answer.body).toMatchObject({ code: 3, message: expect.stringMatching(message) as string });
  });

  test('has a name of its own, in no other spelling', async () => {
    const again = (sessionProfileName: string) => () =>
      submit(root, 'CREATE_SESSION_PROFILE', { sessionProfileName, scope: 'true' });
    activityOf(await again('Café')());
    await fails(service, again('Café'), invalid(/must be unique, "Café" is taken$/));
    await fails(service, again('Cаfé'), invalid(/looks like "Café"/));
  });

  test('that is gone from the file leaves its sessions without any right', async () => {
    const profile = await newProfile('true');
    const session = await newSession(root, profile);
    const { connection, units } = service.vault;
    connection.pragma('foreign_keys = OFF');
    await units.write((tx) => tx.run('DELETE FROM session_profiles WHERE id = ?', profile));
    await isDenied(() => sign(session));
    await fails(service, () => login(root, newTestKey(), profile), missing(/unable to find session profile/));
    await units.write((tx) => tx.run('DELETE FROM api_keys WHERE session_profile_id = ?', profile));
    connection.pragma('foreign_keys = ON');
  });
});
