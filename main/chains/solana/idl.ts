/** Interfaces of Solana's programs (Anchor's IDL in JSON, its older form and its newer), and instructions read by them. */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { decodeBase58, encodeBase58, toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { isObject, type JsonObject } from '../../crypto/json.ts';
import { deepestType, mostValues, type ArgumentValue } from '../arguments.ts';
import { quoted } from '../../lib/errors.ts';
import { attempt, Cursor, littleEndianBytes, unreadable, utf8, type Read } from '../reading.ts';
import type { NamedAccount } from './instructions.ts';
import type { SolanaInstruction } from './read.ts';

type IdlType =
  | { readonly kind: 'unsigned' | 'signed'; readonly bytes: number }
  | { readonly kind: 'float'; readonly bytes: 4 | 8 }
  | { readonly kind: 'bool' | 'bytes' | 'string' | 'key' }
  | { readonly kind: 'vec' | 'option'; readonly of: IdlType }
  | { readonly kind: 'array'; readonly of: IdlType; readonly length: number }
  | { readonly kind: 'defined'; readonly name: string };

/** Fields by name, or by place where they have no names. */
type Fields = readonly { readonly name: string; readonly type: IdlType }[];

type Defined =
  | { readonly kind: 'struct'; readonly fields: Fields }
  | {
      readonly kind: 'enum';
      readonly variants: readonly { readonly name: string; readonly fields: Fields }[];
    }
  | { readonly kind: 'alias'; readonly of: IdlType };

interface IdlInstruction {
  readonly name: string;
  readonly accounts: readonly string[];
  readonly args: Fields;
}

export interface Idl {
  /** By discriminator, in hex. */
  readonly instructions: ReadonlyMap<string, IdlInstruction>;
  /** In bytes: discriminators of other lengths than 8 are the program's own choice. */
  readonly lengths: readonly number[];
  readonly types: ReadonlyMap<string, Defined>;
}

/** An instruction by the names of an interface. */
export interface CalledInstruction {
  readonly name: string;
  /** In hex. */
  readonly discriminator: string;
  readonly accounts: readonly NamedAccount[];
  /** Or why they cannot be read. */
  readonly args: Read<readonly NamedValue[]>;
}

interface NamedValue {
  readonly name: string;
  readonly value: ArgumentValue;
}

/** @param value A parsed IDL. */
export function readIdl(value: unknown): Read<Idl> {
  return attempt(() => {
    if (!isObject(value)) unreadable('expected an IDL as a JSON object');
    const types = new Map(
      differing(listAt(value, 'types', 'the IDL').map(readDefined), ([name]) => name, 'two types'),
    );
    const instructions = new Map(
      differing(
        listAt(value, 'instructions', 'the IDL').map((entry, index) =>
          readInstruction(entry, `instruction ${String(index)} of the IDL`),
        ),
        ([discriminator]) => discriminator,
        'two instructions',
      ),
    );
    checkDefined(types, instructions);
    const lengths = [...new Set([...instructions.keys()].map((hex) => hex.length / 2))].sort((a, b) => b - a);
    for (const discriminator of instructions.keys()) {
      const shorter = lengths.find(
        (length) => length * 2 < discriminator.length && instructions.has(discriminator.slice(0, length * 2)),
      );
      if (shorter !== undefined) {
        unreadable(`the IDL has a discriminator that begins with another: ${discriminator}`);
      }
    }
    return { instructions, lengths, types };
  });
}

/** Refuses two entries of the same name: readers could not tell them apart. */
function differing<T>(entries: readonly T[], nameOf: (entry: T) => string, what: string): readonly T[] {
  const names = new Set<string>();
  for (const name of entries.map(nameOf)) {
    if (names.has(name)) unreadable(`${what} are called ${quoted(name)}`);
    names.add(name);
  }
  return entries;
}

function listAt(holder: JsonObject, name: string, at: string): readonly unknown[] {
  const value = holder[name];
  return Array.isArray(value)
    ? (value as readonly unknown[])
    : unreadable(`expected ${name} of ${at} as an array`);
}

function nameOf(value: unknown, at: string): string {
  const name = isObject(value) ? value['name'] : undefined;
  return typeof name === 'string' && /^[\w:<>, ]{1,200}$/.test(name)
    ? name
    : unreadable(`expected a name in ${at}`);
}

function readInstruction(entry: unknown, at: string): [string, IdlInstruction] {
  const name = nameOf(entry, at);
  if (!isObject(entry)) unreadable(`expected ${at} as an object`);
  const given = entry['discriminator'];
  const args = listAt(entry, 'args', name).map((arg, index) => {
    const where = `argument ${String(index)} of ${name}`;
    const type = isObject(arg) ? arg['type'] : undefined;
    return { name: nameOf(arg, where), type: readType(type, where, 0) };
  });
  differing(args, (arg) => arg.name, `two arguments of ${name}`);
  const accounts = accountNames(listAt(entry, 'accounts', name), name, 0);
  differing(accounts, (account) => account, `two accounts of ${name}`);
  const discriminator =
    given === undefined || given === null ? defaultDiscriminator(name) : readDiscriminator(given, name);
  return [discriminator, { name, accounts, args }];
}

/** Groups of accounts are laid out one after the other. A name that is taken has its group's before it. */
function accountNames(entries: readonly unknown[], at: string, depth: number): string[] {
  if (depth > deepestType) unreadable(`the accounts of ${at} nest too deep`);
  const names: string[] = [];
  for (const entry of entries) {
    const name = nameOf(entry, `the accounts of ${at}`);
    const group = isObject(entry) ? entry['accounts'] : undefined;
    if (!Array.isArray(group)) names.push(name);
    else {
      names.push(
        ...accountNames(group, at, depth + 1).map((inner) =>
          names.includes(inner) ? `${name}.${inner}` : inner,
        ),
      );
    }
  }
  return names;
}

/** Anchor's own: of the name in snake case. */
function defaultDiscriminator(name: string): string {
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return toHex(sha256(Buffer.from(`global:${snake}`, 'utf8')).subarray(0, 8));
}

function readDiscriminator(value: unknown, at: string): string {
  const bytes: readonly unknown[] = Array.isArray(value) ? value : [];
  const whole = bytes.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255);
  if (!whole || bytes.length === 0 || bytes.length > 32) {
    unreadable(`expected the discriminator of ${at} as 1 to 32 bytes`);
  }
  return toHex(Uint8Array.from(bytes.map(Number)));
}

