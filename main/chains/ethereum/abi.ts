/** Ethereum's contract interfaces (ABI in JSON), and calls of contracts read by them. Tron's contracts have the same. */
import { joinBytes } from '../../crypto/bytes.ts';
import { checksumAddress } from '../addresses/ethereum.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes } from './integers.ts';
import { isObject, type JsonObject } from '../../crypto/json.ts';
import { deepestType, mostValues, type Argument, type ArgumentValue } from '../arguments.ts';
import { attempt, bigEndian, unreadable, utf8, type Read } from '../reading.ts';
import { bytesOfHex, hexOf } from './hex.ts';

type AbiType =
  | { readonly kind: 'uint' | 'int' | 'fixed bytes'; readonly width: number }
  | { readonly kind: 'address' | 'bool' | 'bytes' | 'string' }
  | { readonly kind: 'array'; readonly of: AbiType; readonly length: number | undefined }
  | { readonly kind: 'tuple'; readonly parts: readonly AbiType[] };

interface Parameter {
  readonly name: string;
  /** As it stands in a signature: a tuple by its parts. */
  readonly text: string;
  readonly type: AbiType;
}

interface AbiFunction {
  readonly name: string;
  /** `transfer(address,uint256)`. */
  readonly signature: string;
  readonly parameters: readonly Parameter[];
}

/** Functions by their selector, in hex with 0x. */
export type Abi = ReadonlyMap<string, AbiFunction>;

/** The function that calldata names by its first four bytes. */
interface Called {
  readonly name: string;
  readonly signature: string;
  /** In hex with 0x. */
  readonly selector: string;
}

/** A call whose arguments, encoded again, give the same calldata to the last byte. */
export interface ReadCall extends Called {
  readonly args: readonly Argument[];
}

/**
 * A call whose arguments cannot be read: a contract may refuse it, or take it for something else than it seems. Its name
 * is known all the same.
 */
export interface OpaqueCall extends Called {
  readonly args: undefined;
  /** Why. */
  readonly problem: string;
}

export type Call = ReadCall | OpaqueCall;

/** A chain's text form of the 20 bytes of an address. */
export interface AddressForm {
  readonly write: (address: Uint8Array) => string;
  readonly read: (text: string) => Uint8Array;
}

const checksummed: AddressForm = { write: checksumAddress, read: bytesOfHex };

/** @param value A parsed ABI: a list of functions, events and errors, of which functions alone matter here. */
export function readAbi(value: unknown): Read<Abi> {
  return attempt(() => {
    if (!Array.isArray(value)) unreadable('expected an ABI as a JSON array');
    const functions = new Map<string, AbiFunction>();
    (value as readonly unknown[]).forEach((entry, index) => {
      if (!isObject(entry)) unreadable(`expected entry ${String(index)} of the ABI as an object`);
      if (entry['type'] !== 'function') return;
      const read = readFunction(entry, `entry ${String(index)} of the ABI`);
      functions.set(selectorOf(read.signature), read);
    });
    return functions;
  });
}

const selectorOf = (signature: string): string =>
  hexOf(keccak256(Buffer.from(signature, 'utf8')).subarray(0, 4));

function readFunction(entry: JsonObject, at: string): AbiFunction {
  const { name } = entry;
  if (typeof name !== 'string' || !/^[A-Za-z_$][\w$]{0,199}$/.test(name)) {
    unreadable(`expected a function's name in ${at}`);
  }
  const inputs = entry['inputs'] ?? [];
  if (!Array.isArray(inputs)) unreadable(`expected the inputs of ${name} as an array`);
  const parameters = (inputs as readonly unknown[]).map((input, index) =>
    readParameter(input, `input ${String(index)} of ${name}`, String(index), 0),
  );
  const names = parameters.map((parameter) => parameter.name);
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) unreadable(`${name} has two inputs of the name ${twice}`);
  return { name, signature: `${name}(${parameters.map(({ text }) => text).join(',')})`, parameters };
}

/** @param unnamed The name of a parameter that has none. */
function readParameter(input: unknown, at: string, unnamed: string, depth: number): Parameter {
  if (depth > deepestType) unreadable(`${at} nests deeper than ${String(deepestType)} tuples`);
  const { name = '', type, components } = isObject(input) ? input : {};
  // A name stands before a value in descriptions, where words of ours have spaces.
  if (typeof type !== 'string' || typeof name !== 'string' || !/^[\w$]{0,200}$/.test(name)) {
    unreadable(`expected { name, type } in ${at}, the name of letters, digits, _ and $`);
  }
  const match = /^([a-z0-9]{1,20})((?:\[[0-9]{0,9}\]){0,16})$/.exec(type);
  if (match?.[1] === undefined) unreadable(`expected a type of Solidity in ${at}, got ${type.slice(0, 50)}`);
  const [, base, dimensions = ''] = match;
  const [text, element] =
    base === 'tuple' ? readTuple(components, at, depth) : [canonical(base), elementary(base, at)];
  const array = [...dimensions.matchAll(/\[([0-9]*)\]/g)].reduce<AbiType>(
    (of, [, length]) => ({ kind: 'array', of, length: length === '' ? undefined : Number(length) }),
    element,
  );
  return { name: name === '' ? unnamed : name, text: text + dimensions, type: array };
}

