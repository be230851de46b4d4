/** Tags and the archive of wallets: they sort lists, and change no right. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  activityOf,
  newUserBy,
  newWallet,
  resultOf,
  startTestVault,
  newSubOrganization,
} from '../support/support.ts';
import type { Json, TestVault, TestClient } from '../support/support.ts';

let service: TestVault;
let root: TestClient;
let walletId: string;
let ethereum: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  ({ walletId, ethereum } = await newWallet(root));
});
afterAll(() => service[Symbol.asyncDispose]());

const label = (parameters: Json, client = root) =>
  client.submit('update_wallet_labels', 'UPDATE_WALLET_LABELS', { walletId, ...parameters });

async function labels(client = root): Promise<{ readonly tags: unknown; readonly archived: unknown }> {
  const { body } = await client.query('list_wallet_summaries');
  const all = body?.['walletSummaries'] as readonly (Json & { readonly walletId: string })[];
  const found = all.find((each) => each.walletId === walletId);
  return { tags: found?.['tags'], archived: found?.['archived'] };
}

test('a wallet has the tags that were given last, and what is left out stays', async () => {
  expect(await labels()).toEqual({ tags: [], archived: false });
  resultOf(await label({ tags: ['Family', 'Cold'] }));
  resultOf(await label({ archived: true }));
  expect(await labels()).toEqual({ tags: ['Family', 'Cold'], archived: true });
  resultOf(await label({ tags: [] }));
  expect(await labels()).toEqual({ tags: [], archived: true });
  const { body = {} } = await root.query('describe_activities', {
    activityIds: [activityOf(await label({ tags: ['Cold'], archived: false })).id],
  });
  const [{ effect }] = body['descriptions'] as readonly [{ readonly effect: readonly Json[] }];
  expect(effect.map(({ text }) => text).join('')).toMatch(
    /^The wallet .+ has the tags Cold, and is not archived\. It signs as before\.$/,
  );
});

test('an archived wallet signs', async () => {
  resultOf(await label({ archived: true }));
  const signed = await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: ethereum,
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  expect(activityOf(signed).status).toBe('ACTIVITY_STATUS_COMPLETED');
});

test.each([
  ['a tag twice', { tags: ['A', 'A'] }, /"A" is given twice/],
  ['a tag with a turn in its direction', { tags: ['A\u202eB'] }, /parameters\.tags/],
  ['an empty tag', { tags: [''] }, /parameters\.tags/],
  ['21 tags', { tags: Array.from({ length: 21 }, (_, index) => `T${String(index)}`) }, /parameters\.tags/],
  ['a word for yes', { archived: 'yes' }, /parameters\.archived/],
])('%s is refused, and nothing changes', async (_what, parameters, why) => {
  const before = await labels();
  const answer = await label(parameters);
  expect(answer.status).toBe(400);
  expect(String(answer.body?.['message'])).toMatch(why);
  expect(await labels()).toEqual(before);
});

test('a user needs a policy for it, and another organization has no such wallet', async () => {
  const { client } = await newUserBy(root, 'Nobody');
  expect((await label({ tags: ['Mine'] }, client)).status).toBe(403);
  const { client: stranger } = await newSubOrganization(root);
  const answer = await label({ archived: false }, stranger);
  expect(answer.status).toBe(404);
  expect((await labels()).archived).toBe(true);
});

test('a deleted wallet leaves no labels', async () => {
  const { walletId: other } = await newWallet(root, 'Short-lived');
  resultOf(
    await root.submit('update_wallet_labels', 'UPDATE_WALLET_LABELS', { walletId: other, tags: ['Gone'] }),
  );
  resultOf(
    await root.submit('delete_wallets', 'DELETE_WALLETS', { walletIds: [other], deleteWithoutExport: true }),
  );
  const { body } = await root.query('list_wallet_summaries');
  expect(JSON.stringify(body)).not.toContain('Gone');
});
