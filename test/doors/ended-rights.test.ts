/**
 * Requests of a program that were under way when it lost its door. The class: what its owner took away stays away, also for the
 * rest of a batch, and where another program has its name since.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { logEnd } from '../../main/storage/tables/activities.ts';
import { activityOf, send } from '../support/support.ts';
import { rpc, startToolVault, type ToolVault } from '../support/tool-vault.ts';

/** Calls of the node that wait for the test. */
const held: (() => void)[] = [];
const handedOver: unknown[] = [];
/** The node answers nothing to a transaction. */
let isDown = false;
/** The method whose calls wait for the test. */
let holds = 'eth_call';
const says: Record<string, unknown> = {
  ...{ eth_chainId: '0x1', eth_getTransactionCount: '0x0', eth_estimateGas: '0x5208' },
  ...{ eth_getBlockByNumber: { hash: '0xaa', baseFeePerGas: '0x1' }, eth_maxPriorityFeePerGas: '0x1' },
};
/** Of the URLs that were asked. */
const paths: (string | undefined)[] = [];
const node = createServer((incoming, response) => {
  paths.push(incoming.url);
  void text(incoming).then((body) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown };
    const answer = () => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: says[method] ?? null }));
    if (method === 'eth_sendRawTransaction') handedOver.push(params);
    if (method === 'eth_sendRawTransaction' && isDown) response.destroy();
    else if (method === holds) held.push(answer);
    else answer();
  });
});

const nodeUrl = () => `http://127.0.0.1:${String((node.address() as AddressInfo).port)}`;

let vault: ToolVault;

beforeAll(async () => {
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  vault = await startToolVault(undefined);
  await vault.keyhearth('rpc', 'node', '1', nodeUrl());
}, 60_000);
beforeEach(() => {
  held.length = 0;
  handedOver.length = 0;
  isDown = false;
  holds = 'eth_call';
});
afterAll(async () => {
  await vault[Symbol.asyncDispose]();
  node.closeAllConnections();
  node.close();
});

/** A batch of a call that the node holds, a signature and a payment. */
const batch = (url: string) => {
  const [from = ''] = vault.accounts;
  const to = '0x1111111111111111111111111111111111111111';
  const paid = { from, to, value: '0x1' };
  const whole = { ...paid, nonce: '0x9', gas: '0x5208', gasPrice: '0x1' };
  const calls = [
    ['eth_call', {}],
    ['eth_signTransaction', whole],
    ['eth_sendTransaction', paid],
  ].map(([method, param], id) => ({ jsonrpc: '2.0', id, method, params: [param] }));
  const { origin, pathname } = new URL(url);
  const headers = { 'content-type': 'application/json' };
  return send(origin, { path: pathname, headers, body: JSON.stringify(calls) });
};

const pair = (name: string) => vault.add(name, '--chain', '1', '--budget', '1 ETH/day');
const switched = (on: boolean) =>
  vault.service.vault.rpc.changeDoors({ change: 'switch', door: 'ethereum', on });

test.each<readonly [string, (name: string) => Promise<unknown>]>([
  ['whose door is switched off', () => switched(false)],
  ['whose door is switched off and on again', () => switched(false).then(() => switched(true))],
  [
    'that is revoked, and its name given to another',
    async (name) => {
      await vault.keyhearth('rpc', 'remove', name, '--yes');
      await pair(name);
    },
  ],
])('the rest of a batch of a program %s signs nothing', async (_what, end) => {
  await switched(true);
  const name = `tool-${String(Math.floor(performance.now()))}`;
  const asked = batch(await pair(name));
  await vi.waitFor(() => {
    expect(held).toHaveLength(1);
  }, 10_000);
  await end(name);
  held[0]?.();
  const { text: answer } = await asked;
  expect(handedOver).toEqual([]);
  expect(answer).not.toContain('"result":"0x');
});

