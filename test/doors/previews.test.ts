/**
 * Previews of what waits for votes, by a node that the test answers for. The classes: with previews off the node learns
 * nothing; a preview is for those who vote; and a node that is slow, or another, takes nothing of the service with it.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serializeTransaction, type TransactionSerializable } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { DoorsChange } from '../../preload/contract.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  startTestVault,
  TestClient,
} from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;
/** Asks; and two who see what waits: one whose vote counts, and one whose does not. */
let asker: TestClient;
let voter: TestClient;
let other: TestClient;
let signer: string;
const to = `0x${'52'.repeat(20)}` as const;

const asked: { readonly method: string; readonly params: readonly unknown[] }[] = [];
let respond: (response: ServerResponse, answer: unknown) => void;
const simulation = [{ calls: [{ status: '0x1', gasUsed: '0x5208', returnData: '0x', logs: [] }] }];
const node = createServer((incoming, response) => {
  void text(incoming).then((body) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] };
    asked.push({ method, params });
    const result = method === 'eth_chainId' ? '0x1' : simulation;
    respond(response, { jsonrpc: '2.0', id, result });
  });
});
const url = (): string => `http://127.0.0.1:${String((node.address() as AddressInfo).port)}/secret`;

type NodeChange = DoorsChange extends infer Change
  ? Change extends { readonly chainId: string }
    ? Omit<Change, 'door' | 'chainId'>
    : never
  : never;
const change = (wanted: NodeChange, chainId = '1') =>
  service.vault.rpc.changeDoors({ door: 'ethereum', chainId, ...wanted });

beforeAll(async () => {
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  service = await startTestVault();
  ({ root } = service);
  const made = await Promise.all(['Ann', 'Ben', 'Cleo'].map((name) => service.newUser(name)));
  [asker, voter, other] = made.map(({ client }) => client) as [TestClient, TestClient, TestClient];
  ({ ethereum: signer } = await newWallet(root));
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...{ policyName: 'By two', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", notes: '' },
      consensus: made
        .slice(0, 2)
        .map(({ userId }) => `approvers.any(user, user.id == '${userId}')`)
        .join(' && '),
    }),
  );
});
beforeEach(async () => {
  asked.length = 0;
  respond = (response, answer) => response.end(JSON.stringify(answer));
  await change({ change: 'node', url: url() });
  await change({ change: 'previews', on: true });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  node.closeAllConnections();
  node.close();
});

let nonce = 0;
/** A transaction that waits. @returns its activity's id. */
async function waits(more: Partial<TransactionSerializable> = {}, client = asker, signWith = signer) {
  const transaction = { type: 'eip1559', chainId: 1, nonce: nonce++, to, value: 0n, gas: 30_000n, ...more };
  const answer = await client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    ...{ signWith, type: 'TRANSACTION_TYPE_ETHEREUM' },
    unsignedTransaction: serializeTransaction(transaction as TransactionSerializable),
  });
  const { id, status } = activityOf(answer);
  expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  return id;
}

const preview = (activityId: string, client = voter): Promise<Answer> =>
  client.query('preview_activity', { activityId });
const previewOf = async (answer: Promise<Answer>): Promise<Json> => {
  const { status, body, text: said } = await answer;
  expect(status, said).toBe(200);
  return body?.['preview'] as Json;
};

test('a node is asked about the transaction, by who may vote on it', async () => {
  const id = await waits({ data: '0x0102', maxFeePerGas: 7n });
  for (const client of [voter, asker, root]) {
    expect(await previewOf(preview(id, client))).toEqual({
      ...{ outcome: 'PREVIEW_OUTCOME_SUCCESS', method: 'eth_simulateV1', gas: '21000' },
      moves: { leaves: [], arrives: [], allows: [], left: 0, unread: 0 },
    });
  }
  const fees = { maxFeePerGas: '0x7', maxPriorityFeePerGas: '0x0' };
  const call = { from: signer, to, value: '0x0', gas: '0x7530', input: '0x0102', ...fees };
  const blocks = { blockStateCalls: [{ calls: [call] }], traceTransfers: true };
  const once = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_simulateV1', params: [blocks, 'latest'] },
  ];
  expect(asked).toEqual([...once, ...once, ...once]);
});

test('a new contract is asked about without a receiver', async () => {
  const id = await waits({ to: null, data: '0x6000' });
  expect((await previewOf(preview(id)))['outcome']).toBe('PREVIEW_OUTCOME_SUCCESS');
  expect(asked.at(-1)?.params[0]).toMatchObject({ blockStateCalls: [{ calls: [{ input: '0x6000' }] }] });
  expect(JSON.stringify(asked)).not.toContain('"to"');
});

test('with previews off nothing is sent, and they are off for each new host', async () => {
  const id = await waits();
  const off = async (reason: RegExp) => {
    expect(await previewOf(preview(id))).toEqual({
      outcome: 'PREVIEW_OUTCOME_OFF',
      reason: expect.stringMatching(reason) as string,
    });
  };
  await change({ change: 'previews', on: false });
  await off(/previews are off for chain 1/);
  await change({ change: 'previews', on: true });
  await change({ change: 'node', url: 'https://node.example/secret' });
  await off(/previews are off for chain 1/);
  await change({ change: 'node', url: url() });
  await off(/previews are off for chain 1/);
  await change({ change: 'node', url: null });
  await off(/no node is set for chain 1/);
  await expect(change({ change: 'previews', on: true })).rejects.toThrow('no node is set for chain 1');
  expect(asked).toEqual([]);
  // Another address of the same host, with a new secret, has the same consent.
  await change({ change: 'node', url: url() });
  await change({ change: 'previews', on: true });
  await change({ change: 'node', url: `${url()}/2` });
  expect((await previewOf(preview(id)))['outcome']).toBe('PREVIEW_OUTCOME_SUCCESS');
});

