import fc from 'fast-check';
import { Transaction as MicroTransaction } from 'micro-eth-signer';
import {
  hexToBytes,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  toHex as viemHex,
  type Hex,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/storage/damaged.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { readEthereum, type ReadEthereum } from './read.ts';

const privateKey = '0x4646464646464646464646464646464646464646464646464646464646464646';
const account = privateKeyToAccount(privateKey);
const read = (hex: string): ReadEthereum => {
  const result = readEthereum(hexToBytes(hex as Hex));
  if (!result.ok) throw new Error(result.problem);
  return result.value;
};
const problem = (hex: string): string => {
  const result = readEthereum(hexToBytes(hex as Hex));
  return result.ok ? 'read' : result.problem;
};
const signed = ({ digest, withSignature }: ReadEthereum): Hex =>
  `0x${toHex(withSignature(curves.CURVE_SECP256K1.sign(hexToBytes(privateKey), digest)))}`;

describe('EIP-155’s own example', () => {
  const unsigned =
    '0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080';

  test('reads, hashes and signs as published', () => {
    const { transaction, digest } = read(unsigned);
    expect(transaction).toMatchObject({
      type: 'LEGACY',
      chainId: 1n,
      nonce: 9n,
      gasPrice: 20_000_000_000n,
      gas: 21_000n,
      to: '0x3535353535353535353535353535353535353535',
      value: 10n ** 18n,
    });
    expect(toHex(digest)).toBe('daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53');
    expect(signed(read(unsigned))).toBe(
      '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    );
  });
});

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => viemHex(value));
const wei = fc.bigInt({ min: 0n, max: 2n ** 128n });
const common = {
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.integer({ min: 0, max: 2 ** 31 }),
  gas: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  value: wei,
  data: fc.uint8Array({ maxLength: 200 }).map((value) => viemHex(value)),
};
const to = fc.option(bytes(20), { nil: null });
const accessList = fc.array(
  fc.record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 3 }) }),
  { maxLength: 3 },
);
const fees = fc
  .tuple(wei, wei)
  .map(([a, b]) => ({ maxFeePerGas: a > b ? a : b, maxPriorityFeePerGas: a > b ? b : a }));
const sample = (length: number, numRuns: number, seed: number) =>
  fc.sample(fc.uint8Array({ minLength: length, maxLength: length }), { numRuns, seed });

