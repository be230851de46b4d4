/** Ethereum's tools, as `npm test` installs them beside Litestream, and a node to use them with. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { toolsDirectory } from '../storage/litestream.ts';

const foundry = '1.7.1';

/** On npm; together 350 MB, so none is among the project's own packages. */
export const ethereumPackages = [
  ...['anvil', 'cast', 'forge'].map((name) => `@foundry-rs/${name}@${foundry}`),
  'ethers@6.17.0',
  'hardhat@3.18.0',
  'solc@0.8.37',
  'web3@4.16.0',
  // npm leaves it out where it cannot tell the C library.
  ...(process.platform === 'linux' && process.arch === 'x64'
    ? ['@nomicfoundation/edr-linux-x64-gnu@0.22.0']
    : []),
];

export const toolsModules = join(toolsDirectory, 'node_modules');

/** @param name anvil, cast or forge. */
export const foundryProgram = (name: string): string =>
  join(
    toolsModules,
    `@foundry-rs/${name}-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
    'bin',
    name,
  );

export const areToolsThere = (): boolean =>
  existsSync(foundryProgram('anvil')) && existsSync(join(toolsModules, 'hardhat'));

export interface TestNode extends AsyncDisposable {
  readonly url: string;
  readonly ask: (method: string, ...params: readonly unknown[]) => Promise<unknown>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a test chain of chain ID 31337 with accounts that have coins. */
export async function startAnvil(...more: readonly string[]): Promise<TestNode> {
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  const child = spawn(foundryProgram('anvil'), ['--port', String(port), '--silent', ...more], {
    stdio: 'ignore',
  });
  const ask = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result, error } = (await response.json()) as {
      readonly result?: unknown;
      readonly error?: unknown;
    };
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  };
  for (let tries = 0; ; tries += 1) {
    try {
      await ask('eth_chainId');
      break;
    } catch (error) {
      if (tries === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return {
    url,
    ask,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        child.once('close', () => {
          resolve();
        });
        child.kill();
      }),
  };
}
