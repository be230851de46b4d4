import {
  generateKeyPairSigner,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  signatureBytes,
  verifySignature,
} from '@solana/kit';
import fc from 'fast-check';
import * as micro from 'micro-sol-signer';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/storage/damaged.ts';
import {
  context,
  instruction,
  keyOf,
  lifetime,
  payer,
  programs,
  seed,
  transaction,
  transfer,
} from '../../../test/one-reading/solana-messages.ts';
import { ed25519PublicKey } from '../../crypto/keys/ed25519.ts';
import { decimal } from '../amounts.ts';
import { Unknown } from '../../policy/language/types.ts';
import { solana } from './chain.ts';
import {
  encodeMessage,
  readSolana,
  readSolanaMessage,
  signersOf,
  type SolanaMessage,
  type SolanaTransaction,
} from './read.ts';

function read(bytes: Uint8Array): SolanaTransaction {
  const result = readSolana(bytes);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const problem = (bytes: Uint8Array): string => {
  const result = readSolana(bytes);
  return result.ok ? 'read' : result.problem;
};

const messageOf = (bytes: Uint8Array): Uint8Array => encodeMessage(read(bytes).message);

function signed(bytes: Uint8Array): Uint8Array {
  const opened = solana.open(bytes, context());
  const result = opened.ok ? opened.value.sign(seed) : opened;
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

describe.each(['legacy', 0] as const)('version %s', (version) => {
  test('a transfer', () => {
    const { message } = read(transaction([transfer(payer, keyOf(9), 1_500_000_000n)], { version }));
    expect(message.version).toBe(version);
    expect(signersOf(message).map(({ key }) => key)).toEqual([payer]);
    expect(message.recentBlockhash).toBe(lifetime.blockhash);
    expect(message.accounts[0]).toEqual({ at: 0, key: payer, signer: true, writable: true });
    expect(message.instructions[0]?.program.key).toBe(programs.system);
  });

  test('what is signed verifies in @solana/kit, in the signer’s place', async () => {
    const other = await generateKeyPairSigner();
    const bytes = transaction([transfer(payer, keyOf(9), 1n), transfer(other.address, keyOf(8), 2n)], {
      version,
    });
    const { signatures, messageBytes } = getTransactionDecoder().decode(signed(bytes));
    expect(signatures[other.address]).toBeNull();
    const publicKey = await crypto.subtle.importKey('raw', ed25519PublicKey(seed).slice(), 'Ed25519', true, [
      'verify',
    ]);
    const ours = signatures[payer];
    expect(ours).not.toBeNull();
    expect(await verifySignature(publicKey, signatureBytes(ours ?? new Uint8Array()), messageBytes)).toBe(
      true,
    );
    expect(messageBytes).toEqual(messageOf(bytes));
  });
});

test('another library makes, signs and reads the same', () => {
  const unsigned = micro.createTx(payer, keyOf(9), '0.25', 0n, lifetime.blockhash);
  const [, theirs] = micro.signTx(seed, unsigned);
  expect(Buffer.from(signed(Buffer.from(unsigned, 'base64'))).toString('base64')).toBe(theirs);
});

test('an account that is looked up keeps its index, and has no key', () => {
  const bytes = transaction([transfer(payer, keyOf(40), 5n)], { table: [keyOf(39), keyOf(40)] });
  const { message } = read(bytes);
  expect(message.lookups).toEqual([{ table: keyOf(200), writable: [1], readonly: [] }]);
  expect(message.instructions[0]?.accounts[1]).toEqual({
    at: 2,
    key: undefined,
    signer: false,
    writable: true,
    lookup: { table: keyOf(200), index: 1, writable: true },
  });
});

const good = transaction([transfer(payer, keyOf(9), 1n)]);
const changed = (at: number, value: number): Uint8Array => good.with(at, value);

describe('bytes that are not a transaction', () => {
  test.each([
    ['nothing', new Uint8Array(), 'ends too early'],
    ['no place for the signature', changed(0, 0), 'expected places|too early|version|head'],
    ['another version', changed(65, 0x81), 'got version 1'],
    ['more signers than accounts', changed(66, 200), 'head does not fit'],
    ['a payer that is only read', changed(67, 1), 'head does not fit'],
    ['an end that is cut off', good.slice(0, -1), 'ends too early'],
    ['bytes after the end', Buffer.concat([good, Buffer.of(0)]), 'after its end'],
    [
      'a count in more bytes than it needs',
      Buffer.concat([Buffer.of(0x81, 0), good.subarray(1)]),
      'shortest way',
    ],
    ['more bytes than a packet has', Buffer.concat([good, Buffer.alloc(1233)]), 'at most 1232 bytes'],
  ])('%s', (_, bytes, expected) => {
    expect(problem(bytes)).toMatch(new RegExp(expected));
  });

  /** Agave's rules for messages of version 0, broken one at a time. */
  const message = (...parts: readonly (readonly number[])[]): Uint8Array => Uint8Array.from(parts.flat());
  const [payerKey, program, hash, table] = [1, 2, 0, 3].map((fill) => Array.from({ length: 32 }, () => fill));
  const head = [0x80, 1, 0, 1, 2];
  test.each([
    ['a program that is looked up', [1, 2, 0, 0], [1, ...(table ?? []), 1, 0, 0], 'one of an address table'],
    ['the payer as a program', [1, 0, 0, 0], [0], 'pays the fee, which is no program'],
    ['an account that is not there', [1, 1, 1, 5, 0], [0], 'names account 5, of which there are 2'],
    ['a table without an account', [1, 1, 0, 0], [1, ...(table ?? []), 0, 0], 'looks nothing up'],
    [
      'more accounts than a byte counts',
      [1, 1, 0, 0],
      [1, ...(table ?? []), 0xff, 1, ...Array.from({ length: 255 }, (_, index) => index), 0],
      'at most 256 accounts, got 257',
    ],
  ])('%s', (_, instructions, lookups, expected) => {
    const result = readSolanaMessage(
      message(head, payerKey ?? [], program ?? [], hash ?? [], instructions, lookups),
    );
    expect(result.ok ? 'read' : result.problem).toContain(expected);
  });

  test('an account twice', () => {
    const result = readSolanaMessage(
      message([0x80, 1, 0, 2, 3], payerKey ?? [], program ?? [], program ?? [], hash ?? [], [0], [0]),
    );
    expect(result.ok ? 'read' : result.problem).toContain('an account twice');
  });
});

describe('as a raw payload', () => {
  const facts = (bytes: Uint8Array): unknown =>
    solana.inPayload(bytes, 'HASH_FUNCTION_NOT_APPLICABLE', context()).facts['solana.tx']?.();
  const bytes = messageOf(good);

  test('a message is shown and told as the transaction is', () => {
    const { describe: shown } = solana.inPayload(bytes, 'HASH_FUNCTION_NOT_APPLICABLE', context());
    const opened = solana.open(good, context());
    expect(shown?.()).toEqual(opened.ok && opened.value.describe());
    expect(facts(bytes)).toMatchObject({ fee_payer: payer });
  });

  test.each([
    ['an end that is cut off', bytes.slice(0, -1)],
    ['bytes after the end', Buffer.concat([bytes, Buffer.of(0)])],
    ['version 1', bytes.with(0, 0x81)],
    ['version 126', bytes.with(0, 0xfe)],
    ['an account twice', Uint8Array.from([1, 0, 0, 2, ...Buffer.alloc(64, 1), ...Buffer.alloc(32), 0])],
  ])('what begins like a message and cannot be read is unknown: %s', (_, payload) => {
    expect(facts(payload)).toBeInstanceOf(Unknown);
  });

  test.each([
    [
      'a text',
      Buffer.from(
        'Sign in to example.com as GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB, please. '.repeat(20),
      ),
    ],
    ['a hash', Buffer.alloc(32, 0xab)],
    ['a head that does not fit', Buffer.concat([Buffer.of(9, 9, 9, 1), Buffer.alloc(200)])],
    ['nothing', new Uint8Array()],
  ])('other bytes are none: %s', (_, payload) => {
    expect(solana.inPayload(payload, 'HASH_FUNCTION_NOT_APPLICABLE', context())).toEqual({ facts: {} });
  });

  test('bytes that are hashed first are none', () => {
    expect(solana.inPayload(bytes, 'HASH_FUNCTION_SHA256', context())).toEqual({ facts: {} });
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

/** The class of faults: bytes that two readers take apart differently. What is read is the message and nothing else. */
test('what is read is what @solana/kit reads, and is written the same', () => {
  const originals = [
    transaction([transfer(payer, keyOf(9), 1n), instruction(programs.memo, [], [1, 2, 3])], {
      version: 'legacy',
    }),
    transaction([transfer(payer, keyOf(40), 5n), instruction(keyOf(50), [keyOf(39), payer], [1, 2, 3])], {
      table: [keyOf(39), keyOf(40)],
    }),
  ];
  const written = ({ accounts, instructions, lookups, recentBlockhash }: SolanaMessage) => ({
    staticAccounts: accounts.map(({ key }) => key),
    lifetimeToken: recentBlockhash,
    instructions: instructions.map(({ program, accounts: named, data }) => [
      program.at,
      named.map(({ at: place }) => place),
      Buffer.from(data).toString('hex'),
    ]),
    lookups: lookups.map(({ table, writable, readonly }) => [table, writable, readonly]),
  });
  fc.assert(
    fc.property(damaged(originals), (mutated) => {
      const result = readSolana(mutated);
      if (!result.ok) return;
      const { messageBytes } = getTransactionDecoder().decode(mutated);
      expect(encodeMessage(result.value.message)).toEqual(messageBytes);
      const theirs = getCompiledTransactionMessageDecoder().decode(messageBytes);
      if (theirs.version === 1) throw new Error('version 1 is not read');
      const tables = 'addressTableLookups' in theirs ? (theirs.addressTableLookups ?? []) : [];
      expect(written(result.value.message)).toEqual({
        staticAccounts: theirs.staticAccounts,
        lifetimeToken: theirs.lifetimeToken,
        instructions: theirs.instructions.map(({ programAddressIndex, accountIndices = [], data = [] }) => [
          programAddressIndex,
          accountIndices,
          Buffer.from(Uint8Array.from(data)).toString('hex'),
        ]),
        lookups: tables.map((each) => [each.lookupTableAddress, each.writableIndexes, each.readonlyIndexes]),
      });
    }),
    { numRuns: 3000 },
  );
});
