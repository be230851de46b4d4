/** Ethereum's transactions: legacy, with access list (EIP-2930), with fee market (1559), with blobs (4844), with code (7702). */
import { concatBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { checksumAddress } from '../../crypto/ethereum-addresses.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { attempt, bigEndian, unreadable, type Read } from '../reading.ts';
import { decodeRlp, encodeRlp, minimalBytes, type Item } from './rlp.ts';

/** As policies call them. */
export type EthereumType = 'LEGACY' | 'TYPE_1' | 'TYPE_2' | 'TYPE_3' | 'TYPE_4';

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
  readonly accessList: readonly { readonly address: string; readonly storageKeys: number }[];
  /** 32 bytes in hex with 0x, each. */
  readonly blobHashes: readonly string[];
  readonly authorizations: readonly EthereumAuthorization[];
}

/** An account's consent to run a contract's code as its own. */
interface EthereumAuthorization {
  /** 0 for every chain. */
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
}

export interface ReadEthereum {
  readonly transaction: EthereumTransaction;
  /** What is signed: 32 bytes. */
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
  readonly type: EthereumType;
  readonly name: string;
  readonly fields: readonly Field[];
  /** Whether it may leave out its receiver. */
  readonly creates: boolean;
}

const legacy: Layout = {
  type: 'LEGACY',
  name: 'a legacy transaction',
  fields: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'data'],
  creates: true,
};

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

/** By the first byte. */
const layouts: Readonly<Record<number, Layout>> = {
  1: {
    type: 'TYPE_1',
    name: 'a transaction of type 1',
    fields: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'data', 'accessList'],
    creates: true,
  },
  2: { type: 'TYPE_2', name: 'a transaction of type 2', fields: feeMarket, creates: true },
  3: {
    type: 'TYPE_3',
    name: 'a transaction of type 3',
    fields: [...feeMarket, 'maxFeePerBlobGas', 'blobHashes'],
    creates: false,
  },
  4: {
    type: 'TYPE_4',
    name: 'a transaction of type 4',
    fields: [...feeMarket, 'authorizations'],
    creates: false,
  },
};

/** @param bytes An unsigned transaction as it is hashed to be signed; what else it could be is refused. */
export function readEthereum(bytes: Uint8Array): Read<ReadEthereum> {
  return attempt(() => {
    const [first] = bytes;
    if (first === undefined) unreadable('expected an Ethereum transaction, got no bytes');
    if (first >= 0xc0) return readLegacy(bytes);
    const layout = layouts[first];
    // After the type comes a list.
    if (layout === undefined || (bytes[1] ?? 0) < 0xc0) {
      unreadable(
        `expected an unsigned Ethereum transaction in RLP, legacy or of type 1 to 4, got bytes that begin with 0x${toHex(bytes.subarray(0, 2))}`,
      );
    }
    return readTyped(first, layout, bytes);
  });
}

function readLegacy(bytes: Uint8Array): ReadEthereum {
  const items = listOf(decodeRlp(bytes, legacy.name), legacy.name);
  const own = items.slice(0, 6);
  // EIP-155 hashes the chain's id and two zeros as well.
  const [chain, ...zeros] = items.slice(6);
  if (items.length !== 6 && items.length !== 9) wrongCount(legacy, '6, or 9 with a chain', items.length);
  const chainId = chain === undefined ? undefined : integer(chain, 'chainId', 64);
  if (zeros.some((zero) => !(zero instanceof Uint8Array) || zero.length > 0)) {
    unreadable(`expected an unsigned transaction, got ${legacy.name} that is signed already`);
  }
  if (chainId === 0n) unreadable(`${legacy.name} has chain 0, which there is not`);
  return {
    transaction: { ...readFields(legacy, own), chainId },
    digest: keccak256(bytes),
    withSignature({ r, s, v }) {
      const recovery = BigInt(`0x${v}`);
      const encoded = chainId === undefined ? 27n + recovery : chainId * 2n + 35n + recovery;
      return encodeRlp([...own, minimalBytes(encoded), scalar(r), scalar(s)]);
    },
  };
}

