/**
 * Authority over users. Only that user and the root quorum may change a root user's credentials, contacts and
 * tags. Here a user outside the quorum, whom a policy allows everything, submits every kind of activity
 * against a root user.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { typeFilters } from '../../renderer/features/activity/activity-words.ts';
import { policyTemplates } from '../../renderer/features/policies/policy-templates.ts';
import { reordered, SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  newTestKey,
  newUserBy,
  resultOf,
  send,
  startTestVault,
  TestClient,
  newSubOrganization,
} from '../support/support.ts';
import type { Answer, Json, TestKey, TestVault } from '../support/support.ts';

/** A root user, and one who is to get no say over it. */
interface Scene {
  readonly root: TestClient;
  readonly attacker: TestClient;
  readonly attackerId: string;
  /** The root user. */
  readonly userId: string;
  readonly userEmail: string;
  readonly userPhoneNumber: string;
  readonly apiKeyId: string;
  readonly authenticatorId: string;
  readonly providerId: string;
  readonly sessionId: string;
  /** A tag that the root user has, and one that it has not. */
  readonly tagId: string;
  readonly freeTagId: string;
}

/** Parameters aimed at the root user by one type of activity, in one or several ways. */
type Aim = (scene: Scene) => readonly Json[];

const apiKeyOf = ({ publicKey }: TestKey) => ({
  apiKeyName: 'Key',
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});
/** Keys that an attacker has the private halves of. */
const attackers: TestKey[] = [];
const newAttackersKey = (): TestKey => {
  const key = newTestKey();
  attackers.push(key);
  return key;
};
const provider = {
  providerName: 'Mine',
  oidcClaims: { iss: 'https://issuer.example', sub: 'm', aud: 'app' },
};
const target = newTestKey().publicKey;
const mail = { appName: 'App', magicLinkTemplate: 'https://attacker.example/%s' };

