import {
  address,
  AccountRole,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase58Encoder,
  getTransactionDecoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  verifySignature,
  signatureBytes,
  type Address,
  type Instruction,
} from '@solana/kit';
import fc from 'fast-check';
import * as micro from 'micro-sol-signer';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/damaged.ts';
import { ed25519PublicKey } from '../../crypto/ed25519.ts';
import { curves } from '../../crypto/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { decimal } from '../amounts.ts';
import { knownInstruction, priorityFee, tokenTransfersOf, transfersOf } from './programs.ts';
import { lookedUp, readSolana, readSolanaMessage, type ReadSolana } from './read.ts';

const seed = new Uint8Array(32).fill(7);
const decode = getBase58Decoder();
const payer = address(decode.decode(ed25519PublicKey(seed)));
const key = (fill: number): Address => address(decode.decode(new Uint8Array(32).fill(fill)));
const lifetime = { blockhash: blockhash(key(99)), lastValidBlockHeight: 1n };

const system = address('11111111111111111111111111111111');
const token = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const token2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const computeBudget = address('ComputeBudget111111111111111111111111111111');
const memo = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

const writable = AccountRole.WRITABLE;
const u64 = (value: bigint): number[] =>
  Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n));

const transfer = (from: Address, to: Address, lamports: bigint): Instruction => ({
  programAddress: system,
  accounts: [
    { address: from, role: AccountRole.WRITABLE_SIGNER },
    { address: to, role: writable },
  ],
  data: Uint8Array.of(2, 0, 0, 0, ...u64(lamports)),
});

const instructionsOf = (
  program: Address,
  accounts: readonly Address[],
  data: readonly number[],
): Instruction => ({
  programAddress: program,
  accounts: accounts.map((each) => ({
    address: each,
    role: each === payer ? AccountRole.READONLY_SIGNER : writable,
  })),
  data: Uint8Array.from(data),
});

function make(
  version: 'legacy' | 0,
  instructions: readonly Instruction[],
  table: readonly Address[] = [],
): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version }),
    (each) => setTransactionMessageFeePayer(payer, each),
    (each) => setTransactionMessageLifetimeUsingBlockhash(lifetime, each),
    (each) => appendTransactionMessageInstructions([...instructions], each),
  );
  const compressed =
    table.length === 0
      ? message
      : compressTransactionMessageUsingAddressLookupTables(message as typeof message & { version: 0 }, {
          [key(200)]: [...table],
        });
  return new Uint8Array(getTransactionEncoder().encode(compileTransaction(compressed)));
}