function readTuple(components: unknown, at: string, depth: number): [string, AbiType] {
  if (!Array.isArray(components)) unreadable(`expected the components of the tuple in ${at} as an array`);
  const parts = (components as readonly unknown[]).map((component, index) =>
    readParameter(component, at, String(index), depth + 1),
  );
  return [
    `(${parts.map(({ text }) => text).join(',')})`,
    { kind: 'tuple', parts: parts.map(({ type }) => type) },
  ];
}

/** Signatures write the width. */
const canonical = (type: string): string => (/^u?int$/.test(type) ? `${type}256` : type);

function elementary(type: string, at: string): AbiType {
  switch (type) {
    case 'address':
    case 'bool':
    case 'bytes':
    case 'string':
      return { kind: type };
    // An address and a selector.
    case 'function':
      return { kind: 'fixed bytes', width: 24 };
  }
  const [, kind, digits] = /^(u?int|bytes)([1-9][0-9]{0,2})?$/.exec(type) ?? [];
  const width = digits === undefined ? 256 : Number(digits);
  if (kind === 'bytes' && width <= 32) return { kind: 'fixed bytes', width };
  if ((kind === 'uint' || kind === 'int') && width <= 256 && width % 8 === 0) return { kind, width };
  return unreadable(`expected a type of Solidity in ${at}, got ${type}`);
}

/**
 * @param data The calldata: a selector and the arguments.
 * @returns undefined where the interface has no function of that selector.
 */
export function readCall(abi: Abi, data: Uint8Array, addresses = checksummed): Call | undefined {
  const selector = hexOf(data.subarray(0, 4));
  const called = abi.get(selector);
  if (called === undefined) return undefined;
  const { name, signature, parameters } = called;
  const read = attempt(() => {
    const types = parameters.map(({ type }) => type);
    const given = data.subarray(4);
    const values = new Decoder(given, signature, addresses).parts(types, 0);
    // Contracts differ in which encodings they refuse and how they take the rest: one alone is read.
    if (Buffer.compare(encodeParts(types, values, addresses), given) !== 0) {
      unreadable(`the data of ${signature} is not in the one encoding that its arguments have`);
    }
    return values;
  });
  if (!read.ok) return { name, signature, selector, args: undefined, problem: read.problem };
  const args = parameters.map((parameter, index) => ({
    name: parameter.name,
    type: parameter.text,
    value: read.value[index] ?? null,
  }));
  return { name, signature, selector, args };
}

const word = 32;

/** True for a dynamic type: the head holds the offset of the value. */
function isDynamic(type: AbiType): boolean {
  switch (type.kind) {
    case 'bytes':
    case 'string':
      return true;
    case 'array':
      return type.length === undefined || isDynamic(type.of);
    case 'tuple':
      return type.parts.some(isDynamic);
    default:
      return false;
  }
}

/** Length of a value's head, in bytes. */
function sizeOf(type: AbiType): number {
  if (isDynamic(type)) return word;
  if (type.kind === 'array') return (type.length ?? 0) * sizeOf(type.of);
  return type.kind === 'tuple' ? type.parts.reduce((size, part) => size + sizeOf(part), 0) : word;
}

class Decoder {
  readonly #data: Uint8Array;
  readonly #what: string;
  readonly #addresses: AddressForm;
  #values = 0;
  #taken = 0;

  constructor(data: Uint8Array, what: string, addresses: AddressForm) {
    this.#data = data;
    this.#what = what;
    this.#addresses = addresses;
  }

  /** Values whose heads follow each other from `base`, which the offsets of dynamic ones also count from. */
  parts(types: readonly AbiType[], base: number): ArgumentValue[] {
    let head = base;
    return types.map((type) => {
      const at = isDynamic(type) ? base + this.#count(head) : head;
      head += sizeOf(type);
      return this.#value(type, at);
    });
  }

