/** EIP-712: the digest of typed structured data. */
import { quoted } from '../../lib/errors.ts';
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { decodeHex, encodeUtf8, invalid, toHex } from '../../crypto/encodings.ts';
import { checksumAddress, readEthereumAddress } from '../addresses/ethereum.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes, readInteger } from './integers.ts';
import { checkPayloadValues, isObject, kindOf, parseJson, type JsonObject } from '../../crypto/json.ts';

interface Member {
  readonly name: string;
  readonly type: string;
}

interface Struct {
  readonly members: readonly Member[];
  /** The hash of its text, which is the same for all of its values. */
  hash?: Uint8Array;
  /** Length of the type's text in characters, once it is hashed. */
  hashed?: number;
}

/** Structs by name; a Map, since the names are the caller's. */
type Types = ReadonlyMap<string, Struct>;

const domainName = 'EIP712Domain';
/** The members of a domain, in the standard's order. */
const domainMembers: readonly Member[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
];

/** Far more than any real data has: far less than the stack, and than what takes long to hash. */
const deepest = 64;
const mostTypes = 100;
const mostMembers = 1000;
/** Of the texts of all types that are hashed: a hundred types that hold one another say each other's members. */
const mostTypeCharacters = 200_000;
/** Names as they stand in a type's text: real ones hold colons, none holds what separates them. */
const nameForm = /^[^\s(),[\]\p{C}]{1,100}$/u;

/**
 * A value as its type reads it: an integer is a bigint, an address has its checksum, bytes are lowercase hex with 0x. What
 * a type does not name is not signed, and is not here either.
 */
export type TypedValue = string | boolean | bigint | readonly TypedValue[] | TypedObject;
export interface TypedObject {
  readonly [member: string]: TypedValue;
}

export interface TypedData {
  readonly primaryType: string;
  readonly domain: TypedObject;
  /** The domain itself where that is the primary type. */
  readonly message: TypedObject;
  /** The types of both as the standard writes them: a struct's own text, and after it those of all that it holds. */
  readonly messageType: string;
  readonly domainType: string;
  /** True if the domain has only the standard's members, each of the standard's type. */
  readonly isStandardDomain: boolean;
  /** The domain's hash, EIP-712's separator: 32 bytes. */
  readonly domainHash: Uint8Array;
  /** 32 bytes. */
  readonly messageHash: Uint8Array;
  /** The digest to sign: 32 bytes. */
  readonly digest: Uint8Array;
}

/** As `readTypedData`, of which it answers the digest. */
export const typedDataDigest = (field: string, payload: string): Uint8Array =>
  readTypedData(field, payload).digest;

/**
 * @param payload JSON: `types`, `primaryType`, `domain`, `message`. Without `types.EIP712Domain` the domain's type follows
 *   from what it holds.
 * @throws KeyhearthError INVALID_ARGUMENT naming the part that is wrong.
 */
export function readTypedData(field: string, payload: string): TypedData {
  checkPayloadValues(field, [payload]);
  const data = parseJson(field, payload);
  if (!isObject(data)) throw invalid(field, `expected typed data as a JSON object, got ${kindOf(data)}`);
  const domain = objectAt(field, data, 'domain');
  const types = readTypes(`${field}.types`, objectAt(field, data, 'types'), domain);
  const primaryType = data['primaryType'];
  if (typeof primaryType !== 'string' || !types.has(primaryType)) {
    throw invalid(
      `${field}.primaryType`,
      `expected the name of one of the types, got ${typeof primaryType === 'string' ? quoted(primaryType) : kindOf(primaryType)}`,
    );
  }
  const [domainHash, shownDomain] = readStruct(types, domainName, domain, `${field}.domain`);
  // A domain on its own is typed data as well.
  const isDomain = primaryType === domainName;
  const [messageHash, message] = isDomain
    ? [domainHash, shownDomain]
    : readStruct(types, primaryType, objectAt(field, data, 'message'), `${field}.message`);
  return {
    primaryType,
    domain: shownDomain,
    message,
    messageType: encodeType(types, primaryType),
    domainType: encodeType(types, domainName),
    isStandardDomain: structOf(types, domainName).members.every(isStandardMember),
    domainHash,
    messageHash,
    digest: keccak256(concatBytes(Uint8Array.of(0x19, 0x01), domainHash, ...(isDomain ? [] : [messageHash]))),
  };
}