test('what the vault cannot ask about to the letter is not asked', async () => {
  const authorization = {
    chainId: 1,
    address: to,
    nonce: 0,
    r: `0x${'1'.repeat(64)}`,
    s: `0x${'1'.repeat(64)}`,
  };
  const odd: readonly (readonly [Partial<TransactionSerializable>, RegExp])[] = [
    [{ chainId: 5 }, /no node is set for chain 5/],
    [
      { type: 'eip7702', authorizationList: [{ ...authorization, yParity: 0 }] } as never,
      /authorizations has no preview/,
    ],
    [
      { type: 'eip4844', maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${'0'.repeat(62)}`] } as never,
      /blobs has no preview/,
    ],
    [{ type: 'legacy', chainId: undefined } as never, /names no chain/],
  ];
  for (const [more, reason] of odd) {
    const found = await previewOf(preview(await waits(more)));
    expect(found['outcome']).toBe('PREVIEW_OUTCOME_OFF');
    expect(found['reason']).toMatch(reason);
  }
  const message = await asker.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    ...{ signWith: signer, payload: 'text', encoding: 'PAYLOAD_ENCODING_TEXT_UTF8' },
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  expect((await previewOf(preview(activityOf(message).id)))['reason']).toMatch(
    /only transactions of Ethereum/,
  );
  expect(asked).toEqual([]);
});

test('a user whose vote does not count, and another organization, make no node be asked', async () => {
  const id = await waits();
  expect((await preview(id, other)).status).toBe(403);
  const keys = [newTestKey(), newTestKey()];
  const made = resultOf(
    await root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: 'Sub',
      rootUsers: keys.map(({ publicKey }, index) => ({
        ...{ userName: `Sub ${String(index)}`, authenticators: [], oauthProviders: [] },
        apiKeys: [{ apiKeyName: 'key', publicKey, curveType: 'API_KEY_CURVE_P256' }],
      })),
      rootQuorumThreshold: 2,
      wallet: { walletName: 'Sub', accounts: [ethereumAccount] },
    }),
  ) as unknown as { subOrganizationId: string; wallet: { addresses: readonly string[] } };
  const [first, second] = keys.map((key) => new TestClient(service.url, made.subOrganizationId, key)) as [
    TestClient,
    TestClient,
  ];
  expect((await preview(id, first)).status).toBe(404);
  expect(
    (await first.query('preview_activity', { activityId: id, organizationId: root.organizationId })).status,
  ).toBeGreaterThanOrEqual(401);
  // Their own: the node is the owner's, and its operator learns nothing of theirs.
  const own = await waits({}, first, made.wallet.addresses[0]);
  expect((await previewOf(preview(own, second)))['reason']).toMatch(/of a sub-organization/);
  const decided = await waits();
  const { fingerprint } = activityOf(await voter.query('get_activity', { activityId: decided }));
  activityOf(await voter.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
  expect((await preview(decided)).status).toBe(400);
  expect(asked).toEqual([]);
});

test('a slow node holds four previews at most, and no other request', async () => {
  const id = await waits();
  const held: (() => void)[] = [];
  respond = (response, answer) => {
    held.push(() => response.end(JSON.stringify(answer)));
  };
  const waiting = Array.from({ length: 4 }, () => preview(id));
  await vi.waitFor(() => {
    expect(held).toHaveLength(4);
  });
  expect((await preview(id)).status).toBe(429);
  expect((await voter.query('whoami', {})).status).toBe(200);
  respond = (response, answer) => response.end(JSON.stringify(answer));
  for (const answer of held) answer();
  for (const each of waiting) expect((await previewOf(each))['outcome']).toBe('PREVIEW_OUTCOME_SUCCESS');
  expect((await previewOf(preview(id)))['outcome']).toBe('PREVIEW_OUTCOME_SUCCESS');
});

test('who lost the key while the node was asked gets no answer', async () => {
  const id = await waits();
  const key = newTestKey();
  const { userId } = (await voter.query('whoami', {})).body as { userId: string };
  const registered = await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
    userId,
    apiKeys: [{ apiKeyName: 'short', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
  });
  let answer: (() => void) | undefined;
  respond = (response, said) => {
    answer = () => response.end(JSON.stringify(said));
  };
  const asking = preview(id, root.as(key));
  await vi.waitFor(() => {
    expect(answer).toBeDefined();
  });
  const { apiKeyIds } = resultOf(registered) as unknown as { apiKeyIds: readonly string[] };
  resultOf(await root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId, apiKeyIds }));
  respond = (response, said) => response.end(JSON.stringify(said));
  answer?.();
  expect((await asking).status).toBe(401);
});

test('a node that redirects, or cannot be reached, gives no preview', async () => {
  const id = await waits();
  const none = async (reason: RegExp) => {
    expect(await previewOf(preview(id))).toEqual({
      outcome: 'PREVIEW_OUTCOME_NO_ANSWER',
      reason: expect.stringMatching(reason) as string,
    });
  };
  respond = (response) => response.writeHead(307, { location: service.url }).end();
  await none(/it redirects/);
  respond = (response) => response.destroy();
  await none(/cannot be reached/);
  await change({ change: 'node', url: 'https://node.example/secret' });
  await change({ change: 'previews', on: true });
  await service.vault.rpc.changeSettings({ network: false });
  await none(/network is switched off/);
  await service.vault.rpc.changeSettings({ network: true });
});