const transactions: fc.Arbitrary<TransactionSerializable> = fc.oneof(
  fc.record({ type: fc.constant('legacy' as const), ...common, to, gasPrice: wei }),
  fc
    .record({ type: fc.constant('legacy' as const), ...common, to, gasPrice: wei })
    .map(({ chainId: _, ...rest }) => rest),
  fc.record({ type: fc.constant('eip2930' as const), ...common, to, gasPrice: wei, accessList }),
  fc
    .tuple(fc.record({ type: fc.constant('eip1559' as const), ...common, to, accessList }), fees)
    .map(([rest, fee]) => ({ ...rest, ...fee })),
  fc
    .tuple(
      fc.record({
        type: fc.constant('eip4844' as const),
        ...common,
        to: bytes(20),
        accessList,
        maxFeePerBlobGas: wei,
        blobVersionedHashes: fc.array(
          bytes(31).map((hash): Hex => `0x01${hash.slice(2)}`),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      fees,
    )
    .map(([rest, fee]) => ({ ...rest, ...fee })),
  fc
    .tuple(fc.record({ type: fc.constant('eip7702' as const), ...common, to: bytes(20), accessList }), fees)
    .map(([rest, fee]) => ({
      ...rest,
      ...fee,
      authorizationList: [
        {
          chainId: 1,
          address: '0x3535353535353535353535353535353535353535' as const,
          nonce: 3,
          r: viemHex(7n, { size: 32 }),
          s: viemHex(8n, { size: 32 }),
          yParity: 1,
        },
      ],
    })),
);

describe('viem', () => {
  test('made what is read, and recovers the sender of what is signed', async () => {
    await fc.assert(
      fc.asyncProperty(transactions, async (made) => {
        const unsigned = serializeTransaction(made);
        const result = read(unsigned);
        const { transaction } = result;
        expect(transaction.to.toLowerCase()).toBe(made.to ?? '');
        expect(transaction.value).toBe(made.value);
        expect(transaction.gas).toBe(made.gas);
        expect(viemHex(transaction.data)).toBe(made.data);
        expect(transaction.nonce).toBe(BigInt(made.nonce ?? 0));
        expect(transaction.chainId).toBe(made.chainId === undefined ? undefined : BigInt(made.chainId));
        expect(transaction.gasPrice).toBe(made.gasPrice);
        expect(transaction.maxFeePerGas).toBe(made.maxFeePerGas);
        expect(transaction.maxFeePerBlobGas).toBe(made.maxFeePerBlobGas);
        expect(transaction.accessList).toHaveLength(made.accessList?.length ?? 0);
        const ours = signed(result);
        const theirs = await account.signTransaction(made);
        expect(ours).toBe(theirs);
        expect(
          await recoverTransactionAddress({ serializedTransaction: ours as TransactionSerialized }),
        ).toBe(account.address);
      }),
      { numRuns: 150 },
    );
  });

  test('reads what is signed as it was', () => {
    const made = { type: 'eip1559', chainId: 10, nonce: 1, to: account.address, value: 5n } as const;
    const parsed = parseTransaction(signed(read(serializeTransaction(made))) as TransactionSerialized);
    expect(parsed).toMatchObject({ chainId: 10, nonce: 1, value: 5n });
  });
});

test('a second library recovers the sender', () => {
  const unsigned = serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    nonce: 7,
    to: account.address,
    value: 10n,
    gas: 21000n,
    maxFeePerGas: 30n * 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
  const other = MicroTransaction.fromHex(signed(read(unsigned)));
  expect(other.sender).toBe(account.address);
  expect(other.raw.nonce).toBe(7n);
});

describe('bytes that are not an unsigned transaction', () => {
  const unsigned = serializeTransaction({ type: 'eip1559', chainId: 1, to: account.address });
  test.each([
    ['0x', 'no bytes'],
    ['0x05c0', 'begin with 0x05c0'],
    ['0x80', 'begin with 0x80'],
    ['0xc0', 'expected 6, or 9 with a chain fields'],
    [`${unsigned}00`, '1 bytes after its end'],
    [unsigned.slice(0, -2), 'more than there is|ends too early'],
    ['0xc88000808080808080', 'fields'],
    // A nonce of 00.
    ['0xc6008080808080', 'nonce without leading zeros'],
    ['0xc78100808080808080', 'prefix that it must not have'],
  ])('%s', (hex, expected) => {
    expect(problem(hex)).toMatch(new RegExp(expected));
  });

  test('one that is signed', async () => {
    expect(problem(await account.signTransaction({ type: 'eip1559', chainId: 1, to: account.address }))).toBe(
      'expected an unsigned transaction, got a transaction of type 2 that is signed already',
    );
    const legacySigned = await account.signTransaction({ type: 'legacy', chainId: 1, to: account.address });
    expect(problem(legacySigned)).toContain('signed already');
  });

  test('one with its blobs', () => {
    expect(problem('0x03c6c080808080c0')).toContain('alone, got it with its blobs');
  });

  test('a signature elsewhere changes nothing: the digest is of the bytes that were given', async () => {
    const { digest } = read(unsigned);
    const { yParity, r } = await sign({ hash: viemHex(digest), privateKey, to: 'object' });
    const ours = curves.CURVE_SECP256K1.sign(hexToBytes(privateKey), digest);
    expect([Number(ours.v), `0x${ours.r}`]).toEqual([yParity, r]);
  });
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = fc
    .sample(transactions, { numRuns: 40, seed: 7 })
    .map((made) => hexToBytes(serializeTransaction(made)));
  fc.assert(
    fc.property(damaged(originals), (mutated) => {
      const result = readEthereum(mutated);
      if (!result.ok) expect(result.problem).not.toBe('');
    }),
    { numRuns: 5000 },
  );
  for (const noise of sample(64, 500, 3)) readEthereum(noise);
});

test('a list that no block takes is not read, so that its transaction is none that is known', () => {
  const base = { chainId: 1, nonce: 1, gas: 21_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } as const;
  const entry = { address: `0x${'ab'.repeat(20)}`, storageKeys: [] } as const;
  const listing = (count: number): Hex =>
    serializeTransaction({ type: 'eip1559', ...base, accessList: Array(count).fill(entry) });
  expect(problem(listing(2000))).toBe('read');
  expect(problem(listing(2001))).toBe('the access list has 2001 elements, and at most 2000 are read');
  const authorization = {
    address: entry.address,
    chainId: 1,
    nonce: 0,
    r: '0x1',
    s: '0x1',
    yParity: 0,
  } as const;
  const authorizing = (count: number): Hex =>
    serializeTransaction({
      type: 'eip7702',
      ...base,
      to: entry.address,
      authorizationList: Array(count).fill(authorization),
    });
  expect(problem(authorizing(200))).toBe('read');
  expect(problem(authorizing(201))).toBe('the authorization list has 201 elements, and at most 200 are read');
});
