/**
 * Transactions of the Ethereum door, with a real node, through kill -9 at each step: asked, signed, sent, answered. A caller repeats
 * its request until it has an answer. Each request is then one transaction on the chain, and the nonces have no gap.
 */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startAnvil, type TestNode } from '../support/ethereum-tools.ts';
import { resultOf, type TestClient } from '../support/support.ts';
import { rpc } from '../support/tool-vault.ts';
import { atLength, report } from './length.ts';
import { ServedVault } from './served-vault.ts';

const rounds = atLength(4, 120);
const to = '0x1111111111111111111111111111111111111111';

/** When the process is killed: at a call of the node, before the node has it or before its answer; or after some milliseconds. */
interface Moment {
  readonly method?: string;
  readonly isBefore?: boolean;
  readonly afterMs?: () => number;
}

const moments: Readonly<Record<string, Moment>> = {
  asked: { method: 'eth_estimateGas', isBefore: false },
  signed: { method: 'eth_sendRawTransaction', isBefore: true },
  sent: { method: 'eth_sendRawTransaction', isBefore: false },
  'at any time': { afterMs: () => Math.random() * 60 },
};

/** Stands between the vault and the node, and reports calls. */
async function startBetween(node: TestNode, onCall: (method: string, isBefore: boolean) => boolean) {
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const { method } = JSON.parse(body) as { readonly method: string };
      if (onCall(method, true)) return response.destroy();
      const passed = httpRequest(node.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      const answer = new Promise<IncomingMessage>((resolve) => passed.once('response', resolve));
      passed.end(body);
      const said = await text(await answer);
      return onCall(method, false) ? response.destroy() : response.end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function makeAccount(client: TestClient): Promise<string> {
  const made = resultOf(
    await client.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Deployer',
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    }),
  ) as unknown as { readonly addresses: readonly string[] };
  return made.addresses[0] ?? '';
}

test(
  `kill -9 at each step of a transaction, ${String(rounds)} rounds: none is sent twice, and no nonce is lost`,
  { timeout: atLength(4, 40) * 60_000 },
  async () => {
    await using node = await startAnvil();
    await using vault = await ServedVault.make();
    let { process, client } = await vault.serve();
    const from = await makeAccount(client);
    await node.ask('anvil_setBalance', from, '0x56bc75e2d63100000');
    let moment: Moment = {};
    let kills = 0;
    const kill = (): void => {
      moment = {};
      kills += 1;
      process.child.kill('SIGKILL');
    };
    using between = await startBetween(node, (method, isBefore) => {
      if (moment.method !== method || moment.isBefore !== isBefore) return false;
      kill();
      return true;
    });
    const run = async (...argv: readonly string[]) => {
      const ran = await vault.run([...argv, '--json']);
      expect(ran.code, ran.stderr).toBe(0);
      return JSON.parse(ran.stdout) as { readonly token: string };
    };
    await run('doors', 'on', 'ethereum');
    await run('rpc', 'node', '31337', between.url);
    const terms = ['--wallet', 'Deployer', '--chain', '31337', '--budget', '50 ETH/week'];
    const { token } = await run('rpc', 'add', 'tool', ...terms, '--password-fd', '3');

    /** Repeats one request until it has its answer, and starts the service again whenever it was killed. */
    async function send(value: number): Promise<unknown> {
      const wish = { from, to, value: `0x${value.toString(16)}` };
      for (;;) {
        const { error, result } = await rpc(`${client.url}/rpc/${token}`, 'eth_sendTransaction', wish).catch(
          () => ({ error: undefined, result: undefined }),
        );
        if (result !== undefined) return result;
        expect(error).toBeUndefined();
        await process.ended();
        ({ process, client } = await vault.serve());
      }
    }

    const hashes: unknown[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const wanted = Object.values(moments)[round % Object.keys(moments).length] ?? {};
      moment = wanted;
      const timer = wanted.afterMs && sleep(wanted.afterMs()).then(kill);
      hashes.push(await send(2 * round + 1));
      await timer;
      // It may be killed with its answer given. The next request is another, and finds what was left.
      if (process.child.signalCode !== null || process.child.killed) {
        await process.ended();
        ({ process, client } = await vault.serve());
      }
      hashes.push(await send(2 * round + 2));
    }
    expect(kills).toBe(rounds);
    const sent = await vi.waitFor(async () => {
      const found = [];
      const last = Number(await node.ask('eth_blockNumber'));
      for (let block = 1; block <= last; block += 1) {
        const { transactions } = (await node.ask(
          'eth_getBlockByNumber',
          `0x${block.toString(16)}`,
          true,
        )) as {
          readonly transactions: readonly Record<'hash' | 'from' | 'value' | 'nonce', string>[];
        };
        found.push(...transactions);
      }
      expect(found.length).toBeGreaterThanOrEqual(2 * rounds);
      return found;
    }, 10_000);
    expect(sent.map(({ value }) => Number(value))).toEqual(hashes.map((_, index) => index + 1));
    expect(sent.map(({ nonce }) => Number(nonce))).toEqual(hashes.map((_, index) => index));
    expect(sent.map(({ hash }) => hash)).toEqual(hashes);
    expect(await process.stop()).toBe(0);
    report('kill -9 of the Ethereum door', { rounds, transactions: sent.length });
  },
);
