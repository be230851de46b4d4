/** The wire format of Protocol Buffers, read to the last bit: whole numbers are exact, and no field is passed over. */
import { concatBytes } from '../../crypto/bytes.ts';
import { Cursor, unreadable } from '../reading.ts';

/** The fields of a message by number, each with all values it was given. */
export class Fields {
  readonly #what: string;
  readonly #fields = new Map<number, (bigint | Uint8Array)[]>();
  readonly #asked = new Set<number>();

  /** @throws Unreadable where the bytes are no message. */
  constructor(bytes: Uint8Array, what: string) {
    this.#what = what;
    const cursor = new Cursor(bytes, what);
    while (cursor.left > 0) {
      const tag = readVarint(cursor, what);
      const number = Number(tag >> 3n);
      const value = readValue(cursor, what, Number(tag & 7n));
      if (number === 0 || number > 536_870_911)
        unreadable(`${what} has a field of a number that there is not`);
      this.#fields.set(number, [...(this.#fields.get(number) ?? []), value]);
    }
  }

  /** Fields that nobody asked for. */
  get unknown(): readonly number[] {
    return [...this.#fields.keys()].filter((number) => !this.#asked.has(number));
  }

  /** An int64, or 0 where it is not there. */
  integer(number: number, name: string): bigint {
    const value = this.#one(number, name);
    if (value === undefined) return 0n;
    if (typeof value !== 'bigint') unreadable(`expected ${name} of ${this.#what} as a number, got bytes`);
    return BigInt.asIntN(64, value);
  }

  /** Empty where it is not there. */
  bytes(number: number, name: string): Uint8Array {
    return this.#asBytes(this.#one(number, name) ?? new Uint8Array(), name);
  }

  /** Undefined where it is not there. */
  message(number: number, name: string): Fields | undefined {
    const value = this.#one(number, name);
    return value === undefined ? undefined : new Fields(this.#asBytes(value, name), name);
  }

  messages(number: number, name: string): Fields[] {
    return this.#all(number).map((value) => new Fields(this.#asBytes(value, name), name));
  }

  #all(number: number): readonly (bigint | Uint8Array)[] {
    this.#asked.add(number);
    return this.#fields.get(number) ?? [];
  }

  /** Programs differ in which of two values they take. */
  #one(number: number, name: string): bigint | Uint8Array | undefined {
    const [value, second] = this.#all(number);
    if (second !== undefined) unreadable(`${this.#what} gives ${name} twice`);
    return value;
  }

  #asBytes(value: bigint | Uint8Array, name: string): Uint8Array {
    return typeof value === 'bigint'
      ? unreadable(`expected ${name} of ${this.#what} as bytes, got a number`)
      : value;
  }
}

function readValue(cursor: Cursor, what: string, wireType: number): bigint | Uint8Array {
  switch (wireType) {
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
      return unreadable(`${what} has a field of wire type ${String(wireType)}, which is not used`);
  }
}

/** Seven bits to a byte, the lowest first; 64 bits at most. */
function readVarint(cursor: Cursor, what: string): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.byte();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value < 1n << 64n ? value : unreadable(`${what} has a number of more than 64 bits`);
  }
  return unreadable(`${what} has a number of more than 64 bits`);
}

/** A field of bytes. */
export function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(...varint(number * 8 + 2), ...varint(bytes.length)), bytes);
}

function varint(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...varint(Math.floor(number / 0x80))];
}
