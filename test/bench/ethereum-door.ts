/** `eth_signTransaction` through the door for Ethereum tools, beside `eth_sign` of anvil, in turns. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { areToolsThere, startAnvil } from '../support/ethereum-tools.ts';
import { runLoad, type Load } from './load.ts';
import { median, startBench } from './signing.ts';

interface DoorLoad {
  /** Transactions: each is read, decided by policies with a budget, and a row of the log on the disk. */
  readonly perSecond: number;
  /** Messages of 32 bytes. */
  readonly anvilPerSecond: number;
  readonly ratio: number;
  readonly p99Ms: number;
}

export async function measureEthereumDoor(
  directory: string,
  seconds: number,
): Promise<DoorLoad | { readonly notMeasured: string }> {
  if (!areToolsThere()) return { notMeasured: 'anvil is not installed: node test/project/prepare.ts' };
  mkdirSync(directory);
  await using bench = await startBench(directory);
  await bench.run('wallets', 'create', '--name', 'Bench', '--account', 'ethereum');
  const terms = ['--wallet', 'Bench', '--budget', '1000000 ETH/day', '--chain', '31337'];
  const { token } = await bench.run('rpc', 'add', 'bench', ...terms);
  await bench.run('doors', 'on', 'ethereum');
  await using anvil = await startAnvil();
  const door = `${bench.url}/rpc/${String(token)}`;
  const [from] = (await ask(door, 'eth_accounts')) as readonly string[];
  const [account] = (await anvil.ask('eth_accounts')) as readonly string[];

  let nonce = 0;
  const transaction = () => ({
    ...{ from, to: `0x${'52'.repeat(20)}`, value: '0x1', gas: '0x5208', gasPrice: '0x1' },
    nonce: `0x${(nonce++).toString(16)}`,
  });
  const load = (url: string, call: () => readonly [string, readonly unknown[]]): Promise<Load> =>
    runLoad(
      url,
      () => {
        const [method, params] = call();
        return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers: {} };
      },
      seconds,
      { answers: '"result":"0x' },
    );
  const signing = (): Promise<Load> => load(door, () => ['eth_signTransaction', [transaction()]]);
  await signing();
  const loads = { door: [] as Load[], anvil: [] as Load[] };
  for (let turn = 0; turn < 3; turn++) {
    loads.door.push(await signing());
    loads.anvil.push(
      await load(anvil.url, () => ['eth_sign', [account, `0x${randomBytes(32).toString('hex')}`]]),
    );
  }
  const middle = (of: readonly Load[], field: 'perSecond' | 'p99Ms') => median(of.map((each) => each[field]));
  const [perSecond, anvilPerSecond] = [middle(loads.door, 'perSecond'), middle(loads.anvil, 'perSecond')];
  return { perSecond, anvilPerSecond, ratio: perSecond / anvilPerSecond, p99Ms: middle(loads.door, 'p99Ms') };
}

async function ask(url: string, method: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
  });
  const { result } = (await response.json()) as { readonly result?: unknown };
  if (result === undefined) throw new Error(`${method} is refused`);
  return result;
}