/** By the last part of the path; what is not here is about no user, which a test asks of its parameters. */
const aims: Readonly<Record<string, Aim>> = {
  create_users: ({ userEmail, tagId }) => [
    {
      users: [
        {
          userName: 'Owner again',
          userEmail,
          apiKeys: [apiKeyOf(newAttackersKey())],
          authenticators: [],
          oauthProviders: [],
          userTags: [tagId],
        },
      ],
    },
  ],
  create_api_only_users: ({ userEmail, tagId }) => [
    {
      apiOnlyUsers: [
        {
          userName: 'Owner once more',
          userEmail,
          apiKeys: [{ apiKeyName: 'Key', publicKey: newAttackersKey().publicKey }],
          userTags: [tagId],
        },
      ],
    },
  ],
  update_user: ({ userId, freeTagId }) => [
    { userId, userName: 'Mine' },
    { userId, userEmail: 'attacker@example.com' },
    { userId, userPhoneNumber: '+15550000000' },
    { userId, userTagIds: [] },
    { userId, userTagIds: [freeTagId] },
  ],
  update_user_name: ({ userId }) => [{ userId, userName: 'Mine' }],
  update_user_email: ({ userId }) => [
    { userId, userEmail: 'attacker@example.com' },
    { userId, userEmail: '' },
  ],
  update_user_phone_number: ({ userId }) => [
    { userId, userPhoneNumber: '+15550000000' },
    { userId, userPhoneNumber: '' },
  ],
  delete_users: ({ userId }) => [{ userIds: [userId] }],
  create_api_keys: ({ userId }) => [{ userId, apiKeys: [apiKeyOf(newAttackersKey())] }],
  delete_api_keys: ({ userId, apiKeyId }) => [{ userId, apiKeyIds: [apiKeyId] }],
  create_authenticators: ({ userId }) => [
    { userId, authenticators: [new SoftwareAuthenticator().params('Mine')] },
  ],
  delete_authenticators: ({ userId, authenticatorId }) => [{ userId, authenticatorIds: [authenticatorId] }],
  create_oauth_providers: ({ userId }) => [{ userId, oauthProviders: [provider] }],
  delete_oauth_providers: ({ userId, providerId }) => [{ userId, providerIds: [providerId] }],
  create_user_tag: ({ userId }) => [{ userTagName: 'New', userIds: [userId] }],
  update_user_tag: ({ userId, tagId, freeTagId }) => [
    { userTagId: freeTagId, addUserIds: [userId], removeUserIds: [] },
    { userTagId: tagId, addUserIds: [], removeUserIds: [userId] },
  ],
  delete_user_tags: ({ tagId }) => [{ userTagIds: [tagId] }],
  update_root_quorum: ({ attackerId }) => [{ threshold: 1, userIds: [attackerId] }],

  create_read_write_session: ({ userId }) => [{ targetPublicKey: target, userId }],
  delete_sessions: ({ userId, sessionId }) => [{ userId, sessionIds: [sessionId] }],
  stamp_login: () => [{ publicKey: newAttackersKey().publicKey }],
  // It is about no user: a login names it.
  create_session_profile: () => [],
  create_read_only_session: () => [{}],
  email_auth: ({ userEmail }) => [{ email: userEmail, targetPublicKey: target, emailCustomization: mail }],
  init_user_email_recovery: ({ userEmail }) => [
    { email: userEmail, targetPublicKey: target, emailCustomization: mail },
  ],
  recover_user: ({ userId }) => [{ userId, authenticator: new SoftwareAuthenticator().params('Mine') }],
  init_otp: ({ userEmail, userPhoneNumber }) => [
    { otpType: 'OTP_TYPE_EMAIL', contact: userEmail, appName: 'App' },
    { otpType: 'OTP_TYPE_SMS', contact: userPhoneNumber, appName: 'App' },
  ],
  init_otp_auth: ({ userEmail, userPhoneNumber }) => [
    { otpType: 'OTP_TYPE_EMAIL', contact: userEmail.toUpperCase(), appName: 'App' },
    { otpType: 'OTP_TYPE_SMS', contact: userPhoneNumber, appName: 'App' },
  ],
  // These need a code or a token that the attacker does not have.
  verify_otp: () => [],
  otp_auth: () => [],
  otp_login: () => [],
  oauth: () => [],
  oauth_login: () => [],

  init_import_private_key: ({ userId }) => [{ userId }],
  init_import_wallet: ({ userId }) => [{ userId }],
  import_private_key: ({ userId }) => [
    {
      userId,
      privateKeyName: 'K',
      encryptedBundle: '{}',
      curve: 'CURVE_SECP256K1',
      addressFormats: [],
    },
  ],
  import_wallet: ({ userId }) => [{ userId, walletName: 'W', encryptedBundle: '{}', accounts: [] }],
  delete_sub_organization: () => [{ deleteWithoutExport: true }],
  set_organization_feature: () => [
    { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://attacker.example' },
  ],
  // It is a separate organization, where the attacker may be any user.
  create_sub_organization: ({ userEmail }) => [
    {
      subOrganizationName: 'Mine',
      rootUsers: [
        {
          userName: 'Owner',
          userEmail,
          apiKeys: [apiKeyOf(newAttackersKey())],
          authenticators: [],
          oauthProviders: [],
        },
      ],
      rootQuorumThreshold: 1,
    },
  ],
};

/**
 * Activities that the attacker may submit: they create something of the attacker's own, or need a secret that
 * the attacker does not have.
 */
const isHarmless = new Set([
  ...['create_users', 'create_api_only_users', 'create_sub_organization'],
  ...['stamp_login', 'create_read_only_session'],
  ...['import_private_key', 'import_wallet'],
]);

const activities = [...operations.byPath.values()].flatMap((operation) =>
  operation.kind === 'activity' && operation.vote === undefined ? [operation] : [],
);

/** True if parameters may name a user, a credential or a contact. */
const namesUser = (schema: unknown): boolean =>
  /"(?:[a-zA-Z]*User[a-zA-Z]*|user[A-Za-z]*|email|contact|apiKey[A-Za-z]*|authenticator[A-Za-z]*|provider[A-Za-z]*|session[A-Za-z]*|publicKey|oidcToken|otpId|verificationToken)":/.test(
    JSON.stringify(schema),
  );

test('2: every activity that may be about a user is aimed at a root user here', async () => {
  const { z } = await import('zod');
  const unnamed = activities
    .filter(({ versions }) =>
      versions.some(({ params }) =>
        namesUser(z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })),
      ),
    )
    .map(({ path }) => path)
    .filter((path) => !(path in aims));
  expect(unnamed).toEqual([]);
  const concerned = activities.filter(({ authority }) => authority.concerns !== undefined);
  for (const { path } of concerned) expect(aims[path], path).toBeDefined();
});

