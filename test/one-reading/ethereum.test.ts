import {
  concat,
  encodeFunctionData,
  erc20Abi,
  hexToBytes,
  keccak256,
  maxUint256,
  parseAbi,
  serializeTransaction,
  toHex,
  toRlp,
  zeroAddress,
  type Hex,
  type TransactionSerializable,
} from 'viem';
import { recoverAuthorizationAddress } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import type { InPayload } from '../../main/chains/chain.ts';
import type { Description } from '../../main/chains/description.ts';
import { ethereum } from '../../main/chains/ethereum/chain.ts';
import type { FactOf } from '../../main/chains/facts.ts';
import { Unknown } from '../../main/policy/language/types.ts';
import {
  authorizationBy,
  context,
  contract,
  ethereumLaw,
  privateKey,
  read,
  readByArguments,
  savings,
  sender,
  stranger,
  tokenAbi,
  usdc,
} from './ethereum.ts';
import { atLength } from '../campaigns/length.ts';
import { violationsOf } from './law.ts';

const options = { ...ethereumLaw, reads: 2000, tries: 30_000, seed: 15 };
const reads = atLength(600, options.reads);

test('transactions that are shown alike, or give policies the same facts, do the same', () => {
  const { violations, read } = violationsOf({ ...options, reads });
  expect(violations).toEqual([]);
  expect(read).toBe(reads);
});

test('the arguments of a call that is read tell all of its data', () => {
  const { violations, read } = violationsOf({ ...options, reads, read: readByArguments, seed: 16 });
  expect(violations).toEqual([]);
  expect(read).toBe(reads);
});

test('the law is broken by a description that leaves a field out', () => {
  const { violations } = violationsOf({
    ...options,
    read(payload) {
      const reading = ethereumLaw.read(payload);
      if (reading === undefined) return undefined;
      const { description } = reading;
      const lines = description.lines.filter(({ label }) => label !== 'Nonce');
      return { ...reading, description: { ...description, lines } };
    },
  });
  expect(violations[0]).toContain('the same description of different effects');
});

type Made = Partial<TransactionSerializable> & Record<string, unknown>;

function reading(transaction: Made): { description: Description; fact: FactOf<'eth.tx'> } {
  const made = { type: 'eip1559', chainId: 1, to: stranger, ...transaction } as TransactionSerializable;
  const found = read(hexToBytes(serializeTransaction(made)));
  if (found === undefined) throw new Error('not read');
  return { description: found.description, fact: found.facts as FactOf<'eth.tx'> };
}
const described = (transaction: Made): Description => reading(transaction).description;
const factOf = (transaction: Made): FactOf<'eth.tx'> => reading(transaction).fact;
const lineOf = ({ lines }: Description, label: string): string | undefined =>
  lines.find((line) => line.label === label)?.value;

const ether = 10n ** 18n;
const fees = { gas: 21_000n, maxFeePerGas: 10n ** 9n };