const isStandardMember = ({ name, type }: Member): boolean =>
  domainMembers.some((member) => member.name === name && member.type === type);

function objectAt(field: string, data: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(data, name) ? data[name] : undefined;
  if (!isObject(value)) throw invalid(`${field}.${name}`, `expected an object, got ${kindOf(value)}`);
  return value;
}

function readTypes(field: string, types: JsonObject, domain: JsonObject): Types {
  const read = new Map<string, Struct>();
  if (Object.keys(types).length > mostTypes) {
    throw invalid(
      field,
      `expected at most ${String(mostTypes)} types, got ${String(Object.keys(types).length)}`,
    );
  }
  for (const [name, members] of Object.entries(types)) {
    const at = `${field}[${quoted(name)}]`;
    if (!nameForm.test(name) || isElementary(name)) {
      throw invalid(
        at,
        'expected a name that is no elementary type, without white space, commas, brackets or parentheses',
      );
    }
    if (!Array.isArray(members)) throw invalid(at, `expected an array of members, got ${kindOf(members)}`);
    read.set(name, { members: readMembers(at, members as readonly unknown[]) });
  }
  if (!read.has(domainName)) {
    read.set(domainName, { members: domainMembers.filter(({ name }) => Object.hasOwn(domain, name)) });
  }
  for (const [name, { members }] of read) {
    members.forEach(({ type }, index) => {
      const base = baseOf(type);
      if (base !== undefined && (read.has(base) || isElementary(base))) return;
      throw invalid(
        `${field}[${quoted(name)}][${String(index)}].type`,
        `expected an elementary type, one of the types, or an array of either; got ${quoted(type)}`,
      );
    });
  }
  return read;
}

function readMembers(at: string, members: readonly unknown[]): readonly Member[] {
  if (members.length > mostMembers) {
    throw invalid(at, `expected at most ${String(mostMembers)} members, got ${String(members.length)}`);
  }
  const names = new Set<string>();
  return members.map((member, index) => {
    const { name, type } = isObject(member) ? member : {};
    if (typeof name !== 'string' || typeof type !== 'string' || !nameForm.test(name) || names.has(name)) {
      throw invalid(
        `${at}[${String(index)}]`,
        typeof name === 'string' && names.has(name)
          ? `${quoted(name)} is given twice`
          : 'expected { name, type }: texts, the name without white space, commas, brackets or parentheses',
      );
    }
    names.add(name);
    return { name, type };
  });
}

/** @returns a type's name without its dimensions; undefined where those are malformed or too many. */
function baseOf(type: string): string | undefined {
  const match = /^([^[\]]{1,100})((?:\[[0-9]{0,9}\])*)$/.exec(type);
  return match?.[1] !== undefined && (match[2] ?? '').split('[').length <= deepest ? match[1] : undefined;
}

/** The 32 bytes that a value is hashed as, and the value. */
type Word = readonly [Uint8Array, TypedValue];

type Elementary = (field: string, value: unknown) => Word;

/** @returns how a value of an elementary type is read. */
function elementary(type: string): Elementary | undefined {
  if (type === 'address') {
    return (field, value) => {
      const address = readEthereumAddress(field, value);
      return [concatBytes(new Uint8Array(12), address), checksumAddress(address)];
    };
  }
  if (type === 'bool') {
    return (field, value) => {
      if (typeof value === 'boolean') return [integerBytes(value ? 1n : 0n, 32), value];
      throw invalid(field, `expected true or false, got ${kindOf(value)}`);
    };
  }
  if (type === 'string') {
    return (field, value) => {
      if (typeof value === 'string') return [keccak256(encodeUtf8(field, value)), value];
      throw invalid(field, `expected text, got ${kindOf(value)}`);
    };
  }
  if (type === 'bytes') {
    return (field, value) => {
      const bytes = readBytes(field, value);
      return [keccak256(bytes), `0x${toHex(bytes)}`];
    };
  }
  const [, kind, width] = /^(bytes|u?int)([1-9][0-9]{0,2})?$/.exec(type) ?? [];
  if (kind === 'bytes') {
    const length = Number(width);
    if (length > 32) return undefined;
    return (field, value) => {
      const bytes = readBytes(field, value, length);
      return [concatBytes(bytes, new Uint8Array(32 - length)), `0x${toHex(bytes)}`];
    };
  }
  if (kind === undefined) return undefined;
  // Without a width they are 256 bits wide; in a type's text they stay as they are written.
  const bits = width === undefined ? 256 : Number(width);
  if (bits > 256 || bits % 8 !== 0) return undefined;
  return (field, value) => {
    const number = readInteger(field, value, bits, kind === 'int');
    return [integerBytes(number, 32), number];
  };
}

