/** A vault whose Ethereum door is on, with a wallet that has coins on a test chain. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestNode } from './ethereum-tools.ts';
import { resultOf, runCommand, send, startTestVault, type Json, type TestVault } from './support.ts';

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ToolVault extends AsyncDisposable {
  readonly service: TestVault;
  readonly accounts: readonly string[];
  /** Runs the command as the owner. */
  readonly keyhearth: (...argv: readonly string[]) => Promise<Json>;
  /** Pairs a tool. @returns the URL with its token. */
  readonly add: (name: string, ...more: readonly string[]) => Promise<string>;
}

/** One call of JSON-RPC to the URL of a tool. */
export async function rpc(url: string, method: string, ...params: readonly unknown[]): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const { origin, pathname } = new URL(url);
  const answer = await send(origin, {
    path: pathname,
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (answer.body === undefined)
    throw new Error(`no JSON, but HTTP ${String(answer.status)}: ${answer.text}`);
  return answer.body;
}

export async function startToolVault(node: TestNode | undefined, count = 3): Promise<ToolVault> {
  const service = await startTestVault({ password: 'correct horse battery staple' });
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
  const environment = {
    KEYHEARTH_DATA_DIR: service.directory,
    KEYHEARTH_CONFIG_DIR: join(service.directory, '../config'),
  };
  const keyhearth = async (...argv: readonly string[]): Promise<Json> => {
    const ran = await runCommand([...argv, '--json'], { environment });
    if (ran.code !== 0) throw new Error(ran.stderr);
    return JSON.parse(ran.stdout) as Json;
  };
  const made = resultOf(
    await service.root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Deployer',
      accounts: Array.from({ length: count }, (_, index) => ({
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: `m/44'/60'/0'/0/${String(index)}`,
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      })),
    }),
  ) as unknown as { readonly addresses: readonly string[] };
  await service.vault.rpc.changeDoors({ change: 'switch', door: 'ethereum', on: true });
  if (node !== undefined) {
    for (const address of made.addresses) await node.ask('anvil_setBalance', address, '0x56bc75e2d63100000');
    await service.vault.rpc.changeDoors({
      change: 'node',
      door: 'ethereum',
      chainId: '31337',
      url: node.url,
    });
  }
  return {
    service,
    accounts: made.addresses,
    keyhearth,
    add: async (name, ...more) => {
      const budget = more.includes('--budget') ? [] : ['--budget', '50 ETH/day'];
      const terms = ['--wallet', 'Deployer', '--chain', '31337', ...budget, ...more];
      const { token } = (await keyhearth('rpc', 'add', name, ...terms)) as { readonly token: string };
      return `${service.url}/rpc/${token}`;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
