/** Solana's transactions, legacy and version 0: their accounts, instructions and address table lookups. */
import { concatBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/curves.ts';
import { encodeBase58 } from '../../crypto/encodings.ts';
import { attempt, Cursor, unreadable, type Read } from '../reading.ts';

/** What stands for an account whose key is in a table on the chain: it is not known here. */
export const lookedUp = 'ADDRESS_TABLE_LOOKUP';

export interface SolanaAccount {
  /** Base58, or `lookedUp`. */
  readonly key: string;
  readonly signer: boolean;
  readonly writable: boolean;
  /** Where it is looked up. */
  readonly lookup?: LookupReference;
}

export interface LookupReference {
  readonly table: string;
  readonly index: number;
  readonly writable: boolean;
}

export interface SolanaInstruction {
  readonly program: string;
  readonly accounts: readonly SolanaAccount[];
  readonly data: Uint8Array;
}

export interface SolanaTransaction {
  readonly version: 'legacy' | 0;
  /** Those that stand in the message itself; the first pays the fee. */
  readonly accounts: readonly SolanaAccount[];
  readonly recentBlockhash: string;
  readonly instructions: readonly SolanaInstruction[];
  readonly lookups: readonly {
    readonly table: string;
    readonly writable: readonly number[];
    readonly readonly: readonly number[];
  }[];
}

export interface ReadSolana {
  readonly transaction: SolanaTransaction;
  /** What each signer signs. */
  readonly message: Uint8Array;
  /** The keys that must sign, in order. */
  readonly signers: readonly string[];
  /**
   * @param signer One of `signers`.
   * @returns the transaction with the signature in its place; others that it has stay.
   */
  readonly withSignature: (signer: string, signature: Signature) => Uint8Array;
}

const signatureLength = 64;
const keyLength = 32;

/** @param bytes A whole transaction: places for signatures, empty or filled, and the message. */
export function readSolana(bytes: Uint8Array): Read<ReadSolana> {
  return attempt(() => {
    const cursor = new Cursor(bytes, 'the Solana transaction');
    const count = readCount(cursor, 'signatures');
    const signatures = cursor.take(count * signatureLength);
    const message = cursor.rest();
    const transaction = readMessage(message);
    const signers = transaction.accounts.filter(({ signer }) => signer).map(({ key }) => key);
    if (count !== signers.length) {
      unreadable(
        `expected places for ${String(signers.length)} signatures, one for each signer, got ${String(count)}`,
      );
    }
    const head = bytes.subarray(0, bytes.length - message.length - signatures.length);
    return {
      transaction,
      message,
      signers,
      withSignature(signer, { r, s }) {
        const filled = signatures.slice();
        filled.set(Buffer.from(r + s, 'hex'), signers.indexOf(signer) * signatureLength);
        return concatBytes(head, filled, message);
      },
    };
  });
}

/** @param bytes The message alone, as it is signed. */
export const readSolanaMessage = (bytes: Uint8Array): Read<SolanaTransaction> =>
  attempt(() => readMessage(bytes));

function readMessage(bytes: Uint8Array): SolanaTransaction {
  const cursor = new Cursor(bytes, 'the message');
  const versioned = cursor.peek() >= 0x80;
  if (versioned) {
    const version = cursor.byte() - 0x80;
    if (version !== 0) {
      unreadable(`expected a legacy message or one of version 0, got version ${String(version)}`);
    }
  }
  const signed = cursor.byte();
  const readonlySigned = cursor.byte();
  const readonlyUnsigned = cursor.byte();
  const count = readCount(cursor, 'accounts');
  const keys = Array.from({ length: count }, () => encodeBase58(cursor.take(keyLength)));
  if (signed === 0 || signed + readonlyUnsigned > count || readonlySigned >= signed) {
    unreadable(
      `the message’s head does not fit its ${String(count)} accounts: ${String(signed)} sign, of which ${String(readonlySigned)} are only read, and ${String(readonlyUnsigned)} others are only read`,
    );
  }
  if (new Set(keys).size !== count) unreadable('the message has an account twice');
  const accounts = keys.map((key, index): SolanaAccount => {
    const signer = index < signed;
    return {
      key,
      signer,
      writable: signer ? index < signed - readonlySigned : index < count - readonlyUnsigned,
    };
  });
  const recentBlockhash = encodeBase58(cursor.take(keyLength));
  const unresolved = Array.from({ length: readCount(cursor, 'instructions') }, () => ({
    program: cursor.byte(),
    accounts: [...cursor.take(readCount(cursor, 'accounts of an instruction'))],
    data: cursor.take(readCount(cursor, 'bytes of an instruction')),
  }));
  const lookups = versioned
    ? Array.from({ length: readCount(cursor, 'lookups') }, () => ({
        table: encodeBase58(cursor.take(keyLength)),
        writable: [...cursor.take(readCount(cursor, 'writable lookups'))],
        readonly: [...cursor.take(readCount(cursor, 'readonly lookups'))],
      }))
    : [];
  cursor.end();

  const all = [...accounts, ...lookupReferences(lookups).map(lookedUpAccount)];
  const instructions = unresolved.map(({ program, accounts: indexes, data }, at): SolanaInstruction => {
    const name = `instruction ${String(at + 1)}`;
    const found = accounts[program];
    if (found === undefined || program === 0) {
      unreadable(
        program === 0
          ? `${name} calls the account that pays the fee, which is no program`
          : `${name} calls a program that is not among the message’s own accounts: one of an address table is not known here`,
      );
    }
    return {
      program: found.key,
      accounts: indexes.map(
        (index) =>
          all[index] ??
          unreadable(`${name} names account ${String(index)}, of which there are ${String(all.length)}`),
      ),
      data,
    };
  });
  return { version: versioned ? 0 : 'legacy', accounts, recentBlockhash, instructions, lookups };
}

/** In the order in which a running program sees them: of all tables what is written, then what is only read. */
export function lookupReferences(lookups: SolanaTransaction['lookups']): LookupReference[] {
  return [true, false].flatMap((writable) =>
    lookups.flatMap(({ table, ...indexes }) =>
      (writable ? indexes.writable : indexes.readonly).map((index) => ({ table, index, writable })),
    ),
  );
}

const lookedUpAccount = (lookup: LookupReference): SolanaAccount => ({
  key: lookedUp,
  signer: false,
  writable: lookup.writable,
  lookup,
});

/** Seven bits to a byte, the lowest first, in as few bytes as will do and at most 16 bits. */
function readCount(cursor: Cursor, what: string): number {
  let count = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const byte = cursor.byte();
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (byte === 0 && shift > 0) unreadable(`the number of ${what} is not written in the shortest way`);
      if (count > 0xffff) break;
      return count;
    }
  }
  unreadable(`the number of ${what} is larger than 65535`);
}
