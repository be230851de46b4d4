/**
 * Ethereum's own tools send through the vault, with a real node: each deploys a contract and calls it within a budget. The
 * classes: policies see each transaction, whatever tool wrote it; and a request is one transaction, however often it comes.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, defineChain, http, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toolsDirectory } from '../storage/litestream.ts';
import { runProgram } from '../support/programs.ts';
import { foundryProgram, startAnvil, toolsModules, type TestNode } from '../support/ethereum-tools.ts';
import { rpc, startToolVault, type ToolVault } from '../support/tool-vault.ts';
import { activityOf } from '../support/support.ts';

/** `contract Counter { uint256 public number; function increment() external payable { number += 1; } }` by solc 0.8.37. */
const bytecode =
  '0x6080604052348015600e575f5ffd5b5061012f8061001c5f395ff3fe6080604052600436106025575f3560e01c80638381f58a146029578063d09de08a14604e575b5f5ffd5b3480156033575f5ffd5b50603a6056565b604051604591906089565b60405180910390f35b6054605b565b005b5f5481565b60015f5f828254606a919060cd565b92505081905550565b5f819050919050565b6083816073565b82525050565b5f602082019050609a5f830184607c565b92915050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f60d5826073565b915060de836073565b925082820190508082111560f35760f260a0565b5b9291505056fea2646970667358221220687716b6838a1072df095ee8b00021de20ae5a0f214f97aa081017c8bc32bc3f64736f6c63430008250033';
const abi = [
  { type: 'function', name: 'number', inputs: [], outputs: [{ type: 'uint256' }], stateMutability: 'view' },
  { type: 'function', name: 'increment', inputs: [], outputs: [], stateMutability: 'payable' },
] as const;
const increment = '0xd09de08a';
const somebody = '0x1111111111111111111111111111111111111111';

let node: TestNode;
let vault: ToolVault;
let url = '';
let from = '';