let service: TestVault;

beforeAll(async () => {
  service = await startTestVault();
  await service.vault.messages.change({ channel: 'desktop', on: true });
});
afterAll(() => service[Symbol.asyncDispose]());

/** Gives a root user all that one can have, and lets another user do everything. */
async function setScene(root: TestClient, userId: string): Promise<Scene> {
  const userEmail = `owner-${userId}@example.com`;
  const userPhoneNumber = '+15551112222';
  const submit = async (operation: string, type: string, parameters: Json): Promise<Json> =>
    resultOf(await root.submit(operation, type, parameters));
  await submit('update_user', 'UPDATE_USER', { userId, userEmail, userPhoneNumber });
  const spare = newTestKey();
  const { apiKeyIds } = await submit('create_api_keys', 'CREATE_API_KEYS_V2', {
    userId,
    apiKeys: [apiKeyOf(spare)],
  });
  const { authenticatorIds } = await submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
    userId,
    authenticators: [new SoftwareAuthenticator().params('Passkey')],
  });
  const { providerIds } = await submit('create_oauth_providers', 'CREATE_OAUTH_PROVIDERS_V2', {
    userId,
    oauthProviders: [
      { providerName: 'Owner', oidcClaims: { iss: 'https://issuer.example', sub: 'o', aud: 'app' } },
    ],
  });
  const { userTagId: tagId } = await submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'Owners',
    userIds: [userId],
  });
  const { userTagId: freeTagId } = await submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'Others',
    userIds: [],
  });
  const { apiKeyId: sessionId } = await submit('create_read_write_session', 'CREATE_READ_WRITE_SESSION_V2', {
    targetPublicKey: target,
    expirationSeconds: '100000',
  });
  const { userId: attackerId, client: attacker } = await newUserBy(root, 'Attacker');
  await submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'Everything',
    effect: 'EFFECT_ALLOW',
    notes: '',
  });
  return {
    root,
    attacker,
    attackerId,
    userId,
    userEmail,
    userPhoneNumber,
    apiKeyId: (apiKeyIds as string[])[0] ?? '',
    authenticatorId: (authenticatorIds as string[])[0] ?? '',
    providerId: (providerIds as string[])[0] ?? '',
    sessionId: sessionId as string,
    tagId: tagId as string,
    freeTagId: freeTagId as string,
  };
}

/** All that a root user is known by, and who is one. */
async function standing({ root, userId }: Scene): Promise<unknown> {
  const [user, configs, sessions, sent] = [
    await root.query('get_user', { userId }),
    await root.query('get_organization_configs'),
    await root.query('list_sessions', { userId }),
    service.vault.messages.shown().length,
  ];
  const { activity: _asked, ...rest } = sessions.body ?? {};
  const uses = JSON.stringify(rest).replaceAll(/"lastUsedAt":\{[^}]*\},?/g, '');
  return [user.body?.['user'], configs.body?.['configs'], uses, sent];
}

const submitAs = (client: TestClient, path: string, parameters: Json): Promise<Answer> => {
  const type = activities.find((operation) => operation.path === path)?.versions[0]?.type ?? '';
  return client.submit(path, type.replace('ACTIVITY_TYPE_', ''), parameters);
};

