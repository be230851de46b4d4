/**
 * The class of these tests: a request that is decided by what was true before. The service keeps rows of busy callers in memory,
 * verifies stamps beside the main thread, and commits requests together; a change is in effect for the next request all the same.
 */
import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { activityOf, newTestKey, resultOf, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let signWith: string;
let policyId: string;
let name = 0;

beforeAll(async () => {
  service = await startTestVault();
  const made = await service.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      { privateKeyName: 'key', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
    ],
  });
  signWith = String(resultOf(made).privateKeys[0]?.privateKeyId);
  const policy = resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'All sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: 'true',
      notes: '',
    }),
  );
  policyId = String(policy['policyId']);
});
afterAll(() => service[Symbol.asyncDispose]());

const sign = (client: TestClient, payload = `payload ${String((name += 1))}`): Promise<Answer> =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  });

const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;

/** Signs several at once, several times: all that may be kept for this caller is kept. */
async function signOften(client: TestClient): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => sign(client)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  }
}

const busyUser = async (): Promise<{ readonly userId: string; readonly client: TestClient }> => {
  const user = await service.newUser(`User ${String((name += 1))}`);
  await signOften(user.client);
  return user;
};

const submit = async (path: string, type: string, parameters: Json): Promise<void> => {
  resultOf(await service.root.submit(path, type, parameters));
};

const setEffect = (policyEffect: string): Promise<void> =>
  submit('update_policy', 'UPDATE_POLICY_V2', { policyId, policyEffect });

test('a deleted key is refused from the next request on, and one of the same user still signs', async () => {
  const { userId, client } = await busyUser();
  const other = newTestKey();
  await submit('create_api_keys', 'CREATE_API_KEYS_V2', {
    userId,
    apiKeys: [{ apiKeyName: 'other', publicKey: other.publicKey, curveType: 'API_KEY_CURVE_P256' }],
  });
  await signOften(client.as(other));
  const { body } = await client.query('get_user', { userId });
  const user = body?.['user'] as
    | { readonly apiKeys: readonly { readonly apiKeyId: string; readonly credential: Json }[] }
    | undefined;
  const first = user?.apiKeys.find(({ credential }) => credential['publicKey'] === client.key.publicKey);
  await submit('delete_api_keys', 'DELETE_API_KEYS', { userId, apiKeyIds: [first?.apiKeyId] });
  expect(await statusOf(sign(client))).toBe(401);
  expect(await statusOf(client.query('whoami'))).toBe(401);
  expect(await statusOf(sign(client.as(other)))).toBe(200);
});

test('a deleted user is refused from the next request on', async () => {
  const { userId, client } = await busyUser();
  await submit('delete_users', 'DELETE_USERS', { userIds: [userId] });
  expect(await statusOf(sign(client))).toBe(401);
  expect(await statusOf(client.query('whoami'))).toBe(401);
});