describe('everything that leaves the account is shown, the fee included', () => {
  test('a transfer', () => {
    const { description, fact } = reading({ ...fees, value: ether });
    expect(description.title).toBe(`Send 1 ETH to ${stranger}, with a fee of at most 0.000021 ETH`);
    expect(lineOf(description, 'Leaves your account at most')).toBe('1.000021 ETH (1000021000000000000 wei)');
    expect(fact).toMatchObject({ max_fee: 21_000n * 10n ** 9n, outflow: ether + 21_000n * 10n ** 9n });
  });

  test('a fee that dwarfs the amount stands in the title', () => {
    const { title } = described({ gas: 50_000_000n, maxFeePerGas: 10n ** 12n, value: 1n });
    expect(title).toContain('with a fee of at most 50 ETH');
  });

  test('the fee for blobs', () => {
    const { max_fee } = factOf({
      type: 'eip4844',
      ...fees,
      maxFeePerBlobGas: 3n,
      blobVersionedHashes: [`0x01${'aa'.repeat(31)}`, `0x01${'bb'.repeat(31)}`],
    });
    expect(max_fee).toBe(21_000n * 10n ** 9n + 2n * 131_072n * 3n);
  });

  test('an account of ours is named, a stranger’s never', () => {
    expect(described({ ...fees, to: savings }).title).toContain(`Send 0 ETH to your Savings (${savings}), `);
    expect(described({ ...fees, to: sender }).title).toContain(`to your account ${sender}, `);
  });

  test.each([10, 8453, 534_352, 999_999])('chain %s may charge besides gas: nothing bounds it', (chainId) => {
    const { description, fact } = reading({ ...fees, chainId });
    expect(description.title).toContain('for gas, and more for the data');
    expect(lineOf(description, 'Leaves your account at most')).toContain('Not bounded');
    expect(fact.max_fee).toBeInstanceOf(Unknown);
    expect(fact.outflow).toBeInstanceOf(Unknown);
  });

  test.each([1, 100, 137, 42_161, 31_337, 1337])('on chain %s gas pays for all', (chainId) => {
    expect(factOf({ ...fees, chainId }).outflow).toBe(21_000n * 10n ** 9n);
  });

  test('a legacy transaction without a chain holds on every one', () => {
    const { description, fact } = reading({
      type: 'legacy',
      chainId: undefined,
      gas: 1n,
      gasPrice: 1n,
      value: 1n,
    });
    expect(description.title).toMatch(/, on every chain, with a fee of at most \S+ coins on each$/);
    expect(description.warnings).toEqual([
      'It names no chain. Anyone who has it can send it on every chain.',
    ]);
    expect([fact.chain_id, fact.max_fee, fact.outflow]).toEqual([
      expect.any(Unknown),
      expect.any(Unknown),
      expect.any(Unknown),
    ]);
  });

  test('a new contract', () => {
    const { description, fact } = reading({ ...fees, to: undefined, value: ether, data: '0x6001' });
    expect(description.title).toBe(
      'Create a contract with 2 bytes of code, paying 1 ETH, with a fee of at most 0.000021 ETH',
    );
    expect(description.warnings).toHaveLength(1);
    expect(fact).toMatchObject({ to: '', data: '0x6001' });
    expect([fact.function_name, fact.function_signature, fact.contract_call_args]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('a call of an account of ours may run its code, which can spend all', () => {
    const { description, fact } = reading({ ...fees, to: sender, data: '0x12345678' });
    expect(fact.outflow).toBeInstanceOf(Unknown);
    expect(description.warnings.join()).toContain('It calls an account of yours');
  });
});

describe('accounts that take on code', () => {
  const delegated = (authorizationList: readonly ReturnType<typeof authorizationBy>[]): Made => ({
    type: 'eip7702',
    ...fees,
    authorizationList,
  });

  test('are named by their signatures, as viem recovers them', async () => {
    const authorization = authorizationBy(privateKey, 3);
    const { description, fact } = reading(delegated([authorization]));
    expect(await recoverAuthorizationAddress({ authorization })).toBe(sender);
    expect(description.title).toContain(`, and let your account ${sender} run the code of ${contract}`);
    expect(description.warnings.join()).toContain('can spend all that the account has');
    expect(fact.authorizations).toEqual([{ address: contract, chain_id: 1n, nonce: 3n, account: sender }]);
    expect(fact.outflow).toBeInstanceOf(Unknown);
  });

  test("of another account leave our account's outflow bounded", () => {
    const { description, fact } = reading(
      delegated([authorizationBy(hexToBytes(`0x${'11'.repeat(32)}`), 0)]),
    );
    expect(fact.outflow).toBe(21_000n * 10n ** 9n);
    expect(description.warnings).toEqual(['An account of somebody else takes a contract’s code as its own.']);
  });

  test('no account, where the signature is none’s', () => {
    const invalid = { ...authorizationBy(privateKey, 0), yParity: 2 };
    const { description, fact } = reading(delegated([invalid]));
    expect(description.title).toContain('which no account signed');
    expect(fact.authorizations).toEqual([{ address: contract, chain_id: 1n, nonce: 0n, account: undefined }]);
    expect(fact.outflow).toBe(21_000n * 10n ** 9n);
  });

  test('the zero address takes code away', () => {
    const { description, fact } = reading(delegated([authorizationBy(privateKey, 0, zeroAddress)]));
    expect(description.title).toContain(`take away the code of your account ${sender}`);
    expect(fact.outflow).toBe(21_000n * 10n ** 9n);
  });

  test.each([101, 200])('all %s of them are shown', (count) => {
    const { description, fact } = reading(
      delegated(Array.from({ length: count }, (_, nonce) => authorizationBy(privateKey, nonce))),
    );
    expect(description.parts).toHaveLength(count);
    expect(fact.authorizations).toHaveLength(count);
  });

  test('a transaction with more of them is read by no chain, and so is unknown to every policy', () => {
    const one = authorizationBy(privateKey, 0);
    expect(() => reading(delegated(Array.from({ length: 201 }, () => one)))).toThrow('not read');
  });
});

test('the access list is shown and told with its keys', () => {
  const [address, key] = [usdc, `0x${'07'.repeat(32)}`] as const;
  const { description, fact } = reading({ ...fees, accessList: [{ address, storageKeys: [key] }] });
  expect(description.parts).toEqual([
    {
      title: 'Access list',
      lines: [
        { label: 'Address', value: address },
        { label: 'Storage key', value: key },
      ],
    },
  ]);
  expect(fact.access_list).toEqual([{ address, storage_keys: [key] }]);
});

const calling = (to: Hex, data: Hex): Made => ({ ...fees, to, data });
const erc20 = (functionName: 'transfer' | 'approve', amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [stranger, amount] });

describe('calls', () => {
  test('of a known token are shown in its units, with its smallest units beside', () => {
    const { title, lines, parts } = described(calling(usdc, erc20('transfer', 1_250_000_000n)));
    expect(title).toBe(`Send 1,250 USDC to ${stranger}, with a fee of at most 0.000021 ETH`);
    expect(lines).toContainEqual({ label: 'Contract', value: `USDC (${usdc})` });
    expect(parts[0]?.lines).toContainEqual({ label: 'amount', value: '1250000000 (1,250 USDC)' });
    expect(described(calling(usdc, erc20('approve', 1_250_000_000n))).title).toContain(
      `Let ${stranger} spend up to 1,250 USDC, `,
    );
    expect(described(calling(usdc, erc20('approve', maxUint256))).title).toContain('USDC without limit');
  });

  test('of another contract are never told in the units of a token', () => {
    const { title, warnings } = described(calling(contract, erc20('transfer', 1_250_000_000n)));
    expect(title).toContain(`Send 1250000000 units of the token ${contract} to ${stranger}`);
    expect(warnings.join()).toContain('This vault does not know this token.');
  });

  const rights: readonly (readonly [string, readonly unknown[], string])[] = [
    ['approve(address spender, uint256 amount)', [stranger, 5n], 'may then spend up to 5 units'],
    ['approve(address spender, uint256 amount)', [stranger, maxUint256], 'without limit'],
    ['increaseAllowance(address spender, uint256 amount)', [stranger, 5n], 'may then spend'],
    ['setApprovalForAll(address operator, bool approved)', [stranger, true], 'may then move every token'],
    [
      'transferFrom(address from, address to, uint256 amount)',
      [savings, stranger, 5n],
      'It takes tokens out of',
    ],
    [
      'safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
      [savings, stranger, 1n, 1n, '0x'],
      'It takes tokens out of',
    ],
    [
      'permit(address o, address s, uint256 a, uint256 d, uint8 v, bytes32 r, bytes32 x)',
      [savings, stranger, 5n, 0n, 0, `0x${'00'.repeat(32)}`, `0x${'00'.repeat(32)}`],
      'may then spend up to 5 units',
    ],
    [
      'approve(address t, address s, uint160 a, uint48 e)',
      [usdc, stranger, 5_000_000n, 0],
      'spend up to 5 USDC',
    ],
    ['multicall(bytes[] data)', [['0x12345678']], 'It carries further calls inside'],
    ['transferOwnership(address newOwner)', [stranger], 'changes who is in control'],
    ['upgradeTo(address implementation)', [stranger], 'replaces the code'],
  ];
  test.each(rights)('%s is warned of, whichever contract it is for', (signature, args, warning) => {
    const abi = parseAbi([`function ${signature}`] as readonly string[]) as readonly unknown[];
    const data = encodeFunctionData({ abi, args } as never);
    for (const to of [contract, stranger]) {
      expect(described(calling(to, data)).warnings.join('\n')).toContain(warning);
    }
  });

  test('without a right given away are not', () => {
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'setApprovalForAll',
      args: [stranger, false],
    });
    expect(described(calling(contract, data)).warnings).toEqual([]);
    expect(described(calling(usdc, erc20('approve', 0n))).warnings).toEqual([]);
  });
});