const primitives: Readonly<Record<string, IdlType>> = {
  bool: { kind: 'bool' },
  bytes: { kind: 'bytes' },
  string: { kind: 'string' },
  publicKey: { kind: 'key' },
  pubkey: { kind: 'key' },
  f32: { kind: 'float', bytes: 4 },
  f64: { kind: 'float', bytes: 8 },
  ...Object.fromEntries<IdlType>(
    [8, 16, 32, 64, 128, 256].flatMap((bits) => [
      [`u${String(bits)}`, { kind: 'unsigned', bytes: bits / 8 } as const],
      [`i${String(bits)}`, { kind: 'signed', bytes: bits / 8 } as const],
    ]),
  ),
};

function readType(type: unknown, at: string, depth: number): IdlType {
  if (depth > deepestType) unreadable(`the type of ${at} nests too deep`);
  if (typeof type === 'string' && Object.hasOwn(primitives, type)) {
    const primitive = primitives[type];
    if (primitive !== undefined) return primitive;
  }
  if (isObject(type)) {
    const { vec, option, array, defined } = type;
    if (vec !== undefined) return { kind: 'vec', of: readType(vec, at, depth + 1) };
    if (option !== undefined) return { kind: 'option', of: readType(option, at, depth + 1) };
    if (Array.isArray(array)) {
      const [of, length] = array as readonly unknown[];
      if (typeof length === 'number' && Number.isInteger(length) && length >= 0 && length <= 1_000_000) {
        return { kind: 'array', of: readType(of, at, depth + 1), length };
      }
    }
    if (typeof defined === 'string') return { kind: 'defined', name: defined };
    if (isObject(defined)) return { kind: 'defined', name: nameOf(defined, at) };
  }
  const got = typeof type === 'string' ? type : quoted(type);
  return unreadable(`expected a type of an IDL in ${at}, got ${got.slice(0, 50)}`);
}

function readDefined(entry: unknown): [string, Defined] {
  const name = nameOf(entry, 'the types of the IDL');
  const type = isObject(entry) ? entry['type'] : undefined;
  const kind = isObject(type) ? type['kind'] : undefined;
  if (!isObject(type)) unreadable(`expected the type ${name} as an object`);
  switch (kind) {
    case 'struct':
      return [name, { kind, fields: readFields(type['fields'], name) }];
    case 'enum':
      return [
        name,
        {
          kind,
          variants: differing(
            listAt(type, 'variants', name).map((variant) => ({
              name: nameOf(variant, `the variants of ${name}`),
              fields: readFields(isObject(variant) ? variant['fields'] : undefined, name),
            })),
            (variant) => variant.name,
            `two variants of ${name}`,
          ),
        },
      ];
    case 'alias':
    case 'type':
      return [name, { kind: 'alias', of: readType(type['value'] ?? type['alias'], name, 0) }];
    default:
      return unreadable(`expected the type ${name} as a struct, an enum or an alias`);
  }
}