test('a new key is known at once, though it was asked for before', async () => {
  const stranger = service.root.as(newTestKey());
  for (let turn = 0; turn < 3; turn += 1) expect(await statusOf(sign(stranger))).toBe(401);
  const users = [
    {
      userName: 'Late',
      apiKeys: [{ apiKeyName: 'late', publicKey: stranger.key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    },
  ];
  await submit('create_users', 'CREATE_USERS_V3', { users });
  expect(await statusOf(sign(stranger))).toBe(200);
});

test('a changed policy decides the next request, and a restored one too', async () => {
  const { client } = await busyUser();
  await setEffect('EFFECT_DENY');
  expect(await statusOf(sign(client))).toBe(403);
  await setEffect('EFFECT_ALLOW');
  expect(await statusOf(sign(client))).toBe(200);
});

test('a changed root quorum decides the next request', async () => {
  const { userId, client } = await busyUser();
  const wallet = (who: TestClient): Promise<Answer> =>
    who.submit('create_wallet', 'CREATE_WALLET', { walletName: `w ${String((name += 1))}`, accounts: [] });
  expect(await statusOf(wallet(client))).toBe(403);
  const quorum = (userIds: readonly string[]): Promise<void> =>
    submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', { threshold: 1, userIds });
  await quorum([service.rootUserId, userId]);
  expect(await statusOf(wallet(client))).toBe(200);
  await quorum([service.rootUserId]);
  expect(await statusOf(wallet(client))).toBe(403);
});

test('a change and the requests beside it are decided in one order: none signs after the answer', async () => {
  const { userId, client } = await busyUser();
  let isGone = false;
  let signed = 0;
  const signing = async (): Promise<void> => {
    for (;;) {
      const wasGone = isGone;
      const status = await statusOf(sign(client));
      if (status === 200) {
        expect(wasGone).toBe(false);
        signed += 1;
      } else {
        expect(status).toBe(401);
        return;
      }
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, signing));
  while (signed < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  await submit('delete_users', 'DELETE_USERS', { userIds: [userId] });
  isGone = true;
  await all;
}, 60_000);

describe('the time of a decision is that of the transaction, where a request waits for', () => {
  const minute = 60_000;
  const endsIn = (ms: number): string =>
    `time.now < Timestamp('${new Date(service.clock.now() + ms).toISOString()}')`;
  const addPolicy = (policy: Json): Promise<void> =>
    submit('create_policy', 'CREATE_POLICY_V3', {
      ...{ policyName: `policy ${String((name += 1))}`, effect: 'EFFECT_ALLOW', notes: '' },
      ...policy,
    });

  test('another process that holds the file', async () => {
    const { userId, client } = await busyUser();
    await addPolicy({
      effect: 'EFFECT_DENY',
      condition: `submitter.id == '${userId}'`,
      consensus: 'true',
      time: `!(${endsIn(minute)})`,
    });
    const { connection } = service.vault;
    const run = connection.run.bind(connection);
    const held = vi.spyOn(connection, 'run').mockImplementation((sql, ...values) => {
      if (sql === 'BEGIN IMMEDIATE') service.clock.advance(2 * minute);
      return run(sql, ...values);
    });
    try {
      expect(await statusOf(sign(client))).toBe(403);
    } finally {
      service.clock.advance(
        -2 * minute * held.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length,
      );
      held.mockRestore();
    }
    expect(await statusOf(sign(client))).toBe(200);
  });

  test('the log, which is followed before a vote is given', async () => {
    const [ann, ben] = [await busyUser(), await busyUser()];
    await addPolicy({
      condition: "activity.kind == 'CREATE_USER_TAG'",
      consensus: 'approvers.count() >= 2',
      time: endsIn(minute),
    });
    const ask = async (): Promise<string> => {
      const tag = { userTagName: `tag ${String((name += 1))}`, userIds: [] };
      return activityOf(await ann.client.submit('create_user_tag', 'CREATE_USER_TAG', tag)).fingerprint;
    };
    const approve = async (fingerprint: string): Promise<number> =>
      statusOf(ben.client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    const [late, inTime] = [await ask(), await ask()];
    const followed = vi.spyOn(service.vault.guard, 'followed').mockImplementationOnce(() => {
      service.clock.advance(2 * minute);
      return Promise.resolve();
    });
    try {
      expect(await approve(late)).toBe(403);
    } finally {
      followed.mockRestore();
      service.clock.advance(-2 * minute);
    }
    expect(await approve(inTime)).toBe(200);
  });
});

test('a vault that is locked signs nothing more, until it is unlocked', async () => {
  const { client } = await busyUser();
  await service.vault.rpc.lock();
  const { status, body } = await sign(client);
  expect([status, body?.['code']]).toEqual([400, 9]);
  await service.unlock();
  await signOften(client);
});

test('a row that another process changed is refused by the next request', async () => {
  const { userId, client } = await busyUser();
  const file = new Sqlite(join(service.directory, 'vault.db'));
  const snapshot = file.prepare('SELECT snapshot FROM users WHERE id = ?').pluck().get(userId);
  file.prepare('UPDATE users SET root = 1 WHERE id = ?').run(userId);
  const { body } = await sign(client);
  expect(String(body?.['message'])).toMatch(/changed outside Keyhearth/);
  // As it was, it holds again.
  file.prepare('UPDATE users SET root = 0 WHERE id = ?').run(userId);
  file.prepare('UPDATE users SET snapshot = ? WHERE id = ?').run(snapshot, userId);
  file.close();
  await service.unlock();
  expect(await statusOf(sign(client))).toBe(200);
});
