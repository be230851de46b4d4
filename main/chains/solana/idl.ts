/** Interfaces of Solana's programs (Anchor's IDL in JSON, its older form and its newer), and instructions read by them. */
import { encodeBase58, toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { isObject, type JsonObject } from '../../crypto/json.ts';
import { deepestType, mostValues, type Argument, type ArgumentValue } from '../arguments.ts';
import { seen } from '../../lib/errors.ts';
import { attempt, Cursor, unreadable, utf8, type Read } from '../reading.ts';
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
  readonly args: readonly { readonly name: string; readonly text: string; readonly type: IdlType }[];
}

export interface Idl {
  /** By discriminator, in hex. */
  readonly instructions: ReadonlyMap<string, IdlInstruction>;
  /** In bytes: discriminators of other lengths than 8 are the program's own choice. */
  readonly lengths: readonly number[];
  readonly types: ReadonlyMap<string, Defined>;
}

export interface ParsedInstruction {
  readonly name: string;
  /** In hex. */
  readonly discriminator: string;
  /** By name, those that the interface names; others that follow are left out. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly args: readonly Argument[];
}

/** @param value A parsed IDL. */
export function readIdl(value: unknown): Read<Idl> {
  return attempt(() => {
    if (!isObject(value)) unreadable('expected an IDL as a JSON object');
    const types = new Map(listAt(value, 'types', 'the IDL').map(readDefined));
    const instructions = new Map(
      listAt(value, 'instructions', 'the IDL').map((entry, index) =>
        readInstruction(entry, `instruction ${String(index)} of the IDL`),
      ),
    );
    checkDefined(types, instructions);
    const lengths = [...new Set([...instructions.keys()].map((hex) => hex.length / 2))].sort((a, b) => b - a);
    return { instructions, lengths, types };
  });
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
    return { name: nameOf(arg, where), text: typeText(type), type: readType(type, where, 0) };
  });
  const accounts = accountNames(listAt(entry, 'accounts', name), name, 0);
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
  return unreadable(`expected a type of an IDL in ${at}, got ${typeText(type).slice(0, 50)}`);
}

const typeText = (type: unknown): string => (typeof type === 'string' ? type : seen(type));

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
          variants: listAt(type, 'variants', name).map((variant) => ({
            name: nameOf(variant, `the variants of ${name}`),
            fields: readFields(isObject(variant) ? variant['fields'] : undefined, name),
          })),
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
  return (fields as readonly unknown[]).map((field, index) =>
    isObject(field) && typeof field['name'] === 'string'
      ? { name: field['name'], type: readType(field['type'], at, 0) }
      : { name: String(index), type: readType(field, at, 0) },
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
export function readInstructionBy(
  idl: Idl,
  { accounts, data }: SolanaInstruction,
): Read<ParsedInstruction> | undefined {
  for (const length of idl.lengths) {
    const discriminator = toHex(data.subarray(0, length));
    const instruction = idl.instructions.get(discriminator);
    if (instruction === undefined) continue;
    const { name, args } = instruction;
    return attempt(() => {
      const cursor = new Cursor(data.subarray(length), `the data of ${name}`);
      const decoder = new Decoder(idl.types, cursor);
      const read = args.map((arg) => ({ name: arg.name, type: arg.text, value: decoder.value(arg.type, 0) }));
      cursor.end();
      if (accounts.length < instruction.accounts.length) {
        unreadable(
          `${name} takes ${String(instruction.accounts.length)} accounts, got ${String(accounts.length)}`,
        );
      }
      const named = instruction.accounts.map((account, index) => [account, accounts[index]?.key ?? '']);
      return {
        name,
        discriminator,
        accounts: Object.fromEntries(named) as Record<string, string>,
        args: read,
      };
    });
  }
  return undefined;
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
        return String(type.bytes === 4 ? bytes.readFloatLE() : bytes.readDoubleLE());
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