test('a payment of a revoked program that was not handed over is not sent for another with its name', async () => {
  await switched(true);
  const [from = ''] = vault.accounts;
  const wish = { from, to: '0x1111111111111111111111111111111111111111', value: '0x16345785d8a0000' };
  isDown = true;
  expect((await rpc(await pair('named'), 'eth_sendTransaction', wish)).error).toBeDefined();
  await vault.keyhearth('rpc', 'remove', 'named', '--yes');
  isDown = false;
  handedOver.length = 0;
  const other = await vault.add('named', '--chain', '1', '--budget', '0.001 ETH/day');
  expect((await rpc(other, 'eth_sendTransaction', wish)).error).toMatchObject({ code: 4100 });
  expect(handedOver).toEqual([]);
});

test('what waits for its transaction as its door is switched off is not signed', async () => {
  await switched(true);
  const url = await pair('under-way');
  const [from = ''] = vault.accounts;
  const { service } = vault;
  const { units } = service.vault;
  const write = units.write.bind(units);
  let release: (() => void) | undefined;
  const held = vi.spyOn(units, 'write').mockImplementationOnce(async (...wanted) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return write(...wanted);
  });
  try {
    const to = '0x1111111111111111111111111111111111111111';
    const signed = rpc(url, 'eth_signTransaction', {
      from,
      to,
      nonce: '0x1',
      gas: '0x5208',
      gasPrice: '0x1',
    });
    await vi.waitFor(() => {
      expect(release).toBeDefined();
    }, 10_000);
    await switched(false);
    const logged = async () => (await service.root.query('list_activities')).body?.['activities'];
    const before = await logged();
    release?.();
    expect((await signed).result).toBeUndefined();
    expect(await logged()).toEqual(before);
  } finally {
    held.mockRestore();
  }
});

test.each<readonly [string, (name: string) => Promise<unknown>]>([
  ['whose door is switched off', () => switched(false)],
  [
    'that is revoked, and its name given to another',
    async (name) => {
      await vault.keyhearth('rpc', 'remove', name, '--yes');
      await pair(name);
    },
  ],
])('a signed payment of a program %s is handed over no longer', async (_what, end) => {
  await switched(true);
  const name = `signed-${String(Math.floor(performance.now()))}`;
  const url = await pair(name);
  const { units } = vault.service.vault;
  const write = units.write.bind(units);
  const logged = () => units.readUnverified((tx) => logEnd(tx).sequence);
  const before = logged();
  let release: (() => void) | undefined;
  const late = vi.spyOn(units, 'write').mockImplementation(async (...wanted) => {
    if (release === undefined && logged() > before)
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    return write(...wanted);
  });
  try {
    const [from = ''] = vault.accounts;
    const paid = rpc(url, 'eth_sendTransaction', { from, to: `0x${'14'.repeat(20)}`, value: '0x1' });
    await vi.waitFor(() => {
      expect(release).toBeDefined();
    }, 10_000);
    await end(name);
    release?.();
    expect((await paid).result).toBeUndefined();
    expect(handedOver).toEqual([]);
  } finally {
    late.mockRestore();
  }
});

test('a payment that waits for a vote is not handed to a node that its owner replaced meanwhile', async () => {
  await switched(true);
  const { service } = vault;
  const url = await vault.add('replaced', '--chain', '1', '--budget', '1 wei/day', '--ask');
  const [from = ''] = vault.accounts;
  const pay = () => rpc(url, 'eth_sendTransaction', { from, to: `0x${'15'.repeat(20)}`, value: '0x2' });
  const paid = pay();
  await vi.waitFor(() => {
    expect(service.vault.waiters.size).toBe(1);
  }, 10_000);
  const setNode = (path: string) => vault.keyhearth('rpc', 'node', '1', `${nodeUrl()}${path}`);
  await setNode('/another');
  const filter = { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] };
  const { body } = await service.root.query('list_activities', filter);
  const [asked] = (body?.['activities'] ?? []) as readonly { readonly fingerprint: string }[];
  const { fingerprint } = asked ?? {};
  activityOf(await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
  expect((await paid).error).toMatchObject({ code: 4901 });
  expect(handedOver).toEqual([]);
  expect((await pay()).result).toMatch(/^0x/);
  expect(paths.at(-1)).toBe('/another');
  expect(handedOver).toHaveLength(1);
});

