/**
 * The approver's window over HTTP, as an attacker sees it. The class: a session of this window answers its user's approvals,
 * and every other door of the service stays closed to the session's secrets.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { serializeTransaction } from 'viem';
import { toBeSigned } from '../../main/lib/text/to-be-signed.ts';
import { operations } from '../../main/operations/index.ts';
import {
  activityOf,
  ethereumAccount,
  resultOf,
  send,
  signInWindow,
  startTestVault,
} from '../support/support.ts';
import type { Answer, Json, RawRequest, TestClient, TestVault } from '../support/support.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';

const paired = 'http://paired.example';

let service: TestVault;
let passkey: SoftwareAuthenticator;
let benId: string;
let cleo: TestClient;
let address: string;
/** Waits for the votes of two. */
let held: { readonly id: string; readonly fingerprint: string };
/** An activity of the owner alone. */
let ownersId: string;

beforeAll(async () => {
  service = await startTestVault({ config: { ui: true, allowOrigin: [paired] } });
  const { root } = service;
  passkey = new SoftwareAuthenticator();
  const made = await root.submit('create_users', 'CREATE_USERS_V3', {
    users: [
      {
        userName: 'Ben',
        apiKeys: [],
        authenticators: [passkey.params('Ben’s key')],
        oauthProviders: [],
        userTags: [],
      },
    ],
  });
  [benId = ''] = resultOf(made).userIds;
  ({ client: cleo } = await service.newUser('Cleo'));
  await root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'Signatures by two',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
    consensus: 'approvers.count() >= 2',
    notes: 'secret notes',
  });
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  ownersId = activityOf(wallet).id;
  [address = ''] = resultOf(wallet).addresses;
  held = activityOf(await sign('the rent'));
});

afterAll(() => service[Symbol.asyncDispose]());

const payloadOf = (payload: string): Json => ({
  signWith: address,
  payload,
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_SHA256',
});

const sign = (payload: string): Promise<Answer> =>
  cleo.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', payloadOf(payload));

const post = (path: string, body: unknown, headers: RawRequest['headers'] = {}): Promise<Answer> =>
  send(service.url, {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const newChallenge = async (): Promise<string> =>
  String((await post('/approver/challenge', {})).body?.['challenge']);

const signInBody = (challenge: string, more: Json = {}): string =>
  service.root.submitBody('CREATE_READ_ONLY_SESSION', {}, { challenge, ...more });

/** Headers of a window that Ben signed in to. */
const signIn = (): Promise<Record<string, string>> => signInBy(passkey, { userId: benId, userName: 'Ben' });

async function signInBy(by: SoftwareAuthenticator, who: Json): Promise<Record<string, string>> {
  const body = signInBody(await newChallenge());
  const answer = await post('/approver/session', body, { 'x-stamp-webauthn': by.stamp(body) });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ ...who, rpId: 'localhost' });
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^keyhearth_approver_[0-9]+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/approver$/);
  return { cookie: cookie.split(';')[0] ?? '', 'x-keyhearth-session': String(answer.body?.['token']) };
}

const ask = (name: string, body: unknown, headers: RawRequest['headers']): Promise<Answer> =>
  post(`/approver/query/${name}`, body, headers);

test('Ben sees what waits for him and his own credentials', async () => {
  const session = await signIn();
  const { body } = await ask('list_activities', {}, session);
  const activities = body?.['activities'] as readonly Json[];
  expect(activities.map(({ id }) => id)).toContain(held.id);
  // The row of his own sign-in has the API's session as its result: it is not answered.
  expect(activities.map(({ type }) => type)).toContain('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION');
  expect(activities.map(({ result }) => result)).toEqual(activities.map(() => ({})));
  for (const activity of activities) {
    const voters = (activity['votes'] as readonly { userId: string }[]).map(({ userId }) => userId);
    expect(activity['canApprove'] === true || voters.includes(benId), String(activity['type'])).toBe(true);
  }
  const needed = (await ask('list_needed_activities', {}, session)).body;
  const needing = activities.filter(({ canApprove }) => canApprove === true);
  expect(needed).toEqual({ activities: needing, areMore: false });
  expect((await ask('describe_payload', payloadOf('the rent'), session)).status).toBe(200);
  const evaluations = await ask('get_policy_evaluations', { activityId: held.id }, session);
  expect(evaluations.status).toBe(200);
  const policies = (await ask('list_policies', {}, session)).body?.['policies'];
  expect(policies).toEqual([{ policyId: expect.any(String) as string, policyName: 'Signatures by two' }]);
  const { body: user } = await ask('get_user', { userId: service.rootUserId }, session);
  expect(user).toMatchObject({ user: { userId: benId } });
});

