/**
 * Actions that the owner's window allows to anyone in front of it, and those that need a secret of the
 * owner's.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { policiesOfSpender } from '../../main/lib/policies/spenders.ts';
import { operations } from '../../main/operations/index.ts';
import { sdkCalls, setScene, type Scene } from '../vendor/sdk-calls.ts';
import {
  newWallet,
  resultOf,
  runCommand,
  startTestVault,
  temporaryDirectory,
  type Json,
} from '../support/support.ts';
import { goodBodies, targets } from '../api/bad-bodies.ts';
import { keptVendorOperations } from '../vendor/vendor-operations.ts';

const newestTypes = new Map(keptVendorOperations().operations.map(({ path, type }) => [path, type]));

const refused = { status: 403, body: { code: 7, turnkeyErrorCode: 'OWNER_PROOF_REQUIRED' } };

/** The window over a scene: its calls, and what brings and ends a proof. */
async function windowOf({ service, target }: Scene) {
  const { rpc } = service.vault;
  const { walletId } = await newWallet(service.root, 'Exported');
  const submit = async (
    path: string,
    type: string,
    { organizationId, ...parameters }: Json,
  ): Promise<Json> => {
    const { status, body } = await rpc.call(`/public/v1/submit/${path}`, {
      ...(organizationId === undefined ? {} : { organizationId }),
      type,
      parameters,
    });
    return { status, body };
  };
  const prove = () => rpc.prove({ with: 'recovery', phrase: service.recoveryPhrase });
  /** An export uses it up. */
  const endStepUp = async (): Promise<void> => {
    await prove();
    const type = 'ACTIVITY_TYPE_EXPORT_WALLET';
    const parameters = { walletId, targetPublicKey: target };
    expect(await submit('export_wallet', type, parameters)).toMatchObject({ status: 200 });
  };
  return { submit, prove, endProof: endStepUp };
}

const guarded = [
  'create_api_keys',
  'create_api_only_users',
  'create_authenticators',
  'create_oauth_providers',
  'create_policies',
  'create_policy',
  'create_read_only_session',
  'create_read_write_session',
  'create_users',
  'email_auth',
  'export_private_key',
  'export_secrets',
  'export_wallet',
  'export_wallet_account',
  'init_user_email_recovery',
  'oauth',
  'oauth_login',
  'otp_auth',
  'otp_login',
  'recover_user',
  'stamp_login',
  'update_policy',
  'update_root_quorum',
  'update_user_email',
  'update_user_phone_number',
];

test('of all operations, those that add a way in, export or let any user act need a proof, which lets them through', async () => {
  await using scene = await setScene();
  const { submit, prove, endProof: endStepUp } = await windowOf(scene);
  const found: string[] = [];
  for (const { path, parameters: parametersOf, keep } of sdkCalls) {
    const [kind, operation = ''] = path.split('/');
    const parameters = (await parametersOf(scene)) as unknown as Json;
    const ask = async (): Promise<Json> => {
      if (kind === 'submit') return submit(operation, String(newestTypes.get(path)), parameters);
      const { status, body } = await scene.service.vault.rpc.call(`/public/v1/${path}`, parameters);
      return { status, body };
    };
    let answer = await ask();
    if ((answer['body'] as Json)['turnkeyErrorCode'] === refused.body.turnkeyErrorCode) {
      expect(answer).toMatchObject(refused);
      found.push(operation);
      await prove();
      answer = await ask();
      await endStepUp();
    }
    // Only a key of the sub-organization itself deletes it, which the window has not.
    if (operation === 'delete_sub_organization') continue;
    expect(answer, path).toMatchObject({ status: 200 });
    const { activity, ...rest } = answer['body'] as Json & { readonly activity?: { readonly result?: Json } };
    const result = Object.values(activity?.result ?? {})[0] as Json | undefined;
    const kept = (keep as ((answer: unknown) => Readonly<Record<string, string>>) | undefined)?.({
      ...rest,
      activity,
      ...result,
    });
    for (const [what, id] of Object.entries(kept ?? {})) {
      scene.kept.set(what as Parameters<Scene['id']>[0], id);
    }
  }
  expect(found.sort()).toEqual(guarded);
  // A new operation about people and their sign-in must be added to one of these lists.
  const free = [...operations.byPath.values()].flatMap((operation) =>
    operation.kind === 'activity' &&
    operation.vote === undefined &&
    operation.stepUp === undefined &&
    ['AUTH', 'CREDENTIAL', 'OTP', 'RECOVERY', 'USER', 'ORGANIZATION'].includes(operation.authority.resource)
      ? [operation.path]
      : [],
  );
  expect(free.sort()).toEqual([
    'create_sub_organization',
    'create_user_tag',
    'delete_api_keys',
    'delete_authenticators',
    'delete_oauth_providers',
    'delete_sessions',
    'delete_sub_organization',
    'delete_user_tags',
    'delete_users',
    'init_otp',
    'init_otp_auth',
    'update_organization_name',
    'update_user_name',
    'update_user_tag',
    'verify_otp',
  ]);
});

