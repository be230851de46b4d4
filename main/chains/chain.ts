/**
 * A chain, as the vault sees it. Bytes are read once, into a model that re-encodes to the same bytes. The
 * description for people, the facts for policies and the signature come from that model.
 */
import type { AddressFormat } from './addresses/addresses.ts';
import type { Curve } from '../crypto/keys/curves.ts';
import type { HashFunction } from '../crypto/hashes.ts';
import type { Description } from './description.ts';
import type { ChainKeyword } from '../policy/language/chain-keywords.ts';
import type { ChainFacts } from './facts.ts';
import type { Interfaces } from './interfaces.ts';
import type { Read } from './reading.ts';

/** A key without its secret. */
export interface Key {
  readonly curve: Curve;
  /** Compressed SEC 1, or Ed25519's 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Of the address that names the key, where one does. */
  readonly format: AddressFormat | undefined;
}

/** The wallet or private key that has an own address. */
export interface Holder {
  readonly id: string;
  readonly name: string;
  /** True if another may have a copy of the key, and take what is sent there. */
  readonly isImported: boolean;
}

/** Facts of the vault that a transaction does not hold. */
export interface Context {
  /** The key that signs; undefined where a description is asked for without one. */
  readonly key: Key | undefined;
  readonly interfaces: Interfaces;
  /**
   * Finds the organization's own key at an address, by the vault's tables and never by a claim of the
   * payload.
   * @param address As the chain writes it.
   * @returns undefined for a foreign address.
   */
  readonly ours: (address: string) => Holder | undefined;
  /** Finds the name that the organization gave to a foreign address. */
  readonly known?: (address: string) => string | undefined;
}

/** A transaction that was read. */
export interface Opened {
  readonly describe: () => Description;
  /** Under the chain's keywords. */
  readonly facts: ChainFacts;
  /** Number of signatures that `sign` gives. */
  readonly signatures: number;
  /** @returns the transaction with its signature, or why there is none. */
  readonly sign: (privateKey: Uint8Array) => Read<Uint8Array>;
}

/** The chain's view of bytes that are hashed and signed as a raw payload. */
export interface InPayload {
  /** Empty where the bytes are nothing that the chain would take. */
  readonly facts: ChainFacts;
  /** Undefined where the bytes are nothing that the chain would take, or cannot be read. */
  readonly describe?: () => Description;
}

export interface Chain {
  /** The beginnings of its own address formats. */
  readonly formats: readonly string[];
  /** Under which policies read what its keys sign; the first is that of transactions. */
  readonly keywords: readonly [ChainKeyword, ...ChainKeyword[]];
  /** Reads an unsigned transaction as `sign_transaction` takes it. */
  readonly open: (bytes: Uint8Array, context: Context) => Read<Opened>;
  /**
   * Reads a raw payload as the chain would: a sender may present a transaction as a text.
   * @param bytes The bytes that `hashFunction` hashes before they are signed; for Ed25519 (`NOT_APPLICABLE`),
   * the bytes that are signed. A digest that is signed as it is (`NO_OP`) is never passed: it may stand for
   * anything.
   */
  readonly inPayload: (bytes: Uint8Array, hashFunction: HashFunction, context: Context) => InPayload;
}

export const ok = <T>(value: T): Read<T> => ({ ok: true, value });
export const refused = (problem: string): Read<never> => ({ ok: false, problem });
/** Not called `then`: a module with such an export is taken for a promise by `import()`. */
export const whenRead = <T, U>(read: Read<T>, next: (value: T) => U): Read<U> =>
  read.ok ? ok(next(read.value)) : read;

/** Nothing that the chain would take. */
export const nothingInPayload: InPayload = { facts: {} };
