/**
 * Requests of programs that come again. The class: a caller that has no answer repeats its request, and the repeat is the same
 * request, also after its door was opened again. A caller that has its answer asks for something new.
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { appendActivity, findActivityByFingerprint } from '../../main/storage/tables/activities.ts';
import {
  activityOf,
  resultOf,
  startTestVault,
  type ActivityBody,
  type Json,
  type TestVault,
} from '../support/support.ts';
import { askToSign, makeTaggedKey, pairSshProgram, type TaggedKey } from '../support/ssh-agent.ts';

let service: TestVault;
let key: TaggedKey;
let socket = '';

beforeAll(async () => {
  service = await startTestVault({ password: 'correct horse battery staple' });
  key = await makeTaggedKey(service);
  ({ socket } = await pairSshProgram(service, key, 'laptop', { asks: true }));
});
afterAll(() => service[Symbol.asyncDispose]());

const asked = async (): Promise<readonly ActivityBody[]> => {
  const { body } = await service.root.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    paginationOptions: { limit: '100' },
  });
  return body?.['activities'] as ActivityBody[];
};

const isWaiting = (count: number) =>
  vi.waitFor(() => {
    expect(service.vault.waiters.size).toBe(count);
  });

/** Sends a request, and leaves once it waits. @returns its fingerprint. */
async function leave(message: string): Promise<string> {
  const before = service.vault.waiters.size;
  const { socket: caller } = await askToSign(socket, key.blob, message);
  await isWaiting(before + 1);
  caller.destroy();
  await isWaiting(before);
  return (await asked())[0]?.fingerprint ?? '';
}

const vote = async (verb: 'approve' | 'reject', fingerprint: string): Promise<void> => {
  activityOf(
    await service.root.submit(`${verb}_activity`, `${verb.toUpperCase()}_ACTIVITY`, { fingerprint }),
  );
};

/** Closes the program's socket and opens it again, as a restart of the service does. */
async function letInAnew(): Promise<void> {
  for (const on of [false, true]) await service.vault.rpc.changeDoors({ change: 'switch', door: 'ssh', on });
}

test('a repeat joins the request that waits, after a restart of the door too', async () => {
  const fingerprint = await leave('before the vote');
  await letInAnew();
  const count = (await asked()).length;
  const { answer } = await askToSign(socket, key.blob, 'before the vote');
  await isWaiting(1);
  await vote('approve', fingerprint);
  expect(await answer).toMatchObject({ ok: true });
  expect(await asked()).toHaveLength(count);
});

test('a repeat gets the signature that a late vote gave, after a restart of the door too', async () => {
  const fingerprint = await leave('after the vote');
  await letInAnew();
  await vote('approve', fingerprint);
  const count = (await asked()).length;
  const { answer } = await askToSign(socket, key.blob, 'after the vote');
  expect(await answer).toMatchObject({ ok: true });
  expect(await asked()).toHaveLength(count);
});

test('a repeat finds its request behind many of others, after a restart of the door too', async () => {
  const fingerprint = await leave('behind many');
  await vote('approve', fingerprint);
  const parameters = { encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1', numSecrets: 1 };
  for (let number = 0; number < 120; number++)
    activityOf(await service.root.submit('init_import_secrets', 'INIT_IMPORT_SECRETS', parameters));
  await letInAnew();
  const count = (await asked()).length;
  const { answer } = await askToSign(socket, key.blob, 'behind many');
  expect(await answer).toMatchObject({ ok: true });
  expect(await asked()).toHaveLength(count);
});

test.each(['of tomorrow', 'null', '[]', '{"timestampMs":{}}'])(
  'a row of the log whose request reads %j stops no program, after a restart of the door too',
  async (message) => {
    const fingerprint = await leave(`beside ${message}`);
    const { units } = service.vault;
    await units.write((tx) => {
      const row = findActivityByFingerprint(tx, service.organizationId, fingerprint);
      if (row === undefined) throw new Error('the log has no such row');
      const [first, ...rest] = JSON.parse(row.votes) as Json[];
      const votes = JSON.stringify([{ ...first, message }, ...rest]);
      const digest = createHash('sha256').update(message).digest('hex');
      appendActivity(tx, { ...row, id: randomUUID(), fingerprint: `sha256:${digest}`, votes });
    });
    await letInAnew();
    await vote('approve', fingerprint);
    const { answer } = await askToSign(socket, key.blob, `beside ${message}`);
    expect(await answer).toMatchObject({ ok: true });
  },
);

test('a caller that missed a rejection gets it, and one that has it makes a new request', async () => {
  const fingerprint = await leave('rejected');
  await vote('reject', fingerprint);
  const missed = await askToSign(socket, key.blob, 'rejected');
  expect(await missed.answer).toMatchObject({ ok: false, problem: 'the request was rejected' });
  const again = await askToSign(socket, key.blob, 'rejected');
  await isWaiting(1);
  const [newest] = await asked();
  expect(newest?.fingerprint).not.toBe(fingerprint);
  await vote('approve', newest?.fingerprint ?? '');
  expect(await again.answer).toMatchObject({ ok: true });
});

test('a clock that was ahead and is put right stops no program', async () => {
  const { socket: alone } = await pairSshProgram(service, key, 'clocked');
  const day = 86_400_000;
  service.clock.advance(day);
  expect(await (await askToSign(alone, key.blob, 'ahead')).answer).toMatchObject({ ok: true });
  service.clock.advance(-day);
  expect(await (await askToSign(alone, key.blob, 'put right')).answer).toMatchObject({ ok: true });
});

// The clock is ahead from here on.
test('a request that was refused is decided again, however much later it comes again', async () => {
  const { socket: alone } = await pairSshProgram(service, key, 'alone');
  const { policyId } = resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'No signatures',
      effect: 'EFFECT_DENY',
      condition: "activity.kind == 'SIGN_RAW_PAYLOAD'",
      consensus: 'true',
      notes: '',
    }),
  ) as unknown as { readonly policyId: string };
  const refused = await askToSign(alone, key.blob, 'refused');
  expect(await refused.answer).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/No signatures/) as string,
  });
  activityOf(await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  const count = (await asked()).length;
  service.clock.advance(3_700_000);
  for (let time = 0; time < 2; time++) {
    const again = await askToSign(alone, key.blob, 'refused');
    expect(await again.answer).toMatchObject({ ok: true });
  }
  expect(await asked()).toHaveLength(count + 1);
});