const isElementary = (type: string): boolean => elementary(type) !== undefined;

function readBytes(field: string, value: unknown, length?: number): Uint8Array {
  if (typeof value === 'string' && value.startsWith('0x')) return decodeHex(field, value, length);
  throw invalid(
    field,
    `expected bytes in hex with 0x, got ${typeof value === 'string' ? 'text without 0x' : kindOf(value)}`,
  );
}

function readStruct(
  types: Types,
  name: string,
  value: JsonObject,
  field: string,
  depth = 0,
): readonly [Uint8Array, TypedObject] {
  if (depth > deepest) throw invalid(field, `expected at most ${String(deepest)} levels`);
  const struct = structOf(types, name);
  struct.hash ??= hashType(types, name, field);
  const words: Uint8Array[] = [struct.hash];
  const members: [string, TypedValue][] = [];
  for (const { name: member, type } of struct.members) {
    const given = Object.hasOwn(value, member) ? value[member] : undefined;
    const [word, read] = readValue(types, type, given, `${field}.${member}`, depth);
    words.push(word);
    members.push([member, read]);
  }
  // Each becomes a member of its own, `__proto__` too.
  return [keccak256(joinBytes(words)), Object.fromEntries(members)];
}

function hashType(types: Types, name: string, field: string): Uint8Array {
  const text = encodeType(types, name);
  let characters = text.length;
  for (const { hashed = 0 } of types.values()) characters += hashed;
  if (characters > mostTypeCharacters) {
    throw invalid(
      field,
      `expected types whose texts have at most ${mostTypeCharacters.toLocaleString('en')} characters together`,
    );
  }
  structOf(types, name).hashed = text.length;
  return keccak256(encodeUtf8(field, text));
}

function structOf(types: Types, name: string): Struct {
  const struct = types.get(name);
  if (struct === undefined) throw new Error('unreachable: types are checked when they are read');
  return struct;
}

function readValue(types: Types, type: string, value: unknown, field: string, depth: number): Word {
  const array = /^(.*)\[([0-9]*)\]$/s.exec(type);
  if (array) {
    const [, element = '', length = ''] = array;
    if (!Array.isArray(value)) throw invalid(field, `expected an array, got ${kindOf(value)}`);
    if (length !== '' && value.length !== Number(length)) {
      throw invalid(field, `expected ${length} elements, got ${String(value.length)}`);
    }
    const words = value.map((each: unknown, index) =>
      readValue(types, element, each, `${field}[${String(index)}]`, depth),
    );
    return [keccak256(joinBytes(words.map(([word]) => word))), words.map(([, read]) => read)];
  }
  if (types.has(type)) {
    if (!isObject(value)) throw invalid(field, `expected an object of ${type}, got ${kindOf(value)}`);
    return readStruct(types, type, value, field, depth + 1);
  }
  const read = elementary(type);
  if (read === undefined) throw new Error('unreachable: types are checked when they are read');
  return read(field, value);
}

/** A struct's text: its own, and after it in alphabetical order those of all that it holds. */
function encodeType(types: Types, name: string): string {
  const names = new Set<string>([name]);
  // A set that grows is walked to its new end.
  for (const each of names) {
    for (const { type } of structOf(types, each).members) {
      const base = baseOf(type) ?? '';
      if (types.has(base)) names.add(base);
    }
  }
  names.delete(name);
  return [name, ...[...names].sort()]
    .map(
      (each) =>
        `${each}(${structOf(types, each)
          .members.map((member) => `${member.type} ${member.name}`)
          .join(',')})`,
    )
    .join('');
}