function readTyped(first: number, layout: Layout, bytes: Uint8Array): ReadEthereum {
  const items = listOf(decodeRlp(bytes.subarray(1), layout.name), layout.name);
  const expected = layout.fields.length;
  if (layout.type === 'TYPE_3' && Array.isArray(items[0])) {
    unreadable(
      `expected the body of ${layout.name} alone, got it with its blobs: those are not signed, add them to the signed transaction`,
    );
  }
  if (items.length === expected + 3) {
    unreadable(`expected an unsigned transaction, got ${layout.name} that is signed already`);
  }
  if (items.length !== expected) wrongCount(layout, String(expected), items.length);
  return {
    transaction: readFields(layout, items),
    digest: keccak256(bytes),
    withSignature: ({ r, s, v }) =>
      concatBytes(
        Uint8Array.of(first),
        encodeRlp([...items, minimalBytes(BigInt(`0x${v}`)), scalar(r), scalar(s)]),
      ),
  };
}

const scalar = (hex: string): Uint8Array => minimalBytes(BigInt(`0x${hex}`));

function wrongCount(layout: Layout, expected: string, count: number): never {
  unreadable(`expected ${expected} fields of ${layout.name}, got ${String(count)}`);
}

function readFields(layout: Layout, items: readonly Item[]): EthereumTransaction {
  const at = (field: Field): Item | undefined => {
    const index = layout.fields.indexOf(field);
    return index === -1 ? undefined : items[index];
  };
  const optional = (field: Field, bits: number): bigint | undefined => {
    const item = at(field);
    return item === undefined ? undefined : integer(item, field, bits);
  };
  const required = (field: Field, bits: number): bigint => optional(field, bits) ?? 0n;
  const to = bytesOf(at('to') ?? new Uint8Array(), 'to');
  if (to.length !== 20 && to.length !== 0) {
    unreadable(`expected 20 bytes of to, or none, got ${String(to.length)}`);
  }
  if (to.length === 0 && !layout.creates) unreadable(`${layout.name} needs a receiver, got none`);
  const accessList = at('accessList');
  const blobHashes = at('blobHashes');
  const authorizations = at('authorizations');
  return {
    type: layout.type,
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
    accessList: accessList === undefined ? [] : listOf(accessList, 'the access list').map(readAccess),
    blobHashes:
      blobHashes === undefined
        ? []
        : listOf(blobHashes, 'the list of blobs').map(
            (hash) => `0x${toHex(fixed(hash, 'a blob’s hash', 32))}`,
          ),
    authorizations:
      authorizations === undefined
        ? []
        : listOf(authorizations, 'the authorization list').map(readAuthorization),
  };
}

function readAccess(item: Item): EthereumTransaction['accessList'][number] {
  const [address, keys, ...more] = listOf(item, 'an entry of the access list');
  if (address === undefined || keys === undefined || more.length > 0) {
    unreadable('expected an address and its keys in each entry of the access list');
  }
  const storageKeys = listOf(keys, 'the keys of the access list');
  for (const key of storageKeys) fixed(key, 'a key of the access list', 32);
  return {
    address: checksumAddress(fixed(address, 'an address of the access list', 20)),
    storageKeys: storageKeys.length,
  };
}

function readAuthorization(item: Item): EthereumAuthorization {
  const fields = listOf(item, 'an authorization');
  const [chainId, address, nonce, parity, r, s] = fields;
  if (
    fields.length !== 6 ||
    chainId === undefined ||
    address === undefined ||
    nonce === undefined ||
    parity === undefined ||
    r === undefined ||
    s === undefined
  ) {
    unreadable(`expected 6 fields of an authorization, got ${String(fields.length)}`);
  }
  integer(parity, 'the parity of an authorization', 8);
  integer(r, 'r of an authorization', 256);
  integer(s, 's of an authorization', 256);
  return {
    chainId: integer(chainId, 'the chain of an authorization', 256),
    address: checksumAddress(fixed(address, 'the address of an authorization', 20)),
    nonce: integer(nonce, 'the nonce of an authorization', 64),
  };
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
