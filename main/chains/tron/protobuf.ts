/**
 * Protocol Buffers by schema. A message is read where the one encoding that Tron's nodes write of its fields is the same
 * bytes: each field once, in order, nothing beside them, and no number longer than it needs to be.
 */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { decodeBase58, encodeBase58Check, toHex } from '../../crypto/encodings.ts';
import { mostParts } from '../description.ts';
import { attempt, Cursor, unreadable, utf8, type Read } from '../reading.ts';

/**
 * The content of a field: bytes in hex, a text of UTF-8, a name that is a text or other bytes, an address in Base58, a number of
 * 64 or of 32 bits that is not negative, money in sun, a time in milliseconds, rights by contract type, one of several names
 * by number, or a message.
 */
export type Kind =
  | 'bytes'
  | 'text'
  | 'name'
  | 'address'
  | 'whole'
  | 'whole32'
  | 'sun'
  | 'time'
  | 'bool'
  | 'operations'
  | readonly string[]
  | Schema;

/** The field's number, what it holds, and whether there may be several of it. */
export type Field = readonly [number: number, kind: Kind, many?: 'many'];

/** Fields by their names. */
export type Schema = Readonly<Record<string, Field>>;

export type Value =
  | string
  | bigint
  | boolean
  | undefined
  | readonly Value[]
  | { readonly [name: string]: Value };
export type ProtobufMessage = Readonly<Record<string, Value>>;

type ValueOf<K> = K extends 'whole' | 'whole32' | 'sun' | 'time'
  ? bigint
  : K extends 'bool'
    ? boolean
    : K extends string | readonly string[]
      ? string
      : K extends Schema
        ? MessageOf<K>
        : never;

/** A message by its schema: a field that is not there has its empty value, and a message that is not there is undefined. */
export type MessageOf<S extends Schema> = {
  readonly [Name in keyof S]: S[Name] extends readonly [number, infer K, 'many']
    ? readonly ValueOf<K>[]
    : ValueOf<S[Name][1]> | (S[Name][1] extends string | readonly string[] ? never : undefined);
};

type Wire = bigint | Uint8Array;

/** @param what What the message is, for problems. */
export const readProtobuf = <S extends Schema>(
  schema: S,
  bytes: Uint8Array,
  what: string,
): Read<MessageOf<S>> =>
  attempt(() => {
    const message = decode(schema, bytes, what);
    if (Buffer.compare(encode(schema, message), bytes) !== 0) {
      unreadable(
        `${what} has fields that are not read here, or is not written the way that Tron’s nodes write it`,
      );
    }
    return message as MessageOf<S>;
  });

/** @returns the field numbers in the bytes, or a problem if they are not a message. */
export const fieldNumbers = (bytes: Uint8Array, what: string): Read<readonly number[]> =>
  attempt(() => [...wireOf(bytes, what).keys()]);

function decode(schema: Schema, bytes: Uint8Array, what: string): ProtobufMessage {
  const wire = wireOf(bytes, what);
  return Object.fromEntries(
    Object.entries(schema).map(([name, [number, kind, many]]) => {
      const values = wire.get(number) ?? [];
      const at = `${name} of ${what}`;
      if (many === 'many') {
        if (values.length > mostParts) unreadable(`${at} is there more than ${String(mostParts)} times`);
        return [name, values.map((value) => decodeValue(kind, value, at))];
      }
      return [name, values[0] === undefined ? emptyOf(kind) : decodeValue(kind, values[0], at)];
    }),
  );
}

const isSchema = (kind: Kind): kind is Schema => typeof kind === 'object' && !Array.isArray(kind);
const isNames = (kind: Kind): kind is readonly string[] => Array.isArray(kind);

function emptyOf(kind: Kind): Value {
  if (isSchema(kind)) return undefined;
  if (isNames(kind)) return kind[0] ?? '';
  if (isNumber(kind)) return 0n;
  return kind === 'bool' ? false : '';
}

const isNumber = (kind: Kind): boolean =>
  kind === 'whole' || kind === 'whole32' || kind === 'sun' || kind === 'time';

function decodeValue(kind: Kind, value: Wire, at: string): Value {
  if (isNames(kind)) {
    const number = wholeOf(value, at);
    return (
      kind[Number(number)] ??
      unreadable(`expected ${at} of 0 to ${String(kind.length - 1)}, got ${String(number)}`)
    );
  }
  if (isNumber(kind)) {
    const number = wholeOf(value, at);
    const most = kind === 'whole32' ? 2n ** 31n : 2n ** 63n;
    return number < most ? number : unreadable(`${at} is negative, or too large`);
  }
  if (kind === 'bool') return wholeOf(value, at) !== 0n;
  if (typeof value === 'bigint') unreadable(`expected ${at} as bytes, got a number`);
  if (isSchema(kind)) return decode(kind, value, at);
  switch (kind) {
    case 'text':
      return utf8(value) ?? unreadable(`expected ${at} as text`);
    case 'address':
      return addressOf(value, at);
    default:
      return toHex(value);
  }
}

const wholeOf = (value: Wire, at: string): bigint =>
  typeof value === 'bigint' ? value : unreadable(`expected ${at} as a number, got bytes`);

