/**
 * Solana's transactions, legacy and version 0: bytes to one model, which writes the same bytes again. What Agave's
 * `sanitize` refuses is refused here.
 */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/keys/curves.ts';
import { decodeBase58, encodeBase58 } from '../../crypto/encodings.ts';
import { attempt, Cursor, unreadable, type Read } from '../reading.ts';

export interface SolanaAccount {
  /** Its index among the accounts of the transaction, from 0. Looked-up accounts come after the message's own. */
  readonly at: number;
  /** Base58; undefined for an account whose key is in a table on the chain. */
  readonly key: string | undefined;
  readonly signer: boolean;
  readonly writable: boolean;
  /** The lookup table's entry, for an address that the chain looks up. */
  readonly lookup?: LookupReference;
}

/** An account that the message holds itself. */
export interface StaticAccount extends SolanaAccount {
  readonly key: string;
}

export interface LookupReference {
  readonly table: string;
  readonly index: number;
  readonly writable: boolean;
}

export interface SolanaInstruction {
  /** Always an account that the message holds itself. */
  readonly program: StaticAccount;
  readonly accounts: readonly SolanaAccount[];
  readonly data: Uint8Array;
}

interface Lookup {
  readonly table: string;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
}

export interface SolanaMessage {
  readonly version: 'legacy' | 0;
  /** Those that the message holds itself; the first pays the fee. */
  readonly accounts: readonly StaticAccount[];
  /** Those that the chain looks up, in the order in which a running program sees them. */
  readonly lookedUp: readonly SolanaAccount[];
  readonly recentBlockhash: string;
  readonly instructions: readonly SolanaInstruction[];
  readonly lookups: readonly Lookup[];
}

export interface SolanaTransaction {
  /** One for each signer, in their order; zeros where there is none yet. */
  readonly signatures: readonly Uint8Array[];
  readonly message: SolanaMessage;
}

const signatureLength = 64;
const keyLength = 32;
/** Agave's `PACKET_DATA_SIZE`: nodes accept no larger transaction of these versions. */
const mostBytes = 1232;
/** Agave's `sanitize`: an account is named by one byte. */
const mostAccounts = 256;

export const signersOf = ({ accounts }: SolanaMessage): readonly StaticAccount[] =>
  accounts.filter(({ signer }) => signer);

/** @param bytes A whole transaction: places for signatures, empty or filled, and the message. */
export const readSolana = (bytes: Uint8Array): Read<SolanaTransaction> =>
  attempt(() => {
    checkSize(bytes.length);
    const cursor = new Cursor(bytes, 'the Solana transaction');
    const count = readCount(cursor, 'signatures');
    const signatures = Array.from({ length: count }, () => cursor.take(signatureLength));
    const message = decodeMessage(cursor.rest());
    const signers = signersOf(message).length;
    if (count !== signers) {
      unreadable(
        `expected places for ${String(signers)} signatures, one for each signer, got ${String(count)}`,
      );
    }
    const transaction = { signatures, message };
    checkSame(bytes, encodeSolana(transaction));
    return transaction;
  });

/** @param bytes The message alone, as it is signed. */
export const readSolanaMessage = (bytes: Uint8Array): Read<SolanaMessage> =>
  attempt(() => {
    const message = decodeMessage(bytes);
    checkSize(1 + signersOf(message).length * signatureLength + bytes.length);
    checkSame(bytes, encodeMessage(message));
    return message;
  });

function checkSize(length: number): void {
  if (length > mostBytes) {
    unreadable(
      `expected a transaction of at most ${String(mostBytes)} bytes, which is what Solana takes, got ${String(length)}`,
    );
  }
}

function checkSame(bytes: Uint8Array, written: Uint8Array): void {
  if (Buffer.compare(bytes, written) !== 0)
    unreadable('the transaction is not written the way that Solana does');
}

/**
 * Tells bytes that begin as a message does, so that the chain, or a later version of it, may take them for one: a version
 * after 0, or a head that fits the number of accounts after it.
 */
export function looksLikeMessage(bytes: Uint8Array): boolean {
  const [first = 0] = bytes;
  const version = first >= 0x80 ? first - 0x80 : undefined;
  // The smallest message has one account and a blockhash. Version 127 marks messages that are not
  // transactions.
  if (bytes.length <= 2 * keyLength || version === 127) return false;
  if (version !== undefined && version > 0) return true;
  if (bytes.length > mostBytes) return false;
  return attempt(() => {
    const cursor = new Cursor(version === undefined ? bytes : bytes.subarray(1), 'the message');
    cursor.take((readHead(cursor).count + 1) * keyLength);
  }).ok;
}