test('exports at one time need a step-up each, and one that fails uses none up', async () => {
  await using scene = await setScene();
  const { submit, prove } = await windowOf(scene);
  const { walletId } = await newWallet(scene.service.root, 'Treasury');
  const ask = (parameters: Json): Promise<Json> =>
    submit('export_wallet', 'ACTIVITY_TYPE_EXPORT_WALLET', { targetPublicKey: scene.target, ...parameters });
  await prove();
  expect(await ask({ walletId: crypto.randomUUID() })).toMatchObject({ status: 404 });
  const answers = await Promise.all([ask({ walletId }), ask({ walletId }), ask({ walletId })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
});

test('parameters decide where only some of them leave a way in', async () => {
  await using scene = await setScene();
  const { submit, prove, endProof: endStepUp } = await windowOf(scene);
  const bare = { userName: 'Ann', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  const create = (...users: readonly Json[]) =>
    submit('create_users', 'ACTIVITY_TYPE_CREATE_USERS_V3', { users });
  const made = await create(bare);
  expect(made).toMatchObject({ status: 200 });
  const { userIds } = resultOf(made as unknown as Parameters<typeof resultOf>[0]) as {
    readonly userIds: readonly string[];
  };
  const [userId] = userIds;
  const update = (change: Json) => submit('update_user', 'ACTIVITY_TYPE_UPDATE_USER', { userId, ...change });
  const setFeature = (name: string, value?: string) =>
    submit('set_organization_feature', 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name, value });
  const removeFeature = (name: string) =>
    submit('remove_organization_feature', 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name });

  const needing = [
    () => create({ ...bare, userName: 'Bob' }, { ...bare, userName: 'Cid', userEmail: 'c@example.com' }),
    () => update({ userPhoneNumber: '+15551234567' }),
    () => setFeature('FEATURE_NAME_EMAIL_AUTH'),
    () => setFeature('FEATURE_NAME_WEBAUTHN_ORIGINS', 'https://app.example'),
    // Without a list of pages every page of the relying party will do.
    () => removeFeature('FEATURE_NAME_WEBAUTHN_ORIGINS'),
  ];
  for (const call of needing) {
    expect(await call()).toMatchObject(refused);
    await prove();
    expect(await call()).toMatchObject({ status: 200 });
    await endStepUp();
  }
  const free = [
    () => update({ userName: 'Anna', userPhoneNumber: '', userTagIds: [] }),
    () => setFeature('FEATURE_NAME_WEBHOOK', 'http://127.0.0.1:9/hook'),
    () => removeFeature('FEATURE_NAME_WEBHOOK'),
    () => removeFeature('FEATURE_NAME_EMAIL_AUTH'),
  ];
  for (const call of free) expect(await call()).toMatchObject({ status: 200 });
  // A fault of the request is reported first.
  expect(await create({ ...bare, userName: '', userEmail: 'd@example.com' })).toMatchObject({ status: 400 });
  expect(await submit('create_api_keys', 'ACTIVITY_TYPE_CREATE_USERS', {})).toMatchObject({ status: 400 });
});

test('a policy that any user may use needs a proof, and one that goes beyond a bot’s budget', async () => {
  await using scene = await setScene();
  const { submit, prove, endProof: endStepUp } = await windowOf(scene);
  let made = 0;
  const policy = (condition: string, consensus = '', effect = 'EFFECT_ALLOW') => ({
    policyName: `Policy ${String((made += 1))}`,
    effect,
    condition,
    consensus,
    notes: '',
  });
  const create = (of: Json) => submit('create_policy', 'ACTIVITY_TYPE_CREATE_POLICY_V3', of);
  const createAll = (...policies: readonly Json[]) =>
    submit('create_policies', 'ACTIVITY_TYPE_CREATE_POLICIES', { policies });
  const update = (change: Json) => submit('update_policy', 'ACTIVITY_TYPE_UPDATE_POLICY_V2', change);
  const older = (policyName: string, selectors: readonly Json[]) => ({
    policyName,
    selectors,
    effect: 'EFFECT_ALLOW',
    notes: '',
  });
  const idOf = (answer: Json): string =>
    (resultOf(answer as unknown as Parameters<typeof resultOf>[0]) as unknown as { policyId: string })
      .policyId;

  const botId = scene.service.rootUserId;
  const bot = {
    userId: botId,
    isBot: true,
    walletId: botId,
    chainIds: [1n],
    receivers: [],
    budgets: [{ tokens: [], amount: 5n, period: 'day' }],
    messages: false,
    approverId: undefined,
  } as const;
  const named = `approvers.any(user, user.id == '${botId}')`;
  // Before there is a bot, a policy for one user needs nothing.
  const policyId = idOf(await create(policy('eth.tx.outflow <= 5', named)));
  expect(await createAll(...policiesOfSpender('Bot payer', bot).map((each) => ({ ...each })))).toMatchObject({
    status: 200,
  });
  const { body } = await scene.service.root.query('list_policies');
  const own = (body as unknown as { policies: readonly (Json & { condition: string })[] }).policies.find(
    ({ condition }) => condition.includes('RollingSum'),
  );

  const found = await scene.service.root.query('get_user', { userId: botId });
  const alias = (found.body as unknown as { user: { userName: string } }).user.userName;

  const needing = [
    () => create(policy('')),
    () => create(policy('1 == 1', 'true')),
    () => create(policy("activity.kind != 'NOTHING'", 'approvers.count() >= 1')),
    () => createAll(policy('false'), policy("activity.action == 'EXPORT'")),
    () => submit('create_policy', 'ACTIVITY_TYPE_CREATE_POLICY_V2', older('No targets', [])),
    () => submit('create_policy', 'ACTIVITY_TYPE_CREATE_POLICY', older('None', [])),
    () => update({ policyId, policyConsensus: '' }),
    () => create(policy('eth.tx.outflow <= 6', named)),
    // One vote has one credential, and the bot has a name.
    () => create(policy('', 'credentials.count() == 1')),
    () => create(policy('', "approvers.any(u, u.id != '00000000-0000-4000-8000-000000000000')")),
    () => create(policy('', `approvers.any(user, user.alias == '${alias}')`)),
    () => update({ policyId: own?.['policyId'], policyCondition: own?.condition.replace('<= 5', '<= 50') }),
  ];
  for (const call of needing) {
    expect(await call()).toMatchObject(refused);
    await prove();
    expect(await call()).toMatchObject({ status: 200 });
    await endStepUp();
  }
  const free = [
    () => create(policy('', 'approvers.count() >= 2')),
    () => create(policy("submitter.id == 'anna'")),
    () => create(policy('', '', 'EFFECT_DENY')),
    // A name changes nothing of it.
    () => update({ policyId, policyName: 'Another name' }),
    () => update({ policyId, policyEffect: 'EFFECT_DENY' }),
  ];
  for (const call of free) expect(await call()).toMatchObject({ status: 200 });
  // A fault of the request is reported first.
  expect(await create(policy('eth.tx.valu < 5'))).toMatchObject({ status: 400 });
});

test('to approve another user’s request needs a step-up as submitting it does; to reject it needs none', async () => {
  await using scene = await setScene();
  const { submit, prove, endProof: endStepUp } = await windowOf(scene);
  const { service } = scene;
  const { userId, client } = await service.newUser('Ann');
  await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'With the owner',
    effect: 'EFFECT_ALLOW',
    condition: "activity.resource == 'USER' || activity.resource == 'ORGANIZATION'",
    consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
    notes: '',
  });
  const ask = async (userName: string, more: Json = {}): Promise<Json> => {
    const user = { userName, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [], ...more };
    const { body } = await client.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
    return { fingerprint: (body as { activity: { readonly fingerprint: string } }).activity.fingerprint };
  };
  const approve = (which: Json) => submit('approve_activity', 'ACTIVITY_TYPE_APPROVE_ACTIVITY', which);
  const reject = (which: Json) => submit('reject_activity', 'ACTIVITY_TYPE_REJECT_ACTIVITY', which);
  const withContact = { userEmail: 'b@example.com' };

  expect(await approve(await ask('Bare'))).toMatchObject({ status: 200 });
  expect(await reject(await ask('Rejected', withContact))).toMatchObject({ status: 200 });
  const waiting = await ask('Reachable', withContact);
  expect(await approve(waiting)).toMatchObject(refused);
  await prove();
  expect(await approve(waiting)).toMatchObject({ status: 200 });
  await endStepUp();
  expect(await approve({ fingerprint: `sha256:${'0'.repeat(64)}` })).toMatchObject({ status: 404 });
});