describe.each(['the vault’s own organization', 'a sub-organization'])('2: in %s', (where) => {
  let scene: Scene;

  beforeAll(async () => {
    if (where !== 'a sub-organization') {
      scene = await setScene(service.root, service.rootUserId);
      return;
    }
    const { client, rootUserId } = await newSubOrganization(service.root);
    scene = await setScene(client, rootUserId);
  });

  test.each(Object.keys(aims))(
    '%s by a user whom policies allow everything leaves a root user alone',
    async (path) => {
      const aimed = aims[path]?.(scene) ?? [];
      for (const parameters of aimed) {
        const before = await standing(scene);
        const answer = await submitAs(scene.attacker, path, parameters);
        await service.vault.messages.settled();
        expect(await standing(scene), answer.text).toEqual(before);
        // Refused for whom it concerns, and not for something else that is wrong with it.
        const how = [answer.status, answer.body?.['turnkeyErrorCode']];
        if (!isHarmless.has(path)) expect(how, answer.text).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        expect(JSON.stringify(answer.body?.['activity'] ?? {})).not.toContain(
          'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        );
      }
      // A key of the attacker's is a root user's nowhere but in an organization of its own.
      for (const key of [...attackers, scene.attacker.key]) {
        const { body } = await scene.root.as(key).query('whoami');
        expect(body?.['userId']).not.toBe(scene.userId);
      }
    },
  );

  test('what concerns a root user is denied as all is that no policy allows, and explained so', async () => {
    const { attacker, userId } = scene;
    const answer = await submitAs(attacker, 'create_api_keys', {
      userId,
      apiKeys: [apiKeyOf(newAttackersKey())],
    });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ code: 7, turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED' });
  });

  test('a user outside the quorum is managed as policies say', async () => {
    const { userId } = await newUserBy(scene.root, 'Plain');
    const answer = await submitAs(scene.attacker, 'create_api_keys', {
      userId,
      apiKeys: [apiKeyOf(newTestKey())],
    });
    expect(answer.status, answer.text).toBe(200);
  });

  test('a root user changes its own credentials, contacts and tags', async () => {
    const { root, userId, freeTagId } = scene;
    for (const [path, parameters] of [
      ['create_api_keys', { userId, apiKeys: [apiKeyOf(newTestKey())] }],
      ['update_user', { userId, userTagIds: [freeTagId] }],
    ] as const) {
      const answer = await submitAs(root, path, parameters);
      expect(answer.status, answer.text).toBe(200);
    }
  });
});

describe('2: a quorum of two', () => {
  test('decides together about a root user; one of them alone, about itself', async () => {
    await using vault = await startTestVault();
    const { root, rootUserId } = vault;
    const second = await vault.newUser('Second');
    const outside = await vault.newUser('Outside');
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Everything',
      effect: 'EFFECT_ALLOW',
      notes: '',
    });
    await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [rootUserId, second.userId],
    });
    const keyFor = (userId: string) => ({ userId, apiKeys: [apiKeyOf(newTestKey())] });
    const own = await submitAs(second.client, 'create_api_keys', keyFor(second.userId));
    expect(own.status, own.text).toBe(200);
    const waiting = await submitAs(second.client, 'create_api_keys', keyFor(rootUserId));
    const { fingerprint, status } = (waiting.body as { activity: Json }).activity;
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    // A vote from outside the quorum is none, whatever policies say.
    const approve = (client: TestClient) =>
      client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect((await approve(outside.client)).status).toBe(403);
    expect((await approve(root)).body).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_COMPLETED' } });
  });

  test('is not replaced by one member where a user’s own request waited, and the user’s key was deleted since', async () => {
    await using vault = await startTestVault();
    const { root, rootUserId } = vault;
    const [second, user] = [await vault.newUser('Second'), await vault.newUser('User')];
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'With the owner',
        effect: 'EFFECT_ALLOW',
        condition: "activity.resource == 'CREDENTIAL'",
        consensus: `approvers.any(user, user.id == '${user.userId}') && approvers.any(user, user.id == '${rootUserId}')`,
        notes: '',
      }),
    ) as Json;
    const keyFor = (key: ReturnType<typeof newTestKey>) => ({
      userId: user.userId,
      apiKeys: [apiKeyOf(key)],
    });
    const { body } = await root.query('get_api_keys', { userId: user.userId });
    const apiKeyIds = ((body?.['apiKeys'] ?? []) as Json[]).map(({ apiKeyId }) => apiKeyId);
    const waiting = await submitAs(user.client, 'create_api_keys', keyFor(newAttackersKey()));
    const { fingerprint, status } = (waiting.body as { activity: Json }).activity;
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const newKey = newTestKey();
    resultOf(await submitAs(root, 'create_api_keys', keyFor(newKey)));
    resultOf(await submitAs(root, 'delete_api_keys', { userId: user.userId, apiKeyIds }));
    resultOf(await submitAs(root, 'delete_policy', { policyId }));
    resultOf(
      await submitAs(root, 'update_root_quorum', { threshold: 2, userIds: [rootUserId, second.userId] }),
    );
    const approve = async (client: TestClient) =>
      (await client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint })).body;
    expect(await approve(root)).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' } });
    // The user may do it, with a key that is still there.
    expect(await approve(user.client.as(newKey))).toMatchObject({
      activity: { status: 'ACTIVITY_STATUS_COMPLETED' },
    });
  });

  test('is asked about a user who became a member while an activity waited', async () => {
    await using vault = await startTestVault();
    const { root, rootUserId } = vault;
    const [one, another, future] = [
      await vault.newUser('One'),
      await vault.newUser('Another'),
      await vault.newUser('Future'),
    ];
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two together',
      effect: 'EFFECT_ALLOW',
      consensus: 'approvers.count() >= 2',
      notes: '',
    });
    const waiting = await submitAs(one.client, 'create_api_keys', {
      userId: future.userId,
      apiKeys: [apiKeyOf(newTestKey())],
    });
    const { fingerprint } = (waiting.body as { activity: Json }).activity;
    await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', {
      threshold: 1,
      userIds: [rootUserId, future.userId],
    });
    const vote = await another.client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect(vote.status).toBe(403);
    const { body } = await root.query('get_api_keys', { userId: future.userId });
    expect(body?.['apiKeys']).toHaveLength(1);
  });
});

