/**
 * A token that every holder can use is in the log for the credential that asked for it, and for no other reader: not by an
 * answer, an event or the file, nor once another program has moved it into an activity of its own.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openForAsker, sealForAsker } from '../../main/activities/answer/askers-secrets.ts';
import { createReadOnlySession } from '../../main/operations/sign-in/sessions.ts';
import { openStream } from '../support/streams.ts';
import {
  activityOf,
  newTestKey,
  resultOf,
  send,
  stampText,
  startTestVault,
  type ActivityBody,
  type Answer,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';

let service: TestVault;
let mate: { readonly userId: string; readonly client: TestClient };

beforeAll(async () => {
  service = await startTestVault();
  await service.vault.messages.change({ channel: 'desktop', on: true });
  mate = await service.newUser('Mate');
});
afterAll(() => service[Symbol.asyncDispose]());

interface Asked {
  readonly answer: Answer;
  readonly path: string;
  readonly body: string;
}

async function ask(client: TestClient, operation: string, type: string, parameters: Json): Promise<Asked> {
  const [path, body] = [`submit/${operation}`, client.submitBody(type, parameters)];
  return { path, body, answer: await client.post(path, body) };
}

async function codeFor(contact: string): Promise<Json> {
  const answer = await service.root.submit('init_otp', 'INIT_OTP_V3', {
    otpType: 'OTP_TYPE_EMAIL',
    contact,
    appName: 'Test',
  });
  await service.vault.messages.settled();
  const message = service.vault.messages.shown().findLast(({ to }) => to === contact);
  return { otpId: resultOf(answer)['otpId'], otpCode: message?.code };
}

const kinds = {
  create_read_only_session: {
    token: 'session',
    type: 'CREATE_READ_ONLY_SESSION',
    of: () => Promise.resolve({}),
  },
  verify_otp: { token: 'verificationToken', type: 'VERIFY_OTP', of: () => codeFor('reader@example.org') },
} as const;

const activityIn = async (client: TestClient, activityId: string): Promise<string> =>
  JSON.stringify((await client.query('get_activity', { activityId })).body);

/** Sends the first request of an activity, with its stamp, as a reader of the log has both. */
async function replayed(activityId: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { body } = await mate.client.query('get_activity', { activityId });
  const { activity } = body as { readonly activity: ActivityBody };
  const [{ message, ...vote }] = activity.votes as unknown as readonly [
    Readonly<Record<'message' | 'publicKey' | 'scheme' | 'signature', string>>,
  ];
  const path = activity.type.replace('ACTIVITY_TYPE_', '').toLowerCase();
  return send(service.url, {
    path: `/public/v1/submit/${path}`,
    headers: { 'x-stamp': stampText(vote), ...headers },
    body: message,
  });
}

const signatureOf = (token: string): string => token.split('.')[2] ?? '';

describe.each(Object.entries(kinds))('the token of %s', (operation, { token: name, type, of }) => {
  test('is for the credential that asked, and not for the same request again', async () => {
    const { root, url, organizationId } = service;
    const stream = await openStream({ url, organizationId, key: mate.client.key }, {});
    const { answer, path, body } = await ask(root, operation, type, await of());
    const { id } = activityOf(answer);
    const token = String(resultOf(answer)[name]);
    expect(token.split('.')).toHaveLength(3);
    expect(await activityIn(root, id)).toContain(token);

    // The same user with another key, and with a session that only reads.
    const second = newTestKey();
    const apiKeys = [{ apiKeyName: 'Second', publicKey: second.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    resultOf(
      await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId: service.rootUserId, apiKeys }),
    );
    const session = String(
      resultOf(await root.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {}))['session'],
    );
    const reading = (query: string, parameters: Json): Promise<Answer> =>
      send(url, {
        path: `/public/v1/query/${query}`,
        body: JSON.stringify({ organizationId, ...parameters }),
        headers: { 'x-session': session },
      });
    await expect.poll(() => stream.events.some(({ activity }) => activity['id'] === id)).toBe(true);
    stream.close();
    for (const [who, text] of [
      ['another user', await activityIn(mate.client, id)],
      ['the list of another user', JSON.stringify((await mate.client.query('list_activities')).body)],
      ['another key of the user', await activityIn(root.as(second), id)],
      ['the same request again', JSON.stringify((await root.post(path, body)).body)],
      ['the same request, sent by a reader of the log', JSON.stringify((await replayed(id)).body)],
      ['the same request by another key', JSON.stringify((await root.as(second).post(path, body)).body)],
      ['a session that reads', JSON.stringify((await reading('get_activity', { activityId: id })).body)],
      ['a stream', JSON.stringify(stream.events)],
    ] as const) {
      expect(text, who).toContain(id);
      expect(text, who).not.toContain(signatureOf(token));
    }
    for (const file of readdirSync(service.directory)) {
      if (file.startsWith('vault')) {
        expect(readFileSync(join(service.directory, file)).includes(signatureOf(token)), file).toBe(false);
      }
    }
  });
});

test('a sealed token that is moved to another caller’s activity, or votes, does not open', () => {
  const keys = service.vault.keyring;
  const stamp = { publicKey: 'one', scheme: '', signature: '' };
  const asker = { organizationId: service.organizationId, userId: service.rootUserId, root: true, stamp };
  const sealed = sealForAsker(keys, createReadOnlySession, asker, { session: 'token', userId: 'u' });
  expect(sealed['session']).toMatch(/^sealed:[\w-]+$/);
  expect(sealed['userId']).toBe('u');
  const openFor = (change: Partial<typeof asker>) =>
    openForAsker(keys, createReadOnlySession, () => ({ ...asker, ...change }), sealed);
  expect(openFor({})).toEqual({ session: 'token', userId: 'u' });
  for (const change of [
    { userId: mate.userId },
    { organizationId: mate.userId },
    { stamp: { ...stamp, publicKey: 'two' } },
    { stamp: { ...stamp, publicKey: '' } },
  ]) {
    expect(openFor(change)).toEqual(sealed);
  }
  for (const session of [
    'sealed:',
    'sealed:AQ',
    `${String(sealed['session'])}A`,
    'sealed:é',
    'an older token',
  ]) {
    expect(openForAsker(keys, createReadOnlySession, () => asker, { session })).toEqual({ session });
  }
});

test('a token that others approve is for the credential that asked', async () => {
  const { root } = service;
  const other = await service.newUser('Other');
  const policy = {
    policyName: 'Two verify',
    effect: 'EFFECT_ALLOW',
    condition: "activity.type == 'ACTIVITY_TYPE_VERIFY_OTP'",
    consensus: 'approvers.count() >= 2',
    notes: '',
  };
  resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', policy));
  const code = await codeFor('approved@example.org');
  const { answer } = await ask(mate.client, 'verify_otp', 'VERIFY_OTP', code);
  const { id, fingerprint } = activityOf(answer);
  const awaited = replayed(id, { prefer: 'wait=60' });
  await expect.poll(() => service.vault.waiters.size).toBe(1);
  const approval = await other.client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
  expect(resultOf(approval)['verificationToken']).toMatch(/^sealed:/);
  expect(resultOf(await awaited)['verificationToken']).toMatch(/^sealed:/);
  const { body } = await mate.client.query('get_activity', { activityId: id });
  expect(resultOf({ ...answer, body })['verificationToken']).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/);
});