beforeAll(async () => {
  node = await startAnvil();
  vault = await startToolVault(node);
  [from = ''] = vault.accounts;
  url = await vault.add('tools');
}, 120_000);
afterAll(async () => {
  await vault[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
});

const receiptOf = (hash: unknown) =>
  vi.waitFor(async () => {
    const receipt = (await node.ask('eth_getTransactionReceipt', hash)) as {
      readonly status: string;
      readonly contractAddress: string;
      readonly from: string;
    } | null;
    if (receipt === null) throw new Error('not mined yet');
    return receipt;
  }, 10_000);

const countOf = async (address: string): Promise<bigint> =>
  BigInt(String(await node.ask('eth_getTransactionCount', address, 'pending')));

describe('JSON-RPC', () => {
  test('answers for the accounts of the wallet and the chain, and passes the rest on', async () => {
    expect((await rpc(url, 'eth_accounts')).result).toEqual(vault.accounts);
    expect((await rpc(url, 'eth_chainId')).result).toBe('0x7a69');
    expect((await rpc(`${url}/31337`, 'eth_chainId')).result).toBe('0x7a69');
    expect((await rpc(`${url}/1`, 'eth_chainId')).error?.code).toBe(4100);
    expect((await rpc(url, 'eth_getBalance', from, 'latest')).result).toBe('0x56bc75e2d63100000');
    expect((await rpc(url, 'eth_noSuchMethod')).error?.code).toBe(-32601);
  });

  test.each([
    'eth_sign',
    'personal_importRawKey',
    'wallet_addEthereumChain',
    'account_new',
    'eth_signUserOperation',
  ])('%s is not passed on to the node', async (method) => {
    expect((await rpc(url, method, from, '0x00')).error?.code).toBe(4200);
  });

  test('sends what is asked in any letters, and many at once each with a nonce of its own', async () => {
    const before = await countOf(from);
    const wishes = Array.from({ length: 20 }, (_, index) => ({
      from: index % 2 === 0 ? from.toLowerCase() : from,
      to: somebody,
      value: `0x${(index + 1).toString(16)}`,
    }));
    const answers = await Promise.all(wishes.map((wish) => rpc(url, 'eth_sendTransaction', wish)));
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    for (const { result } of answers) expect((await receiptOf(result)).status).toBe('0x1');
    expect(new Set(answers.map(({ result }) => result)).size).toBe(20);
    expect(await countOf(from)).toBe(before + 20n);
  });

  test('two calls that ask for the same are two transactions, once the first has its answer', async () => {
    const wish = { from, to: somebody, value: '0x64' };
    const first = await rpc(url, 'eth_sendTransaction', wish);
    const second = await rpc(url, 'eth_sendTransaction', wish);
    expect(second.result).toMatch(/^0x[0-9a-f]{64}$/);
    expect(second.result).not.toBe(first.result);
  });
});

describe('tools', () => {
  const chain = () =>
    defineChain({
      id: 31337,
      name: 'test',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    });

  test('viem deploys a contract and calls it', async () => {
    const transport = http(url);
    const wallet = createWalletClient({ chain: chain(), transport, account: from as `0x${string}` });
    const reader = createPublicClient({ chain: chain(), transport });
    const deployed = await wallet.deployContract({ abi, bytecode });
    const { contractAddress } = await reader.waitForTransactionReceipt({ hash: deployed });
    const address = contractAddress ?? '0x';
    for (let each = 0; each < 2; each += 1) {
      const hash = await wallet.writeContract({
        address,
        abi,
        functionName: 'increment',
        value: parseEther('0.001'),
      });
      await reader.waitForTransactionReceipt({ hash });
    }
    expect(await reader.readContract({ address, abi, functionName: 'number' })).toBe(2n);
  });

  /** Runs a program of JavaScript beside the tools' packages. @returns what it printed. */
  const run = async (lines: readonly string[]): Promise<string> => {
    const argv = ['--input-type=module', '-e', lines.join('\n')];
    const env = { URL_OF_TOOL: url, FROM: from, ABI: JSON.stringify(abi), BYTECODE: bytecode };
    const ran = await runProgram(process.execPath, argv, { cwd: toolsDirectory, env });
    expect(ran.code, ran.err).toBe(0);
    return ran.out.trim();
  };
  const given =
    'const { URL_OF_TOOL: url, FROM: from, BYTECODE: data } = process.env; const abi = JSON.parse(process.env.ABI);';

  test('ethers deploys a contract, and calls it three times at once', async () => {
    const printed = await run([
      "import { ContractFactory, JsonRpcProvider } from 'ethers';",
      given,
      'const provider = new JsonRpcProvider(url);',
      'const contract = await new ContractFactory(abi, data, await provider.getSigner(from)).deploy();',
      'await contract.waitForDeployment();',
      'await Promise.all([1, 2, 3].map(async () => (await contract.increment()).wait()));',
      'console.log(String(await contract.number()));',
      'provider.destroy();',
    ]);
    expect(printed).toBe('3');
  });

  test('web3 deploys a contract and calls it', async () => {
    const printed = await run([
      "import { Web3 } from 'web3';",
      given,
      'const contract = await new new Web3(url).eth.Contract(abi).deploy({ data }).send({ from });',
      'await contract.methods.increment().send({ from });',
      'console.log(String(await contract.methods.number().call()));',
      'process.exit(0);',
    ]);
    expect(printed).toBe('1');
  });

  test('Hardhat deploys a contract and calls it, with a remote account', async () => {
    const directory = project('hardhat');
    writeFileSync(
      join(directory, 'hardhat.config.js'),
      `export default { networks: { keyhearth: { type: 'http', chainType: 'l1', url: '${url}', accounts: 'remote' } } };`,
    );
    writeFileSync(
      join(directory, 'run.mjs'),
      [
        "import { network } from 'hardhat';",
        "const { provider } = await network.connect('keyhearth');",
        given,
        'const ask = (method, ...params) => provider.request({ method, params });',
        'const send = async (tx) => {',
        "  const hash = await ask('eth_sendTransaction', tx);",
        "  for (;;) { const found = await ask('eth_getTransactionReceipt', hash); if (found) return found; }",
        '};',
        "const [account] = await ask('eth_accounts');",
        'const { contractAddress: to } = await send({ from: account, data });',
        `await send({ from: account, to, data: '${increment}' });`,
        "console.log(BigInt(await ask('eth_call', { to, data: '0x8381f58a' }, 'latest')));",
        'process.exit(0);',
      ].join('\n'),
    );
    const ran = await runProgram(
      process.execPath,
      [join(toolsModules, 'hardhat/dist/src/cli.js'), 'run', '--no-compile', 'run.mjs'],
      {
        cwd: directory,
        env: {
          BYTECODE: bytecode,
          ABI: '[]',
          HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
          HOME: directory,
          CI: 'true',
        },
      },
    );
    expect(ran.code, ran.err + ran.out).toBe(0);
    expect(ran.out).toContain('1n');
  });

  const foundry = (name: string, argv: readonly string[], cwd = toolsDirectory) =>
    runProgram(foundryProgram(name), argv, { cwd, env: { ETH_RPC_URL: url, HOME: cwd } });

  test('cast sends coins and calls a contract', async () => {
    const sent = await foundry('cast', [
      'send',
      '--unlocked',
      '--from',
      from,
      somebody,
      '--value',
      '0.01ether',
      '--json',
    ]);
    expect(sent.code, sent.err).toBe(0);
    expect(JSON.parse(sent.out)).toMatchObject({ status: '0x1', to: somebody });
    const created = await foundry('cast', [
      'send',
      '--unlocked',
      '--from',
      from,
      '--json',
      '--create',
      bytecode,
    ]);
    expect(created.code, created.err).toBe(0);
    const { contractAddress } = JSON.parse(created.out) as { readonly contractAddress: string };
    const called = await foundry('cast', [
      'send',
      '--unlocked',
      '--from',
      from,
      contractAddress,
      'increment()',
    ]);
    expect(called.code, called.err).toBe(0);
    expect((await foundry('cast', ['call', contractAddress, 'number()(uint256)'])).out.trim()).toBe('1');
  });

  test('forge creates a contract, and a script broadcasts', async () => {
    const directory = project('forge');
    mkdirSync(join(directory, 'src'));
    const compiler = join(directory, 'solc');
    // Foundry would download one; this is the same compiler as a package.
    writeFileSync(
      compiler,
      [
        `#!${process.execPath}`,
        `const solc = require(${JSON.stringify(join(toolsModules, 'solc'))});`,
        "if (process.argv.includes('--version')) console.log('Version: ' + solc.version());",
        "else process.stdout.write(solc.compile(require('fs').readFileSync(0, 'utf8')));",
      ].join('\n'),
      { mode: 0o755 },
    );
    writeFileSync(
      join(directory, 'foundry.toml'),
      `[profile.default]\nsolc = "${compiler}"\noffline = true\n`,
    );
    writeFileSync(
      join(directory, 'src/Counter.sol'),
      [
        '// SPDX-License-Identifier: MIT',
        'pragma solidity ^0.8.0;',
        'contract Counter { uint256 public number; function increment() external { number += 1; } }',
        'interface Vm { function startBroadcast() external; function stopBroadcast() external; }',
        'contract Deploy {',
        '  Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);',
        '  function run() external {',
        '    vm.startBroadcast();',
        '    Counter counter = new Counter();',
        '    counter.increment();',
        '    counter.increment();',
        '    vm.stopBroadcast();',
        '  }',
        '}',
      ].join('\n'),
    );
    const as = ['--unlocked', '--broadcast', '--rpc-url', url];
    const created = await foundry(
      'forge',
      ['create', 'src/Counter.sol:Counter', '--from', from, ...as],
      directory,
    );
    expect(created.code, created.err + created.out).toBe(0);
    expect(created.out).toContain('Deployed to:');
    const before = await countOf(from);
    const script = await foundry(
      'forge',
      ['script', 'src/Counter.sol:Deploy', '--sender', from, ...as],
      directory,
    );
    expect(script.code, script.err + script.out).toBe(0);
    expect(script.out).toContain('ONCHAIN EXECUTION COMPLETE & SUCCESSFUL');
    expect(await countOf(from)).toBe(before + 3n);
  });

  test('over the budget a tool is refused with the policy, and with a vote it goes through', async () => {
    const small = await vault.add('small', '--budget', '0.01 ETH/day', '--ask');
    const strict = await vault.add('strict', '--budget', '0.01 ETH/day');
    const pay = (where: string) =>
      foundry('cast', [
        'send',
        '--unlocked',
        '--from',
        from,
        somebody,
        '--value',
        '0.02ether',
        '--rpc-url',
        where,
      ]);
    const refused = await pay(strict);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('not within the policy "Ethereum strict: budget of each day"');
    const before = await countOf(from);
    const paying = pay(small);
    await vi.waitFor(() => {
      expect(vault.service.vault.waiters.size).toBe(1);
    }, 20_000);
    const { root } = vault.service;
    const { activities } = (
      await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] })
    ).body as { readonly activities: readonly { readonly id: string; readonly fingerprint: string }[] };
    expect(activities).toHaveLength(1);
    const show = async () =>
      (
        await vault.keyhearth('approvals', 'show', activities[0]?.id ?? '', '--preview', '--api-key', 'owner')
      )['preview'];
    expect(await show()).toMatchObject({ outcome: 'PREVIEW_OUTCOME_OFF' });
    await vault.keyhearth('rpc', 'node', '31337', '--previews', 'on');
    expect(await show()).toMatchObject({
      ...{ outcome: 'PREVIEW_OUTCOME_SUCCESS', method: 'eth_simulateV1', gas: '21000' },
      moves: { leaves: [{ text: '0.02 test ETH', units: '20000000000000000' }], arrives: [], unread: 0 },
    });
    activityOf(
      await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint: activities[0]?.fingerprint }),
    );
    const paid = await paying;
    expect(paid.code, paid.err).toBe(0);
    expect(await countOf(from)).toBe(before + 1n);
  });
});

/** A directory of its own for a tool's project. */
function project(name: string): string {
  const directory = join(vault.service.directory, '..', name);
  mkdirSync(directory, { recursive: true });
  if (name === 'hardhat') symlinkSync(toolsModules, join(directory, 'node_modules'));
  if (name === 'hardhat') writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  return directory;
}