test('2: what is aimed at a root user’s contacts reaches them where the root user asks for it', async () => {
  await using vault = await startTestVault();
  await vault.vault.messages.change({ channel: 'desktop', on: true });
  const scene = await setScene(vault.root, vault.rootUserId);
  for (const path of ['init_otp', 'init_otp_auth', 'email_auth', 'init_user_email_recovery']) {
    for (const parameters of aims[path]?.(scene) ?? []) {
      // Few messages go to a contact in three minutes.
      vault.clock.advance(3 * 60_000);
      const before = vault.vault.messages.shown().length;
      const answer = await submitAs(scene.root, path, parameters);
      await vault.vault.messages.settled();
      expect(answer.status, `${path}: ${answer.text}`).toBe(200);
      expect(vault.vault.messages.shown().length, path).toBe(before + 1);
    }
  }
});

test('2: no ready-made policy gives its user a root user’s credentials', async () => {
  await using vault = await startTestVault();
  await vault.vault.messages.change({ channel: 'desktop', on: true });
  const scene = await setScene(vault.root, vault.rootUserId);
  const policies = (await scene.root.query('list_policies')).body?.['policies'] as readonly {
    readonly policyId: string;
  }[];
  await scene.root.submit('delete_policies', 'DELETE_POLICIES', {
    policyIds: policies.map(({ policyId }) => policyId),
  });
  for (const { draft } of policyTemplates.filter(({ draft: { effect } }) => effect === 'EFFECT_ALLOW')) {
    const answer = await scene.root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...draft,
      notes: '',
      consensus: draft.consensus.replaceAll('…', scene.attackerId),
      condition: draft.condition.replaceAll('…', scene.attackerId),
    });
    expect(answer.status, answer.text).toBe(200);
  }
  for (const [path, aim] of Object.entries(aims)) {
    for (const parameters of aim(scene)) {
      const look = async () => (await scene.root.query('get_user', { userId: scene.userId })).body?.['user'];
      const before = await look();
      const answer = await submitAs(scene.attacker, path, parameters);
      expect(await look(), `${path}: ${answer.text}`).toEqual(before);
    }
  }
});