/** Base58Check of 21 bytes that begin with 0x41; empty where there is none. */
function addressOf(bytes: Uint8Array, at: string): string {
  if (bytes.length !== 21 || bytes[0] !== 0x41) {
    unreadable(
      `expected ${at} as 21 bytes that begin with 41, got ${String(bytes.length)} bytes${bytes[0] === undefined ? '' : ` that begin with ${toHex(bytes.subarray(0, 1))}`}`,
    );
  }
  return encodeBase58Check(bytes);
}

/** In the order of the fields’ numbers, without those that are empty. */
export const encode = (schema: Schema, message: ProtobufMessage): Uint8Array =>
  joinBytes(
    Object.entries(schema)
      .toSorted(([, [one]], [, [other]]) => one - other)
      .flatMap(([name, [number, kind, many]]) => {
        const value = message[name];
        if (many === 'many') {
          return (value as readonly Value[]).map((each) => encodeField(number, encodeValue(kind, each)));
        }
        return value === emptyOf(kind) ? [] : [encodeField(number, encodeValue(kind, value))];
      }),
  );

function encodeValue(kind: Kind, value: Value): Wire {
  if (isNames(kind)) return BigInt(kind.indexOf(value as string));
  if (isNumber(kind)) return value as bigint;
  if (kind === 'bool') return value === true ? 1n : 0n;
  if (isSchema(kind)) return encode(kind, value as ProtobufMessage);
  switch (kind) {
    case 'text':
      return Buffer.from(value as string, 'utf8');
    case 'address':
      return decodeBase58('address', value as string, 25).subarray(0, 21);
    default:
      return Buffer.from(value as string, 'hex');
  }
}

/** A field with its number. */
const encodeField = (number: number, value: Wire): Uint8Array =>
  typeof value === 'bigint'
    ? concatBytes(varint(BigInt(number * 8)), varint(value))
    : concatBytes(varint(BigInt(number * 8 + 2)), varint(BigInt(value.length)), value);

/** A field of bytes. */
export const bytesField = (number: number, bytes: Uint8Array): Uint8Array => encodeField(number, bytes);

/** Seven bits to a byte, the lowest first. */
const varint = (number: bigint): Uint8Array =>
  number < 0x80n
    ? Uint8Array.of(Number(number))
    : concatBytes(Uint8Array.of(Number(number & 0x7fn) | 0x80), varint(number >> 7n));

/** The fields of a message by number, each with all values it was given. */
function wireOf(bytes: Uint8Array, what: string): ReadonlyMap<number, readonly Wire[]> {
  const fields = new Map<number, Wire[]>();
  const cursor = new Cursor(bytes, what);
  while (cursor.left > 0) {
    const tag = readTag(cursor, what);
    const value = tag.type === startGroup ? readGroup(bytes, cursor, what, tag) : readWire(cursor, what, tag);
    const values = fields.get(tag.number);
    if (values === undefined) fields.set(tag.number, [value]);
    else values.push(value);
  }
  return fields;
}

/** Stands before a value: the field's number, and how the value is written. */
interface Tag {
  readonly number: number;
  readonly type: number;
}

function readTag(cursor: Cursor, what: string): Tag {
  const tag = readVarint(cursor, what);
  const number = Number(tag >> 3n);
  if (number === 0 || number > 536_870_911) unreadable(`${what} has a field of a number that there is not`);
  return { number, type: Number(tag & 7n) };
}

const startGroup = 3;
const endGroup = 4;
/** As deep as the nodes' own reader goes. */
const deepestGroup = 100;

/**
 * A group is a message between two tags. No message of Tron has one; a node keeps one that it does not know, and signs it
 * with the rest.
 * @returns its bytes, up to the end that belongs to it.
 */
function readGroup(bytes: Uint8Array, cursor: Cursor, what: string, { number }: Tag): Uint8Array {
  const start = cursor.offset;
  const open = [number];
  while (open.length > 0) {
    const tag = readTag(cursor, what);
    if (tag.type === endGroup) {
      if (tag.number !== open.pop()) unreadable(`${what} has a group that ends where another began`);
    } else if (tag.type === startGroup) {
      if (open.push(tag.number) > deepestGroup)
        unreadable(`${what} nests deeper than ${String(deepestGroup)} groups`);
    } else readWire(cursor, what, tag);
  }
  return bytes.subarray(start, cursor.offset);
}

function readWire(cursor: Cursor, what: string, { type }: Tag): Wire {
  switch (type) {
    case 0:
      return readVarint(cursor, what);
    case 1:
      return cursor.take(8);
    case 2: {
      const length = readVarint(cursor, what);
      return cursor.take(length > BigInt(cursor.left) ? cursor.left + 1 : Number(length));
    }
    case 5:
      return cursor.take(4);
    default:
      return unreadable(`${what} has a field of wire type ${String(type)}, which is not used`);
  }
}

/** Seven bits to a byte, the lowest first; 64 bits at most. */
function readVarint(cursor: Cursor, what: string): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.byte();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return value < 1n << 64n ? value : unreadable(`${what} has a number of more than 64 bits`);
    }
  }
  return unreadable(`${what} has a number of more than 64 bits`);
}