function readFields(value: unknown, at: string): Fields {
  const fields = value ?? [];
  if (!Array.isArray(fields)) unreadable(`expected the fields of ${at} as an array`);
  return differing(
    (fields as readonly unknown[]).map((field, index) =>
      isObject(field) && typeof field['name'] === 'string'
        ? { name: field['name'], type: readType(field['type'], at, 0) }
        : { name: String(index), type: readType(field, at, 0) },
    ),
    ({ name }) => name,
    `two fields of ${at}`,
  );
}

/** Names of types that there are; what refers to itself ends where the data does. */
function checkDefined(types: Idl['types'], instructions: Idl['instructions']): void {
  const check = (type: IdlType): void => {
    if (type.kind === 'defined') {
      if (!types.has(type.name)) unreadable(`the IDL has no type ${type.name}`);
    } else if ('of' in type) check(type.of);
  };
  for (const { args } of instructions.values())
    args.forEach(({ type }) => {
      check(type);
    });
  for (const defined of types.values()) {
    if (defined.kind === 'alias') check(defined.of);
    else if (defined.kind === 'struct')
      defined.fields.forEach(({ type }) => {
        check(type);
      });
    else
      defined.variants.forEach(({ fields }) => {
        fields.forEach(({ type }) => {
          check(type);
        });
      });
  }
}

/** @returns undefined where the interface has no instruction of that discriminator. */
export function readCalled(idl: Idl, { accounts, data }: SolanaInstruction): CalledInstruction | undefined {
  for (const length of idl.lengths) {
    const discriminator = toHex(data.subarray(0, length));
    const instruction = idl.instructions.get(discriminator);
    if (instruction === undefined) continue;
    const { name } = instruction;
    return {
      name,
      discriminator,
      accounts: instruction.accounts.map((account, index) => ({ name: account, account: accounts[index] })),
      args: attempt(() => {
        if (accounts.length < instruction.accounts.length) {
          unreadable(
            `${name} takes ${String(instruction.accounts.length)} accounts, got ${String(accounts.length)}`,
          );
        }
        return readArguments(idl, instruction, data.subarray(length));
      }),
    };
  }
  return undefined;
}

function readArguments(
  { types }: Idl,
  { name, args }: IdlInstruction,
  data: Uint8Array,
): readonly NamedValue[] {
  const cursor = new Cursor(data, `the data of ${name}`);
  const decoder = new Decoder(types, cursor);
  const read = args.map((arg) => ({ name: arg.name, value: decoder.value(arg.type, 0) }));
  // Anchor passes over bytes after the end.
  cursor.end();
  const encoder = new Encoder(types);
  const written = joinBytes(args.map(({ type }, index) => encoder.value(type, read[index]?.value)));
  if (Buffer.compare(written, data) !== 0) {
    unreadable(`the data of ${name} has a value that is not written the way that Borsh does`);
  }
  return read;
}

/** Borsh: numbers low byte first, lengths in 32 bits, a byte for a variant. */
class Decoder {
  readonly #types: Idl['types'];
  readonly #cursor: Cursor;
  #values = 0;

  constructor(types: Idl['types'], cursor: Cursor) {
    this.#types = types;
    this.#cursor = cursor;
  }