describe('9: a registration takes nothing from another user', () => {
  let claims: TestVault;
  beforeAll(async () => {
    claims = await startTestVault();
    await claims.vault.messages.change({ channel: 'desktop', on: true });
  });
  afterAll(() => claims[Symbol.asyncDispose]());

  let made = 0;
  const newSub = async (credentials: Json = {}, creator = claims.root) => {
    const key = newTestKey();
    const answer = await creator.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: `Sub ${String(++made)}`,
      rootUsers: [
        {
          userName: 'Ann',
          userEmail: `ann-${String(made)}@example.com`,
          apiKeys: [apiKeyOf(key)],
          authenticators: [],
          oauthProviders: [],
          ...credentials,
        },
      ],
      rootQuorumThreshold: 1,
    });
    const { subOrganizationId: organizationId, rootUserIds } = resultOf(answer) as Json;
    const [rootUserId = ''] = rootUserIds as string[];
    const root = new TestClient(claims.url, organizationId as string, key);
    return { root, rootUserId, organizationId: organizationId as string };
  };
  /** A user of a sub-organization without any rights. */
  const newPlain = async () => newUserBy((await newSub()).root, 'Plain');
  const register = (client: TestClient, userId: string, key: TestKey) =>
    submitAs(client, 'create_api_keys', { userId, apiKeys: [apiKeyOf(key)] });
  const registerPasskey = (client: TestClient, userId: string, passkey: SoftwareAuthenticator) =>
    submitAs(client, 'create_authenticators', { userId, authenticators: [passkey.params('Mine')] });
  const whoami = async (key: TestKey, organizationId = claims.organizationId) =>
    (await new TestClient(claims.url, organizationId, key).query('whoami')).body;
  const whoamiBy = async (passkey: SoftwareAuthenticator, organizationId = claims.organizationId) => {
    const body = JSON.stringify({ organizationId });
    const headers = { 'x-stamp': undefined, 'x-stamp-webauthn': passkey.stamp(body) };
    return (await claims.root.post('query/whoami', body, headers)).body;
  };

  test('below the parent, a key of the parent’s is refused, however it is registered', async () => {
    const { userId, client } = await newPlain();
    const { organizationId } = client;
    const parents = new TestClient(claims.url, organizationId, claims.key);
    const refused = [
      await register(client, userId, claims.key),
      await submitAs(client, 'stamp_login', { publicKey: claims.key.publicKey }),
    ];
    for (const answer of refused) {
      expect(answer.status).toBe(409);
      expect(answer.body?.['message']).toContain('is registered in the parent organization already');
    }
    expect((await parents.query('whoami')).body).toMatchObject({ userId: claims.rootUserId });
    // The parent itself may still act below.
    const mail = await submitAs(parents, 'init_otp', {
      otpType: 'OTP_TYPE_EMAIL',
      contact: 'somebody@example.com',
      appName: 'App',
    });
    expect(mail.status, mail.text).toBe(200);
  });

  test('below the parent, a passkey of the parent’s is refused, and its id with another key changes nothing', async () => {
    const parents = new SoftwareAuthenticator();
    await registerPasskey(claims.root, claims.rootUserId, parents);
    const { userId, client } = await newPlain();
    const { credentialId, publicKey } = parents;
    for (const same of [publicKey, reordered(publicKey)]) {
      const copy = new SoftwareAuthenticator({ claims: { credentialId, publicKey: same } });
      expect((await registerPasskey(client, userId, copy)).status).toBe(409);
    }
    const namesake = new SoftwareAuthenticator({ claims: { credentialId } });
    const named = await registerPasskey(client, userId, namesake);
    expect(named.status, named.text).toBe(200);
    for (const organizationId of [claims.organizationId, client.organizationId]) {
      expect(await whoamiBy(parents, organizationId)).toMatchObject({ userId: claims.rootUserId });
    }
    expect(await whoamiBy(namesake, client.organizationId)).toMatchObject({ userId });
  });

  test('in the parent, a key or passkey from below is refused: its user still signs in by the parent’s id', async () => {
    const passkey = new SoftwareAuthenticator();
    const below = await newSub({ authenticators: [passkey.params('Ann')] });
    const plain = await claims.newUser(`Plain ${String(++made)}`);
    expect((await register(plain.client, plain.userId, below.root.key)).status).toBe(409);
    const { credentialId, publicKey } = passkey;
    for (const same of [publicKey, reordered(publicKey)]) {
      const copy = new SoftwareAuthenticator({ claims: { credentialId, publicKey: same } });
      expect((await registerPasskey(plain.client, plain.userId, copy)).status).toBe(409);
    }
    const namesake = new SoftwareAuthenticator({ claims: { credentialId } });
    expect((await registerPasskey(plain.client, plain.userId, namesake)).status).toBe(200);
    expect(await whoami(below.root.key)).toMatchObject({ userId: below.rootUserId });
    expect(await whoamiBy(passkey)).toMatchObject({ userId: below.rootUserId });
    expect(await whoamiBy(namesake)).toMatchObject({ userId: plain.userId });
  });

  test('in a neighbour, a key or passkey of another sub-organization’s changes nothing for its user', async () => {
    const passkey = new SoftwareAuthenticator();
    const victim = await newSub({ authenticators: [passkey.params('Ann')] });
    const second = newTestKey();
    await register(victim.root, victim.rootUserId, second);
    for (let neighbours = 0; neighbours < 3; neighbours += 1) {
      const { userId, client } = await newPlain();
      for (const key of [victim.root.key, second]) {
        const answer = await register(client, userId, key);
        expect(answer.status, answer.text).toBe(200);
      }
      const { credentialId, publicKey } = passkey;
      const copy = neighbours === 0 ? { credentialId } : { credentialId, publicKey };
      const claimed = await registerPasskey(client, userId, new SoftwareAuthenticator({ claims: copy }));
      expect(claimed.status, claimed.text).toBe(200);
    }
    const { organizationId, rootUserId: userId } = victim;
    for (const key of [victim.root.key, second]) {
      expect(await whoami(key)).toMatchObject({ organizationId, userId });
      const login = await submitAs(claims.root.as(key), 'stamp_login', { publicKey: newTestKey().publicKey });
      expect(login.body).toMatchObject({ activity: { organizationId, status: 'ACTIVITY_STATUS_COMPLETED' } });
    }
    expect(await whoamiBy(passkey)).toMatchObject({ organizationId, userId });
  });

  test('in a neighbour, a key that comes to another with its sub-organization later is that user’s', async () => {
    const early = await newPlain();
    const key = newTestKey();
    await register(early.client, early.userId, key);
    const late = await newSub({ apiKeys: [apiKeyOf(key)] });
    expect(await whoami(key)).toMatchObject({ userId: late.rootUserId });
  });

  test('users of the parent bring keys of their own below it, as backends do, and no other’s', async () => {
    const own = await newSub({ apiKeys: [apiKeyOf(claims.key)] });
    expect(await whoami(claims.key, own.organizationId)).toMatchObject({ userId: own.rootUserId });
    expect(await whoami(claims.key)).toMatchObject({ userId: claims.rootUserId });
    const backend = await claims.newUser('Backend');
    await claims.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Backend',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
      notes: '',
    });
    const others = await backend.client.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: 'With the owner’s key',
      rootUsers: [
        { userName: 'Ann', apiKeys: [apiKeyOf(claims.key)], authenticators: [], oauthProviders: [] },
      ],
      rootQuorumThreshold: 1,
    });
    expect(others.status).toBe(409);
  });

  test('a contact that is given to another user too still signs in and recovers the root user', async () => {
    const { root, rootUserId } = await newSub();
    const { body } = await root.query('get_user', { userId: rootUserId });
    const { userEmail } = (body as { user: { readonly userEmail: string } }).user;
    const { userId } = await newUserBy(root, 'Namesake');
    const given = await submitAs(root, 'update_user_email', { userId, userEmail });
    expect(given.status, given.text).toBe(200);
    for (const path of ['email_auth', 'init_user_email_recovery']) {
      const answer = await submitAs(new TestClient(claims.url, root.organizationId, claims.key), path, {
        email: userEmail,
        targetPublicKey: target,
        emailCustomization: { appName: 'App' },
      });
      expect(resultOf(answer), path).toMatchObject({ userId: rootUserId });
    }
  });
});