/** The class: whatever of the data a contract may take for something else than it seems. */
describe('data that a contract can read and this vault cannot', () => {
  const transfer = erc20('transfer', 7n);
  const opaque: readonly (readonly [string, Hex])[] = [
    ['a dirty bit before an address', `0xa9059cbb01${transfer.slice(12)}`],
    ['a byte left out', transfer.slice(0, -2) as Hex],
    ['a byte after the end', `${transfer}00`],
  ];

  test.each(opaque)('%s: the name and the signature are known, the arguments are not', (_, data) => {
    const { description, fact } = reading(calling(usdc, data));
    expect(fact.function_signature).toBe('0xa9059cbb');
    expect(fact.function_name).toBe('transfer');
    expect(fact.contract_call_args).toBeInstanceOf(Unknown);
    expect(description.title).toContain(`Call transfer of USDC (${usdc})`);
    expect(description.warnings.join()).toContain('This vault cannot read all of it');
    expect(description.parts).toMatchObject([{ lines: [{ label: 'Not read' }] }]);
    expect(lineOf(description, 'Data')).toBe(data);
  });

  test('of a contract whose interface is not kept', () => {
    const fact = factOf(calling(contract, '0x12345678'));
    expect(fact.function_signature).toBe('0x12345678');
    expect([fact.function_name, fact.contract_call_args]).toEqual([expect.any(Unknown), expect.any(Unknown)]);
    // A standard's names are those of its tokens: another contract may mean something else.
    const { function_name } = factOf(calling(contract, erc20('transfer', 1n)));
    expect(function_name).toBeInstanceOf(Unknown);
  });

  test('shorter than a signature', () => {
    const fact = factOf(calling(contract, '0xa905'));
    expect(fact.function_signature).toBeInstanceOf(Unknown);
  });

  test('a transfer of a known token is read without any interface that is kept', () => {
    expect(factOf(calling(usdc, transfer))).toMatchObject({
      function_name: 'transfer',
      contract_call_args: { to: stranger, amount: 7n },
    });
  });

  test('no data: there is no call', () => {
    const fact = factOf({ ...fees });
    expect([fact.function_name, fact.function_signature, fact.contract_call_args]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

/** A caller may call a transaction a text: what is hashed by Keccak-256 and signed is looked at as Ethereum would. */
describe('bytes that are signed as a raw payload', () => {
  const inPayload = (bytes: Hex): InPayload =>
    ethereum.inPayload(hexToBytes(bytes), 'HASH_FUNCTION_KECCAK256', context);
  // Without `eth.outflow`, which main/chains/ethereum/outflow.test.ts covers.
  const facts = (bytes: Hex): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(inPayload(bytes).facts).flatMap(([keyword, fact]) =>
        keyword === 'eth.outflow' ? [] : [[keyword, fact()]],
      ),
    );
  const transaction = serializeTransaction({ type: 'eip1559', chainId: 1, to: stranger, value: ether });
  const list = toRlp(['0x01', '0x02']);
  const authorization = concat(['0x05', toRlp(['0x01', contract, '0x07'])]);
  const hashes = concat(['0x1901', toHex(7n, { size: 32 }), toHex(8n, { size: 32 })]);

  test('a transaction is read', () => {
    expect(facts(transaction)).toMatchObject({ 'eth.tx': { to: stranger, value: ether } });
    expect(inPayload(transaction).describe?.().title).toContain(`Send 1 ETH to ${stranger}`);
  });

  test.each<[string, Hex]>([
    ['a list', list],
    ['an empty list', '0xc0'],
    ['a type and a list', concat(['0x02', list])],
    ['a type that is to come, and a list', concat(['0x06', list])],
    ['type 0 and a list', concat(['0x00', list])],
    ['the last type there may be, and a list', concat(['0x7f', list])],
  ])('%s may be a transaction: the fact is unknown', (_, bytes) => {
    expect(facts(bytes)).toEqual({ 'eth.tx': expect.any(Unknown) as Unknown });
  });

  test('an authorization is read', () => {
    expect(facts(authorization)).toEqual({
      'eth.eip_7702_authorization': { address: contract, chain_id: 1n, nonce: 7n },
    });
    const description = inPayload(authorization).describe?.();
    expect(description?.title).toBe(`Let your account run the code of ${contract}`);
    expect(description?.digests).toEqual([{ label: 'Digest', value: keccak256(authorization) }]);
  });

  test('what begins like an authorization and is none is unknown', () => {
    expect(facts(concat(['0x05', list]))).toEqual({
      'eth.tx': expect.any(Unknown) as Unknown,
      'eth.eip_7702_authorization': expect.any(Unknown) as Unknown,
    });
  });

  test('the hashes of typed data do not tell the data', () => {
    expect(facts(hashes)).toEqual({ 'eth.eip_712': expect.any(Unknown) as Unknown });
    expect(inPayload(hashes).describe?.()).toMatchObject({
      title: 'Sign typed data of which only the hashes are there',
      warnings: [expect.stringContaining('do not tell')],
    });
  });

  test.each<Hex>(['0x1901', '0x1900', `${hashes}00`, concat(['0x1900', stranger, '0x1234'])])(
    '%s is signed data that is not known',
    (bytes) => {
      expect(facts(bytes)).toEqual({ 'eth.eip_712': expect.any(Unknown) as Unknown });
    },
  );

  test.each<[string, Hex]>([
    ['a text', toHex('hello')],
    ['a message', toHex('\u0019Ethereum Signed Message:\n5hello')],
    ['nothing', '0x'],
    ['a list that is cut', '0xc3'],
    ['a list and more', concat([list, '0x00'])],
  ])('%s is nothing that Ethereum takes', (_, bytes) => {
    expect(facts(bytes)).toEqual({});
  });

  test('under another hash they are nothing of Ethereum’s', () => {
    expect(ethereum.inPayload(hexToBytes(transaction), 'HASH_FUNCTION_SHA256', context).facts).toEqual({});
  });
});