  value(type: IdlType, depth: number): ArgumentValue {
    this.#values += 1;
    if (this.#values > mostValues || depth > 64) unreadable('an argument has more values than are read');
    switch (type.kind) {
      case 'unsigned':
        return this.#cursor.littleEndian(type.bytes);
      case 'signed':
        return BigInt.asIntN(type.bytes * 8, this.#cursor.littleEndian(type.bytes));
      case 'float': {
        const bytes = Buffer.from(this.#cursor.take(type.bytes));
        const value = type.bytes === 4 ? bytes.readFloatLE() : bytes.readDoubleLE();
        return Object.is(value, -0) ? '-0' : String(value);
      }
      case 'bool': {
        const byte = this.#cursor.byte();
        return byte > 1 ? unreadable('an argument is a bool that is neither 0 nor 1') : byte === 1;
      }
      case 'key':
        return encodeBase58(this.#cursor.take(32));
      case 'bytes':
        return toHex(this.#cursor.take(this.#length()));
      case 'string':
        return (
          utf8(this.#cursor.take(this.#length())) ?? unreadable('an argument is a string that is no text')
        );
      case 'vec':
        return this.#list(type.of, this.#length(), depth);
      case 'array':
        return this.#list(type.of, type.length, depth);
      case 'option': {
        const byte = this.#cursor.byte();
        if (byte > 1) unreadable('an argument is an option that is neither 0 nor 1');
        return byte === 0 ? null : this.value(type.of, depth + 1);
      }
      case 'defined':
        return this.#defined(type.name, depth + 1);
    }
  }

  #length(): number {
    return Number(this.#cursor.littleEndian(4));
  }

  #list(of: IdlType, length: number, depth: number): ArgumentValue[] {
    const values: ArgumentValue[] = [];
    for (let index = 0; index < length; index += 1) values.push(this.value(of, depth + 1));
    return values;
  }

  #defined(name: string, depth: number): ArgumentValue {
    const defined = this.#types.get(name) ?? unreadable(`the IDL has no type ${name}`);
    if (defined.kind === 'alias') return this.value(defined.of, depth);
    if (defined.kind === 'struct') return this.#fields(defined.fields, depth);
    const index = this.#cursor.byte();
    const variant = defined.variants[index] ?? unreadable(`${name} has no variant ${String(index)}`);
    return variant.fields.length === 0
      ? variant.name
      : { [variant.name]: this.#fields(variant.fields, depth) };
  }

  #fields(fields: Fields, depth: number): ArgumentValue {
    return Object.fromEntries(fields.map(({ name, type }) => [name, this.value(type, depth)]));
  }
}

/** Writes what `Decoder` reads. Each value has the type that it was read by. */
class Encoder {
  readonly #types: Idl['types'];

  constructor(types: Idl['types']) {
    this.#types = types;
  }

  value(type: IdlType, value: ArgumentValue | undefined): Uint8Array {
    switch (type.kind) {
      case 'unsigned':
      case 'signed':
        return littleEndianBytes(BigInt.asUintN(type.bytes * 8, value as bigint), type.bytes);
      case 'float': {
        const bytes = Buffer.alloc(type.bytes);
        if (type.bytes === 4) bytes.writeFloatLE(Number(value));
        else bytes.writeDoubleLE(Number(value));
        return bytes;
      }
      case 'bool':
        return Uint8Array.of(value === true ? 1 : 0);
      case 'key':
        return decodeBase58('key', value as string, 32);
      case 'bytes':
        return sized(Buffer.from(value as string, 'hex'));
      case 'string':
        return sized(Buffer.from(value as string, 'utf8'));
      case 'vec':
        return concatBytes(lengthOf((value as readonly ArgumentValue[]).length), this.#list(type.of, value));
      case 'array':
        return this.#list(type.of, value);
      case 'option':
        return value === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), this.value(type.of, value));
      case 'defined':
        return this.#defined(type.name, value);
    }
  }

  #list(of: IdlType, value: ArgumentValue | undefined): Uint8Array {
    return joinBytes((value as readonly ArgumentValue[]).map((each) => this.value(of, each)));
  }

  #defined(name: string, value: ArgumentValue | undefined): Uint8Array {
    const defined = this.#types.get(name) ?? unreadable(`the IDL has no type ${name}`);
    if (defined.kind === 'alias') return this.value(defined.of, value);
    if (defined.kind === 'struct') return this.#fields(defined.fields, value);
    const [called, content] =
      typeof value === 'string' ? [value, {}] : (Object.entries(value as Named)[0] ?? ['', {}]);
    const index = defined.variants.findIndex((variant) => variant.name === called);
    return concatBytes(Uint8Array.of(index), this.#fields(defined.variants[index]?.fields ?? [], content));
  }

  #fields(fields: Fields, value: ArgumentValue | undefined): Uint8Array {
    return joinBytes(fields.map(({ name, type }) => this.value(type, (value as Named)[name])));
  }
}

type Named = Readonly<Record<string, ArgumentValue>>;

const lengthOf = (length: number): Uint8Array => littleEndianBytes(BigInt(length), 4);

const sized = (bytes: Uint8Array): Uint8Array => concatBytes(lengthOf(bytes.length), bytes);