describe('10: who knows no credential is not told', () => {
  const errorOf = ({ status, body }: Answer) => ({ status, ...body });
  const without = (text: string, ...parts: readonly string[]): string =>
    parts.reduce((left, part) => left.replaceAll(part, '…'), text);

  test('whether an organization is there: an unknown one answers as one that does not know the key', async () => {
    const stranger = newTestKey();
    const nowhere = crypto.randomUUID();
    const answers = [];
    for (const organizationId of [nowhere, service.organizationId]) {
      for (const path of ['whoami', 'list_users']) {
        const answer = await new TestClient(service.url, organizationId, stranger).query(path);
        answers.push(without(JSON.stringify(errorOf(answer)), organizationId));
      }
      const activity = await submitAs(
        new TestClient(service.url, organizationId, stranger),
        'create_wallet',
        {},
      );
      answers.push(without(JSON.stringify(errorOf(activity)), organizationId));
    }
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({
      status: 401,
      turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND',
    });
  });

  test('whether a passkey is there: an unknown id answers as a known one with another’s signature', async () => {
    const known = new SoftwareAuthenticator();
    await submitAs(service.root, 'create_authenticators', {
      userId: service.rootUserId,
      authenticators: [known.params('Known')],
    });
    const answers = [];
    for (const organizationId of [crypto.randomUUID(), service.organizationId]) {
      for (const credentialId of [known.credentialId, new SoftwareAuthenticator().credentialId]) {
        const stranger = new SoftwareAuthenticator({ claims: { credentialId } });
        for (const otherwise of [
          {},
          { origin: 'https://elsewhere.example' },
          { rpId: 'elsewhere.example' },
        ]) {
          const body = JSON.stringify({ organizationId });
          const answer = await service.root.post('query/list_users', body, {
            'x-stamp': undefined,
            'x-stamp-webauthn': stranger.stamp(body, otherwise),
          });
          answers.push(without(JSON.stringify(errorOf(answer)), organizationId, credentialId));
        }
      }
    }
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({
      status: 401,
      turnkeyErrorCode: 'CREDENTIAL_NOT_FOUND',
    });
  });
});