test('a session learns whether a payment that waits for its user is the first, and nothing of other receivers', async () => {
  const session = await signIn();
  const [rent, other] = [`0x${'52'.repeat(20)}`, `0x${'53'.repeat(20)}`] as const;
  const pay = (client: TestClient, to: `0x${string}`, nonce: number): Promise<Answer> =>
    client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith: address,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({ type: 'eip1559', chainId: 1, nonce, to, value: 1n }),
    });
  await pay(service.root, other, 0);
  const { id, intent } = activityOf(await pay(cleo, rent, 1));
  const uses = (addresses: readonly string[]): Promise<Answer> =>
    ask('list_receiver_uses', { addresses }, session);
  expect((await uses([rent])).status).toBe(403);
  await ask('get_activity', { activityId: id }, session);
  const [request] = toBeSigned({ type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', intent });
  expect((await ask('describe_payload', request, session)).status).toBe(200);
  expect((await uses([rent])).body).toEqual({ receiverUses: [] });
  expect((await uses([rent, other])).status).toBe(403);
  await pay(service.root, rent, 2);
  const { body } = await uses([rent]);
  expect(body?.['receiverUses']).toEqual([{ address: rent, createdAt: expect.any(Object) as object }]);
});

test('a session reads nothing that does not concern its user', async () => {
  const session = await signIn();
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const activityId of [ownersId, unknown]) {
    for (const query of ['get_activity', 'get_policy_evaluations']) {
      expect(await ask(query, { activityId }, session)).toMatchObject({
        status: 404,
        body: { message: `unable to find activity ${activityId}` },
      });
    }
  }
  // The policies of activities that the window has not asked about.
  expect((await ask('list_policies', {}, session)).body).toEqual({ policies: [] });
  await ask('list_activities', {}, session);
  expect((await ask('describe_payload', payloadOf('another'), session)).status).toBe(403);
  const described = await ask('describe_activities', { activityIds: [ownersId, held.id] }, session);
  expect(
    (described.body as { descriptions: readonly Json[] }).descriptions.map(({ activityId }) => activityId),
  ).toEqual([held.id]);
  const queries = [...operations.byPath]
    .filter(([, { kind }]) => kind === 'query')
    .map(([path]) => path.replace('query/', ''));
  const answered = [
    'list_activities',
    'list_needed_activities',
    'get_activity',
    'get_policy_evaluations',
    'list_policies',
    'describe_activities',
    'describe_payload',
    'preview_activity',
    'list_receiver_uses',
    'get_user',
  ];
  expect(queries.length).toBeGreaterThan(30);
  for (const name of queries.filter((each) => !answered.includes(each))) {
    expect((await ask(name, {}, session)).status, name).toBe(403);
  }
});

test('the secrets of a session open no other door', async () => {
  const session = await signIn();
  const elsewhere = { ...session, cookie: session['cookie']?.replace('approver_', '') };
  for (const headers of [session, elsewhere]) {
    for (const call of ['status', 'call', 'unlock', 'changeSettings', 'freeze', 'save', 'files', 'used']) {
      expect((await post(`/window/${call}`, { args: [] }, headers)).status, call).toBe(401);
    }
  }
  const token = session['x-keyhearth-session'];
  const query = { organizationId: service.organizationId };
  expect((await post('/public/v1/query/list_wallets', query, { 'x-session': token })).status).toBe(401);
  expect((await post('/window/session', { code: token })).status).toBe(401);
  // And the owner's secrets are none of an approver's.
  const owner = await signInWindow(service.vault.newLink());
  const asApprover = { ...owner, cookie: owner.cookie.replace('keyhearth_', 'keyhearth_approver_') };
  for (const headers of [owner, asApprover]) {
    expect((await ask('list_activities', {}, headers)).status).toBe(401);
  }
});

