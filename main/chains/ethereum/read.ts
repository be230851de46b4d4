/** Ethereum's transactions: legacy, with access list (EIP-2930), with fee market (1559), with blobs (4844), with code (7702). */
import { authorizationOf } from './eip7702.ts';
import { encodeAddress } from '../addresses/addresses.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/keys/curves.ts';
import { checksumAddress } from '../addresses/ethereum.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes } from './integers.ts';
import { recoverPublicKey } from '../../crypto/keys/secp256k1.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { attempt, bigEndian, unreadable, type Read } from '../reading.ts';
import { bytesOfHex, hexOf } from './hex.ts';
import { decodeRlp, encodeRlp, minimalBytes, type Item } from './rlp.ts';

/** As policies call them. */
export type EthereumType = 'LEGACY' | 'TYPE_1' | 'TYPE_2' | 'TYPE_3' | 'TYPE_4';

/** All that is in the bytes: `encodeEthereum` writes them from it. */
export interface EthereumTransaction {
  readonly type: EthereumType;
  /** Undefined for a legacy transaction that holds on every chain (before EIP-155). */
  readonly chainId: bigint | undefined;
  readonly nonce: bigint;
  readonly gas: bigint;
  /** Of types without a fee market. */
  readonly gasPrice: bigint | undefined;
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly maxFeePerBlobGas: bigint | undefined;
  /** With its checksum; empty where a contract is created. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[];
  /** 32 bytes in hex with 0x, each. */
  readonly blobHashes: readonly string[];
  readonly authorizations: readonly SignedAuthorization[];
}

interface AccessListEntry {
  readonly address: string;
  /** 32 bytes in hex with 0x, each. */
  readonly storageKeys: readonly string[];
}

/** An account's consent to run a contract's code as its own. */
export interface SignedAuthorization {
  /** 0 for every chain. */
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
  /** The account that signed it, with its checksum; undefined where no account did: the chain then passes it over. */
  readonly account: string | undefined;
}

export interface ReadEthereum {
  readonly transaction: EthereumTransaction;
  /** The digest to sign: 32 bytes. */
  readonly digest: Uint8Array;
  /** @returns the signed transaction. */
  readonly withSignature: (signature: Signature) => Uint8Array;
}

type Field =
  | 'chainId'
  | 'nonce'
  | 'gasPrice'
  | 'maxPriorityFeePerGas'
  | 'maxFeePerGas'
  | 'gas'
  | 'to'
  | 'value'
  | 'data'
  | 'accessList'
  | 'maxFeePerBlobGas'
  | 'blobHashes'
  | 'authorizations';

interface Layout {
  readonly name: string;
  /** The byte before the list; a legacy transaction has none. */
  readonly prefix: number | undefined;
  readonly fields: readonly Field[];
  /** True if the type may leave out its receiver. */
  readonly creates: boolean;
}

const feeMarket = [
  'chainId',
  'nonce',
  'maxPriorityFeePerGas',
  'maxFeePerGas',
  'gas',
  'to',
  'value',
  'data',
  'accessList',
] as const;

const layouts: Readonly<Record<EthereumType, Layout>> = {
  LEGACY: {
    name: 'a legacy transaction',
    prefix: undefined,
    fields: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'data'],
    creates: true,
  },
  TYPE_1: {
    name: 'a transaction of type 1',
    prefix: 1,
    fields: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'data', 'accessList'],
    creates: true,
  },
  TYPE_2: { name: 'a transaction of type 2', prefix: 2, fields: feeMarket, creates: true },
  TYPE_3: {
    name: 'a transaction of type 3',
    prefix: 3,
    fields: [...feeMarket, 'maxFeePerBlobGas', 'blobHashes'],
    creates: false,
  },
  TYPE_4: {
    name: 'a transaction of type 4',
    prefix: 4,
    fields: [...feeMarket, 'authorizations'],
    creates: false,
  },
};

/** @param bytes An unsigned transaction as it is hashed to be signed; what else it could be is refused. */
export function readEthereum(bytes: Uint8Array): Read<ReadEthereum> {
  return attempt(() => {
    const transaction = readTransaction(bytes);
    const unsigned = encodeUnsigned(transaction);
    // Whatever the model left out would be signed and never shown.
    if (Buffer.compare(unsigned, bytes) !== 0) {
      unreadable(`${layouts[transaction.type].name} is not written as this vault would write it`);
    }
    return {
      transaction,
      digest: keccak256(unsigned),
      withSignature: (signature) => encode(transaction, signedTail(transaction, signature)),
    };
  });
}

/** More than a block takes, and no more than is read within a turn. */
const mostListed = 2000;
/** Each is a signature whose key is recovered. */
const mostAuthorizations = 200;