/** Every older type of an activity that can leave a way in, as the registry has them; those of policies have a test above. */
const olderSpellings = targets.flatMap(({ path, type, types, params }) => {
  const operation = operations.byPath.get(path);
  const isGuarded = operation?.kind === 'activity' && operation.vote === undefined && operation.stepUp;
  if (!isGuarded || isGuarded.for === 'policy' || type === undefined || type === types[0]) return [];
  return [{ path, type, target: { path, name: type, type, types, params }, always: !isGuarded.when }];
});

/** True if parameters from the test add a contact or a credential, at any depth. */
const givesWayIn = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([name, inner]) =>
    ['userEmail', 'userPhoneNumber', 'apiKeys', 'authenticators', 'oauthProviders'].includes(name)
      ? (inner as string | readonly unknown[]).length > 0
      : givesWayIn(inner),
  );

// The class: an older spelling of a guarded activity. It names the same deed, so it must meet the same guard.
describe('an older type of an activity that needs step-up', () => {
  /** Bodies that the type's own schema takes, of which each leaves a way in. */
  function bodiesOf({ type, target, always }: (typeof olderSpellings)[number], organizationId: string) {
    const bodies = goodBodies(target, organizationId)
      .map(({ parameters }) => parameters as Json)
      .filter((parameters) => always || givesWayIn(parameters));
    if (bodies.length < 3) throw new Error(`expected bodies of ${type} that leave a way in`);
    return bodies;
  }

  test('is refused without step-up, whatever it says', async () => {
    await using scene = await setScene();
    const { submit } = await windowOf(scene);
    const { root, organizationId } = scene.service;
    const seen = async () => ({
      users: (await root.query('list_users', {})).body?.['users'],
      activities: (await root.query('list_activities', {})).body?.['activities'],
    });
    const before = await seen();
    for (const spelling of olderSpellings) {
      const operation = spelling.path.slice('submit/'.length);
      for (const parameters of bodiesOf(spelling, organizationId)) {
        const what = `${spelling.type} ${JSON.stringify(parameters)}`;
        expect(await submit(operation, spelling.type, parameters), what).toMatchObject(refused);
      }
    }
    expect(await seen()).toEqual(before);
    // The list is derived; these it must have.
    expect(olderSpellings.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'ACTIVITY_TYPE_CREATE_API_KEYS',
        'ACTIVITY_TYPE_CREATE_AUTHENTICATORS',
        'ACTIVITY_TYPE_CREATE_USERS',
        'ACTIVITY_TYPE_EMAIL_AUTH',
        'ACTIVITY_TYPE_OTP_LOGIN',
      ]),
    );
  });

  test('would be carried out with it', async () => {
    await using scene = await setScene();
    const { submit, prove } = await windowOf(scene);
    const { service, clientKey } = scene;
    const apiKeys = [{ apiKeyName: 'Older', publicKey: clientKey.publicKey }];
    const add = () =>
      submit('create_api_keys', 'ACTIVITY_TYPE_CREATE_API_KEYS', { userId: service.rootUserId, apiKeys });
    expect(await add()).toMatchObject(refused);
    await prove();
    expect(await add()).toMatchObject({ status: 200 });
  });

  test('is approved with step-up alone, where another user asked for it', async () => {
    await using scene = await setScene();
    const { submit } = await windowOf(scene);
    const { service } = scene;
    const { userId, client } = await service.newUser('Ann');
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'With the owner',
      effect: 'EFFECT_ALLOW',
      condition: 'true',
      consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
      notes: '',
    });
    const waited = new Set<string>();
    for (const spelling of olderSpellings) {
      const operation = spelling.path.slice('submit/'.length);
      for (const parameters of bodiesOf(spelling, service.organizationId).slice(0, 10)) {
        const { body } = await client.submit(
          operation,
          spelling.type.slice('ACTIVITY_TYPE_'.length),
          parameters,
        );
        const activity = body?.['activity'] as Json | undefined;
        if (activity?.['status'] !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') continue;
        waited.add(spelling.type);
        const { fingerprint } = activity;
        expect(
          await submit('approve_activity', 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint }),
          `${spelling.type} ${JSON.stringify(parameters)}`,
        ).toMatchObject(refused);
      }
    }
    // Each of them waited at least once, so that its approval was tried.
    expect([...waited].sort()).toEqual(olderSpellings.map(({ type }) => type).sort());
  });
});

test('the command registers keys with the same rpc, and must step up too', async () => {
  await using service = await startTestVault();
  using place = temporaryDirectory();
  const phraseFile = join(place.path, 'phrase');
  writeFileSync(phraseFile, service.recoveryPhrase);
  const keygen = (...more: readonly string[]) =>
    runCommand([
      ...['keygen', '--name', 'script', '--register', '--json'],
      ...['--data-dir', service.directory, '--config-dir', place.path, ...more],
    ]);
  const without = await keygen();
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('expected a secret that opens the vault now: give --password-file');
  // Nothing stands in the way of the next try.
  const { code, stdout } = await keygen('--recovery-file', phraseFile);
  expect({ code, ...(JSON.parse(stdout) as Json) }).toMatchObject({ code: 0, registered: true });
});