test('half of the secrets, and pages of other origins, get nothing', async () => {
  const session = await signIn();
  const { cookie, 'x-keyhearth-session': token } = session;
  const { host } = new URL(service.url);
  const tries: readonly [string, RawRequest['headers'], number][] = [
    ['no secret', {}, 401],
    ['the cookie alone', { cookie }, 401],
    ['the token alone', { 'x-keyhearth-session': token }, 401],
    [
      'the secrets of two sessions',
      { cookie, 'x-keyhearth-session': (await signIn())['x-keyhearth-session'] },
      401,
    ],
    ['a paired origin', { ...session, origin: paired }, 403],
    ['a foreign origin', { ...session, origin: 'https://evil.example' }, 403],
    ['a page without an origin', { ...session, origin: 'null' }, 403],
    ['its own page', { ...session, origin: `http://${host}` }, 200],
  ];
  for (const [what, headers, status] of tries) {
    expect((await ask('list_activities', {}, headers)).status, what).toBe(status);
  }
  for (const path of ['/approver/challenge', '/approver/session', '/approver/end']) {
    expect((await post(path, {}, { origin: paired })).status, path).toBe(403);
  }
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await send(service.url, { method: 'GET', path: '/approver', headers: link })).status).toBe(403);
  const page = await send(service.url, {
    method: 'GET',
    path: '/approver',
    headers: { accept: 'text/html' },
  });
  expect(page.status).toBe(200);
  expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' });
});

test('a sign-in is by a passkey, for one challenge, once', async () => {
  const body = signInBody(await newChallenge());
  const stamp = { 'x-stamp-webauthn': passkey.stamp(body) };
  expect((await post('/approver/session', body, stamp)).status).toBe(200);
  expect((await post('/approver/session', body, stamp)).status, 'the same again').toBe(401);
  const own = signInBody('of my own');
  const byOwn = { 'x-stamp-webauthn': passkey.stamp(own) };
  expect((await post('/approver/session', own, byOwn)).status, 'a challenge of one’s own').toBe(401);
  const withKey = signInBody(await newChallenge());
  const byKey = { 'x-stamp': cleo.key.stamp(withKey) };
  expect((await post('/approver/session', withKey, byKey)).status, 'an API key').toBe(401);
  const stranger = new SoftwareAuthenticator();
  const strange = signInBody(await newChallenge());
  const byStranger = { 'x-stamp-webauthn': stranger.stamp(strange) };
  expect((await post('/approver/session', strange, byStranger)).status, 'a stranger').toBe(401);
  const other = service.root.submitBody('CREATE_WALLET', {}, { challenge: await newChallenge() });
  const byOther = { 'x-stamp-webauthn': passkey.stamp(other) };
  expect((await post('/approver/session', other, byOther)).status, 'another request').toBe(400);
});

test('a sign-in that is sent twice at one time opens one session', async () => {
  const body = signInBody(await newChallenge());
  const stamp = { 'x-stamp-webauthn': passkey.stamp(body) };
  const answers = await Promise.all([1, 2, 3].map(() => post('/approver/session', body, stamp)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
});

test('a sign-in lasts two minutes, whatever others begin meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const body = signInBody(await newChallenge());
    const late = signInBody(await newChallenge());
    await Promise.all(Array.from({ length: 300 }, newChallenge));
    const signInBy = (text: string): Promise<Answer> =>
      post('/approver/session', text, { 'x-stamp-webauthn': passkey.stamp(text) });
    vi.setSystemTime(Date.now() + 2 * 60_000 - 1000);
    expect((await signInBy(body)).status).toBe(200);
    vi.setSystemTime(Date.now() + 2000);
    expect((await signInBy(late)).body?.['message']).toContain('was used or is too old');
  } finally {
    vi.useRealTimers();
  }
});

test('a user who signs in over and over ends no session of another', async () => {
  const dansKey = new SoftwareAuthenticator();
  const dan = { userName: 'Dan', apiKeys: [], oauthProviders: [], userTags: [] };
  await service.root.submit('create_users', 'CREATE_USERS_V3', {
    users: [{ ...dan, authenticators: [dansKey.params('Dan’s key')] }],
  });
  const session = await signIn();
  const first = await signInBy(dansKey, { userName: 'Dan' });
  for (let more = 0; more < 40; more++) await signInBy(dansKey, { userName: 'Dan' });
  expect((await ask('list_activities', {}, session)).status).toBe(200);
  expect((await ask('list_activities', {}, first)).status, 'Dan’s own oldest').toBe(401);
});