function readTransaction(bytes: Uint8Array): EthereumTransaction {
  const [first] = bytes;
  if (first === undefined) unreadable('expected an Ethereum transaction, got no bytes');
  if (first >= 0xc0) return readLegacy(bytes);
  const type = `TYPE_${String(first)}` as EthereumType;
  // After the type comes a list.
  if (!Object.hasOwn(layouts, type) || (bytes[1] ?? 0) < 0xc0) {
    unreadable(
      `expected an unsigned Ethereum transaction in RLP, legacy or of type 1 to 4, got bytes that begin with ${hexOf(bytes.subarray(0, 2))}`,
    );
  }
  return readTyped(type, bytes);
}

function readLegacy(bytes: Uint8Array): EthereumTransaction {
  const layout = layouts.LEGACY;
  const items = listOf(decodeRlp(bytes, layout.name), layout.name);
  const [chain, ...zeros] = items.slice(6);
  if (items.length !== 6 && items.length !== 9) wrongCount(layout, '6, or 9 with a chain', items.length);
  const chainId = chain === undefined ? undefined : integer(chain, 'chainId', 64);
  if (zeros.some((zero) => !(zero instanceof Uint8Array) || zero.length > 0)) {
    unreadable(`expected an unsigned transaction, got ${layout.name} that is signed already`);
  }
  if (chainId === 0n) unreadable(`${layout.name} has chain 0, which there is not`);
  return { ...readFields('LEGACY', items.slice(0, 6)), chainId };
}

function readTyped(type: EthereumType, bytes: Uint8Array): EthereumTransaction {
  const layout = layouts[type];
  const items = listOf(decodeRlp(bytes.subarray(1), layout.name), layout.name);
  const expected = layout.fields.length;
  if (type === 'TYPE_3' && Array.isArray(items[0])) {
    unreadable(
      `expected the body of ${layout.name} alone, got it with its blobs: those are not signed, add them to the signed transaction`,
    );
  }
  if (items.length === expected + 3) {
    unreadable(`expected an unsigned transaction, got ${layout.name} that is signed already`);
  }
  if (items.length !== expected) wrongCount(layout, String(expected), items.length);
  return readFields(type, items);
}

function wrongCount(layout: Layout, expected: string, count: number): never {
  unreadable(`expected ${expected} fields of ${layout.name}, got ${String(count)}`);
}

function readFields(type: EthereumType, items: readonly Item[]): EthereumTransaction {
  const layout = layouts[type];
  const at = (field: Field): Item | undefined => {
    const index = layout.fields.indexOf(field);
    return index === -1 ? undefined : items[index];
  };
  const optional = (field: Field, bits: number): bigint | undefined => {
    const item = at(field);
    return item === undefined ? undefined : integer(item, field, bits);
  };
  const required = (field: Field, bits: number): bigint => optional(field, bits) ?? 0n;
  const list = <T>(field: Field, what: string, most: number, read: (item: Item) => T): readonly T[] => {
    const elements = listOf(at(field) ?? [], what);
    if (elements.length > most) {
      unreadable(`${what} has ${String(elements.length)} elements, and at most ${String(most)} are read`);
    }
    return elements.map(read);
  };
  const to = bytesOf(at('to') ?? new Uint8Array(), 'to');
  if (to.length !== 20 && to.length !== 0) {
    unreadable(`expected 20 bytes of to, or none, got ${String(to.length)}`);
  }
  if (to.length === 0 && !layout.creates) unreadable(`${layout.name} needs a receiver, got none`);
  return {
    type,
    chainId: optional('chainId', 64),
    nonce: required('nonce', 64),
    gas: required('gas', 64),
    gasPrice: optional('gasPrice', 256),
    maxFeePerGas: optional('maxFeePerGas', 256),
    maxPriorityFeePerGas: optional('maxPriorityFeePerGas', 256),
    maxFeePerBlobGas: optional('maxFeePerBlobGas', 256),
    to: to.length === 0 ? '' : checksumAddress(to),
    value: required('value', 256),
    data: bytesOf(at('data') ?? new Uint8Array(), 'data'),
    accessList: list('accessList', 'the access list', mostListed, readAccess),
    blobHashes: list('blobHashes', 'the list of blobs', mostListed, (hash) =>
      hexOf(fixed(hash, 'a blob’s hash', 32)),
    ),
    authorizations: list('authorizations', 'the authorization list', mostAuthorizations, readAuthorization),
  };
}

function readAccess(item: Item): AccessListEntry {
  const [address, keys, ...more] = listOf(item, 'an entry of the access list');
  if (address === undefined || keys === undefined || more.length > 0) {
    unreadable('expected an address and its keys in each entry of the access list');
  }
  return {
    address: checksumAddress(fixed(address, 'an address of the access list', 20)),
    storageKeys: listOf(keys, 'the keys of the access list').map((key) =>
      hexOf(fixed(key, 'a key of the access list', 32)),
    ),
  };
}

function readAuthorization(item: Item): SignedAuthorization {
  const fields = listOf(item, 'an authorization');
  if (fields.length !== 6) {
    unreadable(`expected 6 fields of an authorization, got ${String(fields.length)}`);
  }
  const at = (index: number): Item => fields[index] ?? new Uint8Array();
  const address = fixed(at(1), 'the address of an authorization', 20);
  const authorization = {
    chainId: integer(at(0), 'the chain of an authorization', 256),
    address: checksumAddress(address),
    nonce: integer(at(2), 'the nonce of an authorization', 64),
    yParity: integer(at(3), 'the parity of an authorization', 8),
    r: integer(at(4), 'r of an authorization', 256),
    s: integer(at(5), 's of an authorization', 256),
  };
  return { ...authorization, account: signerOf(authorization, address) };
}