  #value(type: AbiType, at: number): ArgumentValue {
    this.#values += 1;
    if (this.#values > mostValues)
      unreadable(`the data of ${this.#what} has more than ${String(mostValues)} values`);
    switch (type.kind) {
      case 'uint':
        return this.#unsigned(at, type.width);
      case 'int': {
        const value = BigInt.asIntN(256, bigEndian(this.#bytes(at, word)));
        if (BigInt.asIntN(type.width, value) !== value) this.#dirty(`int${String(type.width)}`);
        return value;
      }
      case 'address': {
        const bytes = this.#bytes(at, word);
        if (bytes.subarray(0, 12).some((byte) => byte !== 0)) this.#dirty('address');
        return this.#addresses.write(bytes.subarray(12));
      }
      case 'bool': {
        const value = this.#unsigned(at, 8);
        return value > 1n ? this.#dirty('bool') : value === 1n;
      }
      case 'fixed bytes': {
        const bytes = this.#bytes(at, word);
        if (bytes.subarray(type.width).some((byte) => byte !== 0)) this.#dirty(`bytes${String(type.width)}`);
        return hexOf(bytes.subarray(0, type.width));
      }
      case 'bytes':
        return hexOf(this.#sized(at));
      case 'string':
        return utf8(this.#sized(at)) ?? unreadable(`the data of ${this.#what} has a string that is no text`);
      case 'array': {
        const length = type.length ?? this.#count(at);
        if (length > mostValues)
          unreadable(`the data of ${this.#what} has more than ${String(mostValues)} values`);
        const of = Array.from({ length }, () => type.of);
        return this.parts(of, type.length === undefined ? at + word : at);
      }
      case 'tuple':
        return this.parts(type.parts, at);
    }
  }

  #bytes(at: number, length: number): Uint8Array {
    if (at + length > this.#data.length) unreadable(`the data of ${this.#what} ends too early`);
    this.#taken += length;
    // Data that refers to itself would be read over and over.
    if (this.#taken > this.#data.length) unreadable(`the data of ${this.#what} has parts that overlap`);
    return this.#data.subarray(at, at + length);
  }

  /** Bytes after their length. */
  #sized(at: number): Uint8Array {
    return this.#bytes(at + word, this.#count(at));
  }

  /** A length or an offset, which is within the data. */
  #count(at: number): number {
    const count = bigEndian(this.#bytes(at, word));
    if (count > BigInt(this.#data.length)) unreadable(`the data of ${this.#what} points past its end`);
    return Number(count);
  }

  #unsigned(at: number, width: number): bigint {
    const value = bigEndian(this.#bytes(at, word));
    return value >> BigInt(width) === 0n ? value : this.#dirty(`uint${String(width)}`);
  }

  #dirty(type: string): never {
    unreadable(`the data of ${this.#what} has a value that does not fit ${type}`);
  }
}

/** Values as `Decoder` gives them: the heads, with values of a fixed size in them, and then the tails of dynamic values, in order. */
function encodeParts(
  types: readonly AbiType[],
  values: readonly ArgumentValue[],
  addresses: AddressForm,
): Uint8Array {
  const encoded = types.map((type, index) => encodeValue(type, values[index] ?? null, addresses));
  let end = types.reduce((size, type) => size + sizeOf(type), 0);
  const heads = types.map((type, index) => {
    const bytes = encoded[index] ?? new Uint8Array();
    if (!isDynamic(type)) return bytes;
    const offset = integerBytes(BigInt(end), word);
    end += bytes.length;
    return offset;
  });
  return joinBytes([...heads, ...encoded.filter((_, index) => isDynamic(types[index] ?? none))]);
}

const none: AbiType = { kind: 'tuple', parts: [] };

function encodeValue(type: AbiType, value: ArgumentValue, addresses: AddressForm): Uint8Array {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return integerBytes(value as bigint, word);
    case 'bool':
      return integerBytes(value === true ? 1n : 0n, word);
    case 'address':
      return joinBytes([new Uint8Array(12), addresses.read(value as string)]);
    case 'fixed bytes':
      return filled(bytesOfHex(value as string));
    case 'bytes':
      return sized(bytesOfHex(value as string));
    case 'string':
      return sized(Buffer.from(value as string, 'utf8'));
    case 'array': {
      const values = value as readonly ArgumentValue[];
      const types = values.map(() => type.of);
      const elements = encodeParts(types, values, addresses);
      return type.length === undefined ? joinBytes([lengthOf(values), elements]) : elements;
    }
    case 'tuple':
      return encodeParts(type.parts, value as readonly ArgumentValue[], addresses);
  }
}

const lengthOf = ({ length }: { readonly length: number }): Uint8Array => integerBytes(BigInt(length), word);

/** Bytes and the zeros that fill their last word. */
const filled = (bytes: Uint8Array): Uint8Array =>
  joinBytes([bytes, new Uint8Array((word - (bytes.length % word)) % word)]);

const sized = (bytes: Uint8Array): Uint8Array => joinBytes([lengthOf(bytes), filled(bytes)]);