test('a session ends with the passkey that signed in, and not with another of its user', async () => {
  const { root } = service;
  const spare = new SoftwareAuthenticator();
  const added = await root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
    userId: benId,
    authenticators: [spare.params('Ben’s spare key')],
  });
  expect(added.status).toBe(200);
  const remove = async (name: string): Promise<void> => {
    const { body } = await root.query('get_user', { userId: benId });
    const { authenticators } = (body as { user: { authenticators: readonly Record<string, string>[] } }).user;
    const found = authenticators.find(({ authenticatorName }) => authenticatorName === name);
    const authenticatorIds = [found?.['authenticatorId']];
    const gone = await root.submit('delete_authenticators', 'DELETE_AUTHENTICATORS', {
      userId: benId,
      authenticatorIds,
    });
    expect(gone.status, name).toBe(200);
  };
  const session = await signIn();
  await remove('Ben’s spare key');
  expect((await ask('get_user', {}, session)).status).toBe(200);

  const again = new SoftwareAuthenticator();
  await root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
    userId: benId,
    authenticators: [again.params('Ben’s new key')],
  });
  const old = passkey;
  await remove('Ben’s key');
  const refused = { status: 401, body: { turnkeyErrorCode: 'CREDENTIAL_NOT_FOUND' } };
  // The API's own session of the user would still read.
  expect(await ask('list_activities', {}, session)).toMatchObject(refused);
  expect((await ask('list_activities', {}, session)).body?.['message']).toContain('is signed out');
  const vote = root.submitBody('APPROVE_ACTIVITY', { fingerprint: held.fingerprint });
  const byOld = { 'x-stamp-webauthn': old.stamp(vote) };
  expect(await post('/public/v1/submit/approve_activity', vote, byOld)).toMatchObject(refused);
  const body = signInBody(await newChallenge());
  const signInByOld = { 'x-stamp-webauthn': old.stamp(body) };
  expect(await post('/approver/session', body, signInByOld)).toMatchObject(refused);
  passkey = again;
  expect((await ask('list_activities', {}, await signIn())).status).toBe(200);
});

test('a locked or frozen vault answers nothing, and the session goes on once it is open', async () => {
  const session = await signIn();
  await service.vault.rpc.lock();
  expect((await ask('list_activities', {}, session)).body?.['message']).toContain('The vault is locked');
  expect((await post('/approver/challenge', {})).body?.['message']).toContain('The vault is locked');
  await service.unlock();
  expect((await ask('get_activity', { activityId: held.id }, session)).status).toBe(200);
  await service.vault.rpc.freeze();
  expect((await ask('list_activities', {}, session)).body?.['message']).toContain('The vault is frozen');
  expect((await post('/approver/challenge', {})).body?.['message']).toContain('The vault is frozen');
  await service.unlock();
});

// The class: what one user asks for keeps another from seeing what waits, or a part of it is left out without a word.
test('long requests hide nothing that waits, nor do many', async () => {
  const asked: string[] = [];
  for (let each = 0; each < 20; each++) {
    asked.push(activityOf(await sign(`${String(each)}${'x'.repeat(950_000)}`)).id);
  }
  // More than a page, every second of which Ben has nothing to do with.
  for (let each = 0; each < 180; each++) {
    const { id, fingerprint } = activityOf(await sign(`short ${String(each)}`));
    if (each % 2 === 0) asked.push(id);
    else await cleo.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint });
  }
  const session = await signIn();
  const seen: unknown[] = [];
  let after: unknown;
  do {
    const { body } = await ask('list_activities', { paginationOptions: { after } }, session);
    const { activities } = body as { readonly activities: readonly Json[] };
    seen.push(...activities.map(({ id }) => id));
    after = body?.['next'];
  } while (after !== undefined);
  expect(asked.filter((id) => !seen.includes(id))).toEqual([]);
  expect(new Set(seen).size).toBe(seen.length);
}, 120_000);

test('a session ends when it is ended, and an hour after the sign-in', async () => {
  // A locked vault refuses every session alike.
  await service.vault.rpc.changeSettings({ autoLock: { idleMinutes: null } });
  const session = await signIn();
  const another = await signIn();
  expect((await post('/approver/end', {}, { cookie: session['cookie'] })).status).toBe(200);
  expect((await ask('list_activities', {}, session)).status, 'the cookie alone ends nothing').toBe(200);
  await post('/approver/end', {}, session);
  expect((await ask('list_activities', {}, session)).status).toBe(401);
  expect((await ask('list_activities', {}, another)).status).toBe(200);
  service.clock.advance(3_600_001);
  const ended = await ask('list_activities', {}, another);
  expect(ended.status, ended.text.slice(0, 300)).toBe(401);
});
