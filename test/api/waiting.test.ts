/** Requests that wait for the votes on their activity (`Prefer: wait`), and callers that leave or lose their key meanwhile. */
import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { requestLimits } from '../../main/lib/published-limits.ts';
import { mostSmallBytes } from '../../main/lib/concurrency/turns.ts';
import { mostWaiting, readWait } from '../../main/http/waiters.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newUserBy,
  resultOf,
  startTestVault,
  newSubOrganization,
} from '../support/support.ts';
import type { Answer, TestVault, TestClient } from '../support/support.ts';

let service: TestVault;
let ann: TestClient;
let ben: TestClient;
let address: string;

const patient = { prefer: 'wait=60' };

beforeAll(async () => {
  service = await startTestVault();
  ({ client: ann } = await service.newUser('Ann'));
  const { client, userId } = await service.newUser('Ben');
  ben = client;
  const wallet = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  address = resultOf(wallet).addresses[0] ?? '';
  await allow(
    'activity.action == "SIGN"',
    `approvers.count() >= 2 && approvers.any(user, user.id == '${userId}')`,
  );
});
afterAll(() => service[Symbol.asyncDispose]());

async function allow(condition: string, consensus: string, root = service.root): Promise<void> {
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: condition,
      effect: 'EFFECT_ALLOW',
      condition: condition.replaceAll('"', "'"),
      consensus,
      notes: '',
    }),
  );
}

/** A request to sign, to the letter. */
const signing = (payload: string, client = ann): string =>
  client.submitBody('SIGN_RAW_PAYLOAD_V2', {
    signWith: address,
    payload,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });

const ask = (body: string, headers = patient, client = ann): Promise<Answer> =>
  client.post('submit/sign_raw_payload', body, headers);

const vote = (client: TestClient, verb: 'approve' | 'reject', fingerprint: string, headers = {}) =>
  client.post(
    `submit/${verb}_activity`,
    client.submitBody(`${verb.toUpperCase()}_ACTIVITY`, { fingerprint }),
    headers,
  );

/** Deletes the key that a user stamps with. */
async function deleteKey(
  root: TestClient,
  { userId, client }: { readonly userId: string; readonly client: TestClient },
): Promise<void> {
  const { apiKeys } = (await root.query('get_api_keys', { userId })).body as {
    readonly apiKeys: readonly {
      readonly apiKeyId: string;
      readonly credential: { readonly publicKey: string };
    }[];
  };
  const own = apiKeys.find(({ credential }) => credential.publicKey === client.key.publicKey);
  resultOf(await root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId, apiKeyIds: [own?.apiKeyId] }));
}

/** Returns once so many requests wait. */
const waiting = (count: number) =>
  vi.waitFor(() => {
    expect(service.vault.waiters.size).toBe(count);
  });

/** @returns the activity that a body made, once so many requests wait. */
async function waits(body: string, count = 1): Promise<string> {
  await waiting(count);
  return activityOf(await ask(body, { prefer: 'wait=0' })).fingerprint;
}

const nobodyWaits = () => waiting(0);

const statusOf = (answer: Answer): string => activityOf(answer).status;

