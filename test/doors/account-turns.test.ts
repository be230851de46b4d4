/**
 * The turns in which an account gets its nonces. The class: a program holds up its own payments alone, and those of no account that
 * is not its own, nor for a caller that has left.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listTransactions } from '../../main/storage/tables/ethereum-transactions.ts';
import { newWallet } from '../support/support.ts';
import { rpc, startToolVault, type ToolVault } from '../support/tool-vault.ts';

/** The data of the calls that the node estimates, in order; of those that the test holds, what lets each go on. */
const estimated: string[] = [];
const held: (() => void)[] = [];
/** The data of calls that a node takes long for. */
const slow = '0xdeadbeef';
/** How often the node was asked for a transaction, which it always has. */
let lookedUp = 0;
/** Of the first block, which is asked for before each turn. */
let begun = 0;
const node = createServer((incoming, response) => {
  void text(incoming).then((body) => {
    const { id, method, params } = JSON.parse(body) as {
      readonly id: number;
      readonly method: string;
      readonly params: readonly [unknown];
    };
    const says: Record<string, unknown> = {
      ...{ eth_chainId: '0x1', eth_getTransactionCount: '0x0', eth_estimateGas: '0x5208' },
      ...{ eth_getBlockByNumber: { hash: '0xaa', baseFeePerGas: '0x1' }, eth_maxPriorityFeePerGas: '0x1' },
      eth_getTransactionByHash: {},
    };
    const answer = () => {
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: says[method] ?? null }));
    };
    if (method === 'eth_getBlockByNumber' && params[0] === '0x0') begun += 1;
    if (method === 'eth_getTransactionByHash') lookedUp += 1;
    if (method === 'eth_estimateGas') {
      const { data } = params[0] as { readonly data: string };
      estimated.push(data);
      if (data === slow) {
        held.push(answer);
        return;
      }
    }
    answer();
  });
});

let vault: ToolVault;
let from = '';
const to = `0x${'11'.repeat(20)}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  vault = await startToolVault(undefined);
  [from = ''] = vault.accounts;
  await vault.keyhearth(
    'rpc',
    'node',
    '1',
    `http://127.0.0.1:${String((node.address() as AddressInfo).port)}`,
  );
}, 60_000);
beforeEach(() => {
  for (const answer of held) answer();
  for (const list of [estimated, held]) list.length = 0;
  begun = 0;
  lookedUp = 0;
});
afterAll(async () => {
  await vault[Symbol.asyncDispose]();
  node.closeAllConnections();
  node.close();
});

const pair = (name: string) => vault.add(name, '--chain', '1', '--budget', '1 ETH/day');
const pay = (url: string, data = '0x') => rpc(url, 'eth_sendTransaction', { from, to, data });

test('are not held by a program that names an account of another wallet', async () => {
  const { url, root } = vault.service;
  await newWallet(root, 'Other');
  const terms = ['--wallet', 'Other', '--chain', '1', '--budget', '1 ETH/day'];
  const { token } = await vault.keyhearth('rpc', 'add', 'other', ...terms);
  const { error } = await pay(`${url}/rpc/${String(token)}`, slow);
  expect(error).toMatchObject({ code: 4100, message: expect.stringContaining(from) as string });
  expect(estimated).toEqual([]);
  expect((await pay(await pair('own'))).result).toMatch(/^0x/);
});

test('are not held by requests whose callers have left before their turn', async () => {
  const url = await pair('leaves');
  const first = pay(url, slow);
  await vi.waitFor(() => {
    expect(held).toHaveLength(1);
  });
  const caller = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  caller.on('error', () => undefined);
  const params = [{ from, to, data: '0xbeefdead' }];
  caller.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params }));
  await vi.waitFor(() => {
    expect(begun).toBe(2);
  });
  caller.destroy();
  // The vault hears that the caller left by the time that it answers another.
  await rpc(url, 'eth_chainId');
  held[0]?.();
  expect((await first).result).toMatch(/^0x/);
  expect((await pay(url)).result).toMatch(/^0x/);
  expect(estimated).toEqual([slow, '0x']);
});

test('are not long for what another program sent with nonces of its own, far ahead', async () => {
  const many = await pair('many');
  for (let nonce = 1000; nonce < 1020; nonce++) {
    const wish = { from, to, nonce: `0x${nonce.toString(16)}` };
    expect((await rpc(many, 'eth_sendTransaction', wish)).result).toMatch(/^0x/);
  }
  lookedUp = 0;
  expect((await pay(await pair('one'))).result).toMatch(/^0x/);
  const rows = vault.service.vault.units.read((tx) => listTransactions(tx, '1 0xaa', from));
  const sent = rows.filter(({ program }) => program === 'door ethereum one');
  expect(sent.map(({ nonce }) => nonce)).toEqual([String(rows.length - 21)]);
  expect(lookedUp).toBeLessThan(20);
});