/** EIP-2 takes an s of at most half of the curve's order. */
const greatestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** EIP-7702 passes over the last nonce, as it cannot be counted up. */
const lastNonce = (1n << 64n) - 1n;

/** @returns the account whose signature it is, as the chain recovers it. */
function signerOf(
  { chainId, nonce, yParity, r, s }: Omit<SignedAuthorization, 'account'>,
  address: Uint8Array,
): string | undefined {
  if (yParity > 1n || s > greatestS || nonce === lastNonce) return undefined;
  const { digest } = authorizationOf(chainId, address, nonce);
  const signature = concatBytes(integerBytes(r, 32), integerBytes(s, 32));
  try {
    const publicKey = recoverPublicKey(signature, yParity === 0n ? 0 : 1, digest);
    return encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', publicKey);
  } catch (error) {
    if (error instanceof KeyhearthError) return undefined;
    throw error;
  }
}

/** Encodes each field of the model. */
const writers: Readonly<Record<Field, (transaction: EthereumTransaction) => Item>> = {
  chainId: ({ chainId }) => minimalBytes(chainId ?? 0n),
  nonce: ({ nonce }) => minimalBytes(nonce),
  gasPrice: ({ gasPrice }) => minimalBytes(gasPrice ?? 0n),
  maxPriorityFeePerGas: ({ maxPriorityFeePerGas }) => minimalBytes(maxPriorityFeePerGas ?? 0n),
  maxFeePerGas: ({ maxFeePerGas }) => minimalBytes(maxFeePerGas ?? 0n),
  gas: ({ gas }) => minimalBytes(gas),
  to: ({ to }) => bytesOfHex(to),
  value: ({ value }) => minimalBytes(value),
  data: ({ data }) => data,
  accessList: ({ accessList }) =>
    accessList.map(({ address, storageKeys }) => [bytesOfHex(address), storageKeys.map(bytesOfHex)]),
  maxFeePerBlobGas: ({ maxFeePerBlobGas }) => minimalBytes(maxFeePerBlobGas ?? 0n),
  blobHashes: ({ blobHashes }) => blobHashes.map(bytesOfHex),
  authorizations: ({ authorizations }) =>
    authorizations.map(({ chainId, address, nonce, yParity, r, s }) => [
      minimalBytes(chainId),
      bytesOfHex(address),
      ...[nonce, yParity, r, s].map(minimalBytes),
    ]),
};

/** @param tail The fields after the transaction's own. */
function encode(transaction: EthereumTransaction, tail: readonly Item[]): Uint8Array {
  const { prefix, fields } = layouts[transaction.type];
  const list = encodeRlp([...fields.map((field) => writers[field](transaction)), ...tail]);
  return prefix === undefined ? list : concatBytes(Uint8Array.of(prefix), list);
}

/** Writes a transaction as it is hashed to be signed. */
export const encodeUnsigned = (transaction: EthereumTransaction): Uint8Array =>
  encode(transaction, unsignedTail(transaction));

/** EIP-155 hashes the chain's id and two zeros after a legacy transaction. */
const unsignedTail = ({ type, chainId }: EthereumTransaction): readonly Item[] =>
  type === 'LEGACY' && chainId !== undefined
    ? [minimalBytes(chainId), new Uint8Array(), new Uint8Array()]
    : [];

function signedTail({ type, chainId }: EthereumTransaction, { r, s, v }: Signature): readonly Item[] {
  const recovery = BigInt(`0x${v}`);
  const base = type !== 'LEGACY' ? 0n : chainId === undefined ? 27n : chainId * 2n + 35n;
  return [base + recovery, BigInt(`0x${r}`), BigInt(`0x${s}`)].map(minimalBytes);
}

function listOf(item: Item, what: string): readonly Item[] {
  return item instanceof Uint8Array ? unreadable(`expected ${what} as a list, got bytes`) : item;
}

function bytesOf(item: Item, what: string): Uint8Array {
  return item instanceof Uint8Array ? item : unreadable(`expected ${what} as bytes, got a list`);
}

function fixed(item: Item, what: string, length: number): Uint8Array {
  const bytes = bytesOf(item, what);
  if (bytes.length !== length) {
    unreadable(`expected ${String(length)} bytes of ${what}, got ${String(bytes.length)}`);
  }
  return bytes;
}

function integer(item: Item, what: string, bits: number): bigint {
  const bytes = bytesOf(item, what);
  if (bytes[0] === 0) unreadable(`expected ${what} without leading zeros`);
  if (bytes.length * 8 > bits) {
    unreadable(`expected at most ${String(bits)} bits of ${what}, got ${String(bytes.length * 8)}`);
  }
  return bigEndian(bytes);
}