describe('a request that waits', () => {
  test('is answered by the vote that decides it', async () => {
    const body = signing('approved');
    const answer = ask(body);
    await vote(ben, 'approve', await waits(body));
    const { status, headers } = await answer;
    expect(status).toBe(200);
    expect(headers['preference-applied']).toBe('wait=60');
    expect(resultOf(await answer).r).toMatch(/^[0-9a-f]{64}$/);
    await nobodyWaits();
  });

  test('is answered with the rejection', async () => {
    const body = signing('rejected');
    const answer = ask(body);
    await vote(ben, 'reject', await waits(body));
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_REJECTED');
  });

  test('is answered as it would be without waiting, when its time is over', async () => {
    const answer = await ask(signing('late'), { prefer: 'wait=1' });
    expect(statusOf(answer)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(answer.headers['preference-applied']).toBe('wait=1');
    await nobodyWaits();
  });

  test('is the same activity for each repeat of it, which all get the one signature', async () => {
    const body = signing('thrice');
    const answers = [ask(body), ask(body), ask(body)];
    const fingerprint = await waits(body, 3);
    await vote(ben, 'approve', fingerprint);
    const results = (await Promise.all(answers)).map((answer) => activityOf(answer));
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(new Set(results.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(results[0]?.votes).toHaveLength(2);
  });

  test('gets what its activity failed with', async () => {
    const tagName = 'Taken';
    const create = (client: TestClient): string =>
      client.submitBody('CREATE_USER_TAG', { userTagName: tagName, userIds: [] });
    await allow('activity.kind == "CREATE_USER_TAG"', 'approvers.count() >= 2');
    const body = create(ann);
    const answer = ann.post('submit/create_user_tag', body, patient);
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    });
    const { fingerprint } = activityOf(await ann.post('submit/create_user_tag', body));
    await service.root.post('submit/create_user_tag', create(service.root));
    await vote(ben, 'approve', fingerprint);
    const repeated = await ann.post('submit/create_user_tag', body);
    const { status, body: told } = await answer;
    expect(status).toBe(400);
    expect({ status, told }).toEqual({ status: repeated.status, told: repeated.body });
  });

  test('may be a vote, which waits for the others', async () => {
    const { client: cat } = await service.newUser('Cat');
    await allow('activity.resource == "WALLET" && activity.action == "CREATE"', 'approvers.count() >= 3');
    const made = activityOf(
      await ann.submit('create_wallet', 'CREATE_WALLET', { walletName: 'By three', accounts: [] }),
    );
    const second = vote(cat, 'approve', made.fingerprint, patient);
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    });
    await vote(ben, 'approve', made.fingerprint);
    expect(statusOf(await second)).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test('never waits for what is decided already', async () => {
    const body = signing('before');
    const made = activityOf(await ask(body, { prefer: 'wait=0' }));
    await vote(ben, 'approve', made.fingerprint);
    const answer = await ask(body);
    expect(statusOf(answer)).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(answer.headers['preference-applied']).toBeUndefined();
  });
});

describe('a caller', () => {
  const agent = new Agent({ keepAlive: false });
  function begin(body: string): ClientRequest {
    const sent = httpRequest(`${service.url}/public/v1/submit/sign_raw_payload`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-stamp': ann.key.stamp(body), ...patient },
    });
    sent.on('error', () => undefined).end(body);
    return sent;
  }

  test('that leaves keeps nothing waiting; its activity does, and a repeat joins it', async () => {
    const body = signing('left');
    const sent = begin(body);
    const fingerprint = await waits(body);
    sent.destroy();
    await nobodyWaits();
    const answer = ask(body);
    await waits(body);
    await vote(ben, 'approve', fingerprint);
    expect(activityOf(await answer).votes).toHaveLength(2);
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test.each(['key', 'user', 'sub-organization'] as const)(
    'whose %s is deleted is answered at once, with no result, and gives its place back',
    async (what) => {
      const { client: sub } = await newSubOrganization(service.root);
      const dan = await newUserBy(sub, 'Dan');
      const eve = await newUserBy(sub, 'Eve');
      await allow('activity.action == "CREATE"', 'approvers.count() >= 2', sub);
      const { userId } = dan;
      const [dans, eves] = [dan, eve].map(({ userId: walletName, client }) => {
        const body = client.submitBody('CREATE_WALLET', { walletName, accounts: [] });
        return client.post('submit/create_wallet', body, patient);
      });
      await waiting(2);
      // A second key keeps the user.
      const kept = {
        apiKeyName: 'other',
        publicKey: newTestKey().publicKey,
        curveType: 'API_KEY_CURVE_P256',
      };
      resultOf(await sub.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: [kept] }));
      expect(service.vault.waiters.size).toBe(2);
      if (what !== 'sub-organization') {
        if (what === 'user')
          resultOf(await sub.submit('delete_users', 'DELETE_USERS', { userIds: [userId] }));
        else await deleteKey(sub, dan);
        expect((await dans)?.status).toBe(401);
        expect(service.vault.waiters.size).toBe(1);
      }
      const all = { deleteWithoutExport: true };
      resultOf(await sub.submit('delete_sub_organization', 'DELETE_SUB_ORGANIZATION', all));
      for (const answer of [dans, eves]) expect((await answer)?.status).toBe(401);
      expect(service.vault.waiters.size).toBe(0);
    },
  );

  test('has a share of what may wait, and leaves others theirs', async () => {
    const body = signing('shared');
    const sent = Array.from({ length: mostWaiting.ofUser }, () => begin(body));
    const fingerprint = await waits(body, mostWaiting.ofUser);
    // One more is answered at once: its activity waits like any other.
    const more = await ask(body);
    expect(statusOf(more)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(more.headers['preference-applied']).toBeUndefined();
    const { client: eve } = await service.newUser('Eve');
    const others = signing('others', eve);
    const answer = ask(others, patient, eve);
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(mostWaiting.ofUser + 1);
    });
    await vote(ben, 'approve', activityOf(await ask(others, { prefer: '' }, eve)).fingerprint);
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_COMPLETED');
    const responses = sent.map(async (each) => ((await once(each, 'response')) as [IncomingMessage])[0]);
    await vote(ben, 'approve', fingerprint);
    for (const response of await Promise.all(responses)) expect(response.resume().statusCode).toBe(200);
    await nobodyWaits();
  });

  test('with a large body takes a larger share: bodies stay in memory while they wait', async () => {
    const body = signing('a'.repeat(requestLimits.payloadCharacters - 1));
    const most = Math.floor(mostWaiting.ofUser / (1 + Math.floor(body.length / mostSmallBytes)));
    expect(most).toBeLessThan(mostWaiting.ofUser / 10);
    const sent = Array.from({ length: most }, () => begin(body));
    await waits(body, most);
    expect((await ask(body)).headers['preference-applied']).toBeUndefined();
    for (const each of sent) each.destroy();
    await nobodyWaits();
  });
});