function decodeMessage(bytes: Uint8Array): SolanaMessage {
  const cursor = new Cursor(bytes, 'the message');
  const versioned = cursor.peek() >= 0x80;
  if (versioned) {
    const version = cursor.byte() - 0x80;
    if (version !== 0) {
      unreadable(`expected a legacy message or one of version 0, got version ${String(version)}`);
    }
  }
  const { signed, readonlySigned, readonlyUnsigned, count } = readHead(cursor);
  const accounts = Array.from({ length: count }, (_, at): StaticAccount => {
    const signer = at < signed;
    return {
      at,
      key: encodeBase58(cursor.take(keyLength)),
      signer,
      writable: signer ? at < signed - readonlySigned : at < count - readonlyUnsigned,
    };
  });
  if (new Set(accounts.map(({ key }) => key)).size !== count) {
    unreadable('the message has an account twice');
  }
  const recentBlockhash = encodeBase58(cursor.take(keyLength));
  const unresolved = Array.from({ length: readCount(cursor, 'instructions') }, () => ({
    program: cursor.byte(),
    indexes: [...cursor.take(readCount(cursor, 'accounts of an instruction'))],
    data: cursor.take(readCount(cursor, 'bytes of an instruction')),
  }));
  const lookups = versioned
    ? Array.from({ length: readCount(cursor, 'lookups') }, () => readLookup(cursor))
    : [];
  cursor.end();

  const lookedUp = lookupReferences(lookups).map((lookup, index): SolanaAccount => ({
    at: count + index,
    key: undefined,
    signer: false,
    writable: lookup.writable,
    lookup,
  }));
  const all = [...accounts, ...lookedUp];
  if (all.length > mostAccounts) {
    unreadable(`expected at most ${String(mostAccounts)} accounts, got ${String(all.length)}`);
  }
  const instructions = unresolved.map(({ program, indexes, data }, index): SolanaInstruction => {
    const name = `instruction ${String(index + 1)}`;
    if (program === 0) unreadable(`${name} calls the account that pays the fee, which is no program`);
    return {
      program:
        accounts[program] ??
        unreadable(
          `${name} calls a program that is not among the message’s own accounts: one of an address table is not known here`,
        ),
      accounts: indexes.map(
        (at) =>
          all[at] ??
          unreadable(`${name} names account ${String(at)}, of which there are ${String(all.length)}`),
      ),
      data,
    };
  });
  return { version: versioned ? 0 : 'legacy', accounts, lookedUp, recentBlockhash, instructions, lookups };
}

function readHead(cursor: Cursor) {
  const signed = cursor.byte();
  const readonlySigned = cursor.byte();
  const readonlyUnsigned = cursor.byte();
  const count = readCount(cursor, 'accounts');
  if (signed + readonlyUnsigned > count || readonlySigned >= signed) {
    unreadable(
      `the message’s head does not fit its ${String(count)} accounts: ${String(signed)} sign, of which ${String(readonlySigned)} are only read, and ${String(readonlyUnsigned)} others are only read`,
    );
  }
  return { signed, readonlySigned, readonlyUnsigned, count };
}

function readLookup(cursor: Cursor): Lookup {
  const lookup = {
    table: encodeBase58(cursor.take(keyLength)),
    writable: [...cursor.take(readCount(cursor, 'writable lookups'))],
    readonly: [...cursor.take(readCount(cursor, 'readonly lookups'))],
  };
  return lookup.writable.length + lookup.readonly.length === 0
    ? unreadable('the message names a table that it looks nothing up in')
    : lookup;
}

/** Of all tables what is written, then what is only read. */
const lookupReferences = (lookups: readonly Lookup[]): LookupReference[] =>
  [true, false].flatMap((writable) =>
    lookups.flatMap(({ table, ...indexes }) =>
      (writable ? indexes.writable : indexes.readonly).map((index) => ({ table, index, writable })),
    ),
  );

/** @returns the transaction with the signature in its place; others that it has stay. */
export function signedSolana(
  { signatures, message }: SolanaTransaction,
  signer: StaticAccount,
  { r, s }: Signature,
): Uint8Array {
  return encodeSolana({
    signatures: signatures.with(signer.at, Buffer.from(r + s, 'hex')),
    message,
  });
}

const encodeSolana = ({ signatures, message }: SolanaTransaction): Uint8Array =>
  joinBytes([encodeCount(signatures.length), ...signatures, encodeMessage(message)]);

/** Writes the bytes that each signer signs. */
export function encodeMessage({
  version,
  accounts,
  recentBlockhash,
  instructions,
  lookups,
}: SolanaMessage): Uint8Array {
  const count = (signer: boolean, writable: boolean): number =>
    accounts.filter((each) => each.signer === signer && each.writable === writable).length;
  return joinBytes([
    version === 0 ? Uint8Array.of(0x80, ...headOf(count)) : Uint8Array.from(headOf(count)),
    encodeCount(accounts.length),
    ...accounts.map(({ key }) => encodeKey(key)),
    encodeKey(recentBlockhash),
    encodeCount(instructions.length),
    ...instructions.flatMap(({ program, accounts: named, data }) => [
      Uint8Array.of(program.at),
      encodeBytes(named.map(({ at }) => at)),
      encodeBytes(data),
    ]),
    ...(version === 0 ? [encodeCount(lookups.length)] : []),
    ...lookups.flatMap(({ table, writable, readonly }) => [
      encodeKey(table),
      encodeBytes(writable),
      encodeBytes(readonly),
    ]),
  ]);
}

const headOf = (count: (signer: boolean, writable: boolean) => number): number[] => [
  count(true, true) + count(true, false),
  count(true, false),
  count(false, false),
];

const encodeKey = (key: string): Uint8Array => decodeBase58('key', key, keyLength);

const encodeBytes = (bytes: ArrayLike<number>): Uint8Array =>
  concatBytes(encodeCount(bytes.length), Uint8Array.from(bytes));

const encodeCount = (count: number): Uint8Array =>
  count < 0x80
    ? Uint8Array.of(count)
    : concatBytes(Uint8Array.of((count & 0x7f) | 0x80), encodeCount(count >> 7));

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