describe('10, 16: names', () => {
  const named = (userName: string) =>
    service.root.submit('create_users', 'CREATE_USERS_V3', {
      users: [{ userName, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] }],
    });

  test('10: that look like another’s are refused', async () => {
    expect((await named('Marple')).status).toBe(200);
    for (const userName of ['Маrple', 'Marple\u3164', 'Ｍarple', 'Marp\u00adle', 'Marple\u202e']) {
      expect((await named(userName)).status, userName).toBe(400);
    }
    const wallets = ['Vault', 'Vаult'].map((walletName) =>
      service.root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] }),
    );
    expect((await Promise.all(wallets)).map(({ status }) => status)).toEqual([200, 400]);
  });

  test('16: in any script are taken, with its joiners and with joined emoji', async () => {
    for (const userName of ['می\u200cخواهم', 'ශ\u0dca\u200dරී', 'Ольга', '👩\u200d🚀 Ann', '山田\u3000太郎']) {
      const answer = await named(userName);
      expect(answer.status, answer.text).toBe(200);
    }
  });
});

test('16: limits are documented, raised by a setting, and answered as limits and not as rates', async () => {
  await using vault = await startTestVault();
  const keys = (count: number) => ({
    userId: vault.rootUserId,
    apiKeys: Array.from({ length: count }, () => apiKeyOf(newTestKey())),
  });
  const refused = await submitAs(vault.root, 'create_api_keys', keys(11));
  expect(refused.body).toMatchObject({ code: 8, turnkeyErrorCode: 'LIMIT_REACHED' });
  expect(refused.body?.['message']).toContain('10 are allowed');
  await vault.vault.rpc.changeSettings({ limits: 2 });
  const taken = await submitAs(vault.root, 'create_api_keys', keys(11));
  expect(taken.status, taken.text).toBe(200);
  const beyond = await submitAs(vault.root, 'create_api_keys', keys(11));
  expect(beyond.body?.['message']).toContain('20 are allowed');
  const { body } = await send(vault.url, { method: 'GET', path: '/openapi.json' });
  const { description } = (body as { info: { readonly description: string } }).info;
  for (const limit of ['100 users', '1000 private keys', '10 authenticators', 'LIMIT_REACHED']) {
    expect(description).toContain(limit);
  }
});

test('the window’s filter by type has every version of each', () => {
  const versionsOf = new Map(
    activities.flatMap(({ versions }) => {
      const types = versions.map(({ type }) => type).sort();
      return types.map((type) => [type, types]);
    }),
  );
  for (const { types } of typeFilters) expect([...types].sort()).toEqual(versionsOf.get(types[0] ?? ''));
});