describe('a vault', () => {
  test('that is locked lets requests wait: the vote comes after it is unlocked', async () => {
    const body = signing('locked');
    const answer = ask(body);
    const fingerprint = await waits(body);
    service.vault.keyring.lock();
    expect((await vote(ben, 'approve', fingerprint)).status).not.toBe(200);
    expect(service.vault.waiters.size).toBe(1);
    await service.unlock();
    await vote(ben, 'approve', fingerprint);
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test('that is frozen answers all that waits at once, and lets nothing wait before it is thawed', async () => {
    const body = signing('frozen');
    const answer = ask(body);
    await waits(body);
    await service.vault.rpc.freeze();
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const again = await ask(body);
    expect(again.headers['preference-applied']).toBeUndefined();
    await service.unlock();
    await vi.waitFor(async () => {
      expect(statusOf(await ask(body, { prefer: '' }))).toBe('ACTIVITY_STATUS_REJECTED');
    });
  });

  test('that ends answers what waits', async () => {
    const ending = await startTestVault();
    const { client, userId } = await ending.newUser('Ann');
    resultOf(
      await ending.root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'By two',
        effect: 'EFFECT_ALLOW',
        condition: `submitter.id == '${userId}'`,
        consensus: 'approvers.count() > 1',
        notes: '',
      }),
    );
    const body = client.submitBody('CREATE_WALLET', { walletName: 'Late', accounts: [] });
    const answer = client.post('submit/create_wallet', body, patient);
    await vi.waitFor(() => {
      expect(ending.vault.waiters.size).toBe(1);
    });
    await ending[Symbol.asyncDispose]();
    expect(statusOf(await answer)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  });
});

test.each([
  ['wait=5', 5],
  ['Wait = 5', 5],
  ['respond-async, wait=5', 5],
  ['wait="5"', 5],
  ['wait=5; q=1', 5],
  ['wait=5, wait=50', 5],
  ['wait=601', 600],
  ['wait=999999999', 600],
  ['wait=0', undefined],
  ['wait=-5', undefined],
  ['wait=5.5', undefined],
  ['wait=1e9', undefined],
  ['wait="5', undefined],
  ['wait=9999999999', undefined],
  ['wait', undefined],
  ['wait=x, wait=5', undefined],
  ['await=5', undefined],
  ['', undefined],
  [undefined, undefined],
])('Prefer: %s', (header, seconds) => {
  expect(readWait(header)).toBe(seconds);
});