function read(bytes: Uint8Array): ReadSolana {
  const result = readSolana(bytes);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

describe.each(['legacy', 0] as const)('version %s', (version) => {
  test('a transfer', () => {
    const { transaction, signers } = read(make(version, [transfer(payer, key(9), 1_500_000_000n)]));
    expect(transaction.version).toBe(version);
    expect(signers).toEqual([payer]);
    expect(transaction.recentBlockhash).toBe(key(99));
    expect(transfersOf(transaction)).toEqual([{ from: payer, to: key(9), amount: 1_500_000_000n }]);
    expect(transaction.accounts[0]).toEqual({ key: payer, signer: true, writable: true });
    expect(transaction.instructions[0]?.program).toBe(system);
    expect(knownInstruction(transaction.instructions[0] ?? (undefined as never))?.title).toBe(
      `Send 1.5 SOL to ${key(9)}`,
    );
  });

  test('what is signed verifies in @solana/kit, in the signer’s place', async () => {
    const other = await generateKeyPairSigner();
    const bytes = make(version, [transfer(payer, key(9), 1n), transfer(other.address, key(8), 2n)]);
    const { message, signers, withSignature } = read(bytes);
    expect(signers).toEqual([payer, other.address]);
    const signed = withSignature(payer, curves.CURVE_ED25519.sign(seed, message));
    const { signatures, messageBytes } = getTransactionDecoder().decode(signed);
    expect(signatures[other.address]).toBeNull();
    const publicKey = await crypto.subtle.importKey('raw', ed25519PublicKey(seed).slice(), 'Ed25519', true, [
      'verify',
    ]);
    const ours = signatures[payer];
    expect(ours).not.toBeNull();
    expect(await verifySignature(publicKey, signatureBytes(ours ?? new Uint8Array()), messageBytes)).toBe(
      true,
    );
    expect(signed).toHaveLength(bytes.length);
  });
});

test('another library makes, signs and reads the same', () => {
  const unsigned = micro.createTx(payer, key(9), '0.25', 0n, key(99));
  const bytes = Buffer.from(unsigned, 'base64');
  const { transaction, message, withSignature } = read(bytes);
  expect(transfersOf(transaction)).toEqual([{ from: payer, to: key(9), amount: 250_000_000n }]);
  const [, theirs] = micro.signTx(seed, unsigned);
  const ours = withSignature(payer, curves.CURVE_ED25519.sign(seed, message));
  expect(Buffer.from(ours).toString('base64')).toBe(theirs);
});

describe('token transfers', () => {
  const accounts = { plain: [key(1), key(2), payer], checked: [key(1), key(5), key(2), payer] };
  test.each([
    ['Transfer', token, accounts.plain, [3, ...u64(70n)], undefined, undefined],
    ['TransferChecked', token, accounts.checked, [12, ...u64(70n), 6], key(5), 6],
    ['TransferChecked of Token-2022', token2022, accounts.checked, [12, ...u64(70n), 6], key(5), 6],
    ['TransferCheckedWithFee', token2022, accounts.checked, [26, 1, ...u64(70n), 6, ...u64(1n)], key(5), 6],
  ])('%s', (_, program, named, data, mint, decimals) => {
    const { transaction } = read(make(0, [instructionsOf(program, named, data)]));
    expect(tokenTransfersOf(transaction)).toEqual([
      { from: key(1), to: key(2), amount: 70n, owner: payer, signers: [], mint, decimals },
    ]);
  });

  test('a multisig names its signers', () => {
    const { transaction } = read(
      make('legacy', [instructionsOf(token, [key(1), key(2), key(3), payer], [3, ...u64(1n)])]),
    );
    expect(tokenTransfersOf(transaction)[0]).toMatchObject({ owner: key(3), signers: [payer] });
  });

  test('the fee extension is Token-2022’s alone', () => {
    const { transaction } = read(
      make(0, [instructionsOf(token, accounts.checked, [26, 1, ...u64(70n), 6, ...u64(1n)])]),
    );
    expect(tokenTransfersOf(transaction)).toEqual([]);
  });
});

test('what is looked up is not known', () => {
  const { transaction } = read(make(0, [transfer(payer, key(40), 5n)], [key(39), key(40)]));
  expect(transfersOf(transaction)).toEqual([{ from: payer, to: lookedUp, amount: 5n }]);
  expect(transaction.lookups).toEqual([{ table: key(200), writable: [1], readonly: [] }]);
  expect(transaction.instructions[0]?.accounts[1]).toEqual({
    key: lookedUp,
    signer: false,
    writable: true,
    lookup: { table: key(200), index: 1, writable: true },
  });
});

test('the priority fee is what limit and price come to', () => {
  const instructions = [
    instructionsOf(computeBudget, [], [2, 0x40, 0x0d, 0x03, 0]),
    instructionsOf(computeBudget, [], [3, ...u64(5_000_000n)]),
    transfer(payer, key(9), 1n),
  ];
  expect(priorityFee(read(make(0, instructions)).transaction)).toBe(1_000_000n);
  expect(priorityFee(read(make(0, instructions.slice(1))).transaction)).toBe(1_000_000n);
  expect(priorityFee(read(make(0, instructions.slice(2))).transaction)).toBeUndefined();
});

describe('instructions in words', () => {
  test.each([
    [instructionsOf(memo, [], [...Buffer.from('rent für Mai')]), 'Memo'],
    [
      instructionsOf(token, [key(1), key(6), payer], [4, ...u64(9n)]),
      `Let ${key(6)} spend from the token account ${key(1)}`,
    ],
    [
      instructionsOf(token, [key(1), payer], [6, 2, 1, ...new Uint8Array(32).fill(6)]),
      `Change who controls ${key(1)}`,
    ],
    [instructionsOf(token, [key(1), key(2), payer], [9]), `Close the token account ${key(1)}`],
  ])('%#', (instruction, title) => {
    const [only] = read(make(0, [instruction])).transaction.instructions;
    expect(only === undefined ? undefined : knownInstruction(only)?.title).toBe(title);
  });
});

describe('what is no transaction', () => {
  const good = make(0, [transfer(payer, key(9), 1n)]);
  const changed = (at: number, value: number): Uint8Array => {
    const copy = good.slice();
    copy[at] = value;
    return copy;
  };
  test.each([
    ['nothing', new Uint8Array(), 'ends too early'],
    ['no place for the signature', changed(0, 0), 'expected places|too early|version|head'],
    ['another version', changed(65, 0x81), 'got version 1'],
    ['more signers than accounts', changed(66, 200), 'head does not fit'],
    ['an end that is cut off', good.slice(0, -1), 'ends too early'],
    ['bytes after the end', Buffer.concat([good, Buffer.of(0)]), 'after its end'],
    [
      'a count in more bytes than it needs',
      Buffer.concat([Buffer.of(0x81, 0), good.subarray(1)]),
      'shortest way',
    ],
  ])('%s', (_, bytes, expected) => {
    const result = readSolana(bytes);
    expect(result.ok ? 'read' : result.problem).toMatch(new RegExp(expected));
  });

  test('a program that is looked up', () => {
    const message = Buffer.from(
      `80010001${toHex(new Uint8Array([2]))}${toHex(new Uint8Array(32).fill(1))}${toHex(new Uint8Array(32).fill(2))}${'00'.repeat(32)}0102000001${'03'.repeat(32)}010000`,
      'hex',
    );
    const result = readSolanaMessage(message);
    expect(result.ok ? 'read' : result.problem).toContain('one of an address table is not known here');
  });
});

test.each([
  [0n, 9, '0'],
  [1n, 9, '0.000000001'],
  [1_500_000_000n, 9, '1.5'],
  [-25n, 1, '-2.5'],
  [7n, 0, '7'],
])('%s with %s decimals is %s', (amount, decimals, written) => {
  expect(decimal(amount, decimals)).toBe(written);
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = [
    make('legacy', [
      transfer(payer, key(9), 1n),
      instructionsOf(token, [key(1), key(2), payer], [3, ...u64(1n)]),
    ]),
    make(0, [transfer(payer, key(40), 5n), instructionsOf(memo, [], [1, 2, 3])], [key(39), key(40)]),
  ];
  fc.assert(
    fc.property(damaged(originals), (mutated) => {
      const result = readSolana(mutated);
      if (!result.ok) return;
      const { transaction } = result.value;
      transfersOf(transaction);
      tokenTransfersOf(transaction);
      priorityFee(transaction);
      transaction.instructions.forEach(knownInstruction);
    }),
    { numRuns: 5000 },
  );
  expect(getBase58Encoder().encode(payer)).toHaveLength(32);
});
