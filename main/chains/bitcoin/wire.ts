/** Bitcoin's transactions as bytes. Each number and length has one spelling, so that bytes have one reading. */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { Cursor, unreadable } from '../reading.ts';

export interface Outpoint {
  /** In the order of bytes that is hashed; people write it from its end. */
  readonly txId: Uint8Array;
  readonly vout: number;
}

export interface Output {
  /** In satoshis. */
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface WireInput extends Outpoint {
  readonly sequence: number;
}

/** An input with this sequence waits for nothing, and is not to be replaced. */
export const finalSequence = 0xffffffff;

/** A transaction without its signatures. */
export interface WireTransaction {
  readonly version: number;
  readonly inputs: readonly WireInput[];
  readonly outputs: readonly Output[];
  /** A height below 500,000,000, else seconds since 1970. */
  readonly lockTime: number;
}

/** 21,000,000 BTC. */
const mostSatoshis = 2_100_000_000_000_000n;

export const doubleSha256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes));

export const uint32 = (number: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, number, true);
  return bytes;
};

export const readUint32 = (cursor: Cursor): number => Number(cursor.littleEndian(4));

export const uint64 = (number: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, number, true);
  return bytes;
};

/** By its first byte, how many bytes a longer CompactSize has, and its least value. */
const longSizes: Readonly<Record<number, readonly [width: number, least: bigint]>> = {
  0xfd: [2, 0xfdn],
  0xfe: [4, 0x1_0000n],
  0xff: [8, 0x1_0000_0000n],
};

/** Reads a CompactSize, in its shortest form alone. */
export function readSize(cursor: Cursor): number {
  const first = cursor.byte();
  const long = longSizes[first];
  if (long === undefined) return first;
  const [width, least] = long;
  const size = cursor.littleEndian(width);
  if (size < least) unreadable(`expected the length ${String(size)} in its shortest form`);
  return Number(size);
}

export function sizeBytes(size: number): Uint8Array {
  if (size < 0xfd) return Uint8Array.of(size);
  return size < 0x1_0000
    ? Uint8Array.of(0xfd, size & 0xff, size >> 8)
    : concatBytes(Uint8Array.of(0xfe), uint32(size));
}

export const readSized = (cursor: Cursor): Uint8Array => cursor.take(readSize(cursor));

export const sized = (bytes: Uint8Array): Uint8Array => concatBytes(sizeBytes(bytes.length), bytes);

/** Reads one after the other: a count that is too high ends where the bytes end. */
export function readEach<T>(count: number, read: () => T): T[] {
  const list: T[] = [];
  while (list.length < count) list.push(read());
  return list;
}

const readList = <T>(cursor: Cursor, read: () => T): T[] => readEach(readSize(cursor), read);

export function readValue(cursor: Cursor): bigint {
  const value = cursor.littleEndian(8);
  if (value > mostSatoshis) unreadable(`an output has more than all bitcoins: ${String(value)} satoshis`);
  return value;
}

export const readOutput = (cursor: Cursor): Output => ({
  value: readValue(cursor),
  script: readSized(cursor),
});

function readInput(cursor: Cursor): WireInput & { readonly script: Uint8Array } {
  const txId = cursor.take(32);
  const vout = readUint32(cursor);
  const script = readSized(cursor);
  return { txId, vout, script, sequence: readUint32(cursor) };
}

/** Reads a transaction that has no signatures yet, in the form without witnesses. */
export function readUnsigned(bytes: Uint8Array): WireTransaction {
  const cursor = new Cursor(bytes, 'the unsigned transaction');
  const version = readUint32(cursor);
  const inputs = readList(cursor, () => readInput(cursor));
  if (inputs.some(({ script }) => script.length > 0)) {
    unreadable('expected an unsigned transaction, got one whose inputs have scripts');
  }
  const outputs = readList(cursor, () => readOutput(cursor));
  const lockTime = readUint32(cursor);
  cursor.end();
  return { version, inputs, outputs, lockTime };
}

/** Reads a transaction with its signatures: its id, by which inputs name it, and the outputs that they may spend. */
export function readPrevious(bytes: Uint8Array): {
  readonly txId: Uint8Array;
  readonly outputs: readonly Output[];
} {
  const cursor = new Cursor(bytes, 'the previous transaction');
  const version = cursor.take(4);
  const hasWitnesses = cursor.peek() === 0;
  if (hasWitnesses && cursor.take(2)[1] !== 1) unreadable('the previous transaction has no inputs');
  const start = cursor.offset;
  const inputs = readList(cursor, () => readInput(cursor));
  const outputs = readList(cursor, () => readOutput(cursor));
  const body = bytes.subarray(start, cursor.offset);
  if (hasWitnesses) {
    const witnesses = inputs.map(() => readList(cursor, () => readSized(cursor)));
    if (witnesses.every((items) => items.length === 0)) {
      unreadable('the previous transaction has a place for witnesses, and none');
    }
  }
  const lockTime = cursor.take(4);
  cursor.end();
  return { txId: doubleSha256(concatBytes(version, body, lockTime)), outputs };
}

/** @returns a transaction's id as people write it. */
export const txIdOf = ({ txId }: Outpoint): string => toHex(txId.slice().reverse());

export const outpointBytes = ({ txId, vout }: Outpoint): Uint8Array => concatBytes(txId, uint32(vout));

export const inputBytes = (input: WireInput, script: Uint8Array = new Uint8Array()): Uint8Array =>
  concatBytes(outpointBytes(input), sized(script), uint32(input.sequence));

export const outputBytes = ({ value, script }: Output): Uint8Array =>
  concatBytes(uint64(value), sized(script));

/** @param scriptOf The script that stands in an input's place for a signature. Without it, no input has one. */
export const transactionBytes = (
  { version, inputs, outputs, lockTime }: WireTransaction,
  scriptOf: (index: number) => Uint8Array | undefined = () => undefined,
): Uint8Array =>
  joinBytes([
    uint32(version),
    sizeBytes(inputs.length),
    ...inputs.map((input, index) => inputBytes(input, scriptOf(index))),
    sizeBytes(outputs.length),
    ...outputs.map(outputBytes),
    uint32(lockTime),
  ]);

export const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