test('a payment that waits for a vote as its door is switched off is the same once it is on again', async () => {
  await switched(true);
  const { service } = vault;
  const url = await vault.add('asks', '--chain', '1', '--budget', '1 wei/day', '--ask');
  const [from = ''] = vault.accounts;
  const pay = () => rpc(url, 'eth_sendTransaction', { from, to: `0x${'12'.repeat(20)}`, value: '0x2' });
  const waiting = async () =>
    (await service.root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] }))
      .body?.['activities'] as readonly { readonly id: string; readonly fingerprint: string }[];
  const isWaitedFor = () =>
    vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    }, 10_000);
  const first = pay();
  await isWaitedFor();
  const [asked] = await waiting();
  await switched(false);
  expect((await first).error).toBeDefined();
  await switched(true);
  const again = pay();
  await isWaitedFor();
  expect((await waiting()).map(({ id }) => id)).toEqual([asked?.id]);
  const { fingerprint } = asked ?? {};
  activityOf(await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
  expect((await again).result).toMatch(/^0x/);
  expect(handedOver).toHaveLength(1);
});

test('a payment that waits for a vote stays the same where its caller leaves while the vault is locked', async () => {
  await switched(true);
  const { service } = vault;
  const { waiters, rpc: owner } = service.vault;
  const url = await vault.add('leaves', '--chain', '1', '--budget', '1 wei/day', '--ask');
  const [from = ''] = vault.accounts;
  const wish = { from, to: `0x${'13'.repeat(20)}`, value: '0x2' };
  const asked = async () =>
    (await service.root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'] }))
      .body?.['activities'] as readonly { readonly id: string; readonly fingerprint: string }[];
  const before = (await asked()).length;
  /** Sends the payment. @returns what leaves without the answer. */
  const pay = (): (() => void) => {
    const caller = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
    caller.on('error', () => undefined);
    caller.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params: [wish] }));
    return () => caller.destroy();
  };
  const soon = (check: () => void) => vi.waitFor(check, 10_000);
  const leave = pay();
  await soon(() => {
    expect(waiters.size).toBe(1);
  });
  leave();
  await soon(() => {
    expect(waiters.size).toBe(0);
  });
  holds = 'eth_getBlockByNumber';
  const leaveAgain = pay();
  await soon(() => {
    expect(held).toHaveLength(1);
  });
  await owner.lock();
  holds = '';
  held[0]?.();
  const isUnlockWaitedFor = (count: number) =>
    vi.waitFor(async () => {
      const programs = (await owner.doors()).flatMap((door) => door.programs);
      expect(programs.find(({ name }) => name === 'leaves')?.waiting).toBe(count);
    }, 10_000);
  await isUnlockWaitedFor(1);
  // A write of the request, as its caller leaves, comes to the file just after the unlock.
  const { units, keyring } = service.vault;
  const write = units.write.bind(units);
  const late = vi.spyOn(units, 'write').mockImplementation(async (...wanted) => {
    await soon(() => {
      expect(keyring.unlocked).toBe(true);
    });
    return write(...wanted);
  });
  leaveAgain();
  await isUnlockWaitedFor(0);
  await service.unlock();
  await Promise.allSettled(late.mock.results.map(({ value }) => value as unknown));
  late.mockRestore();
  const again = rpc(url, 'eth_sendTransaction', wish);
  await soon(() => {
    expect(waiters.size).toBe(1);
  });
  const [newest, ...rest] = await asked();
  const { fingerprint } = newest ?? {};
  activityOf(await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
  expect((await again).result).toMatch(/^0x/);
  expect(rest).toHaveLength(before);
});
