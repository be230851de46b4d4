/** Hash functions: SHA-2 from the platform; those that Electron's BoringSSL lacks, or has not for sure, from noble. */
import { hash } from 'node:crypto';
import { blake2b } from '@noble/hashes/blake2.js';
import { ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js';
import { keccak_256, sha3_256 } from '@noble/hashes/sha3.js';
import type { Paced } from '../lib/concurrency/paced.ts';
import { checkBytes, concatBytes, asUint8Array } from './bytes.ts';

export type HashFunction =
  | 'HASH_FUNCTION_NO_OP'
  | 'HASH_FUNCTION_NOT_APPLICABLE'
  | 'HASH_FUNCTION_SHA256'
  | 'HASH_FUNCTION_KECCAK256';

/** Applied to a decoded payload before it is signed. Each curve decides which of them it accepts. */
export const hashFunctions: Readonly<Record<HashFunction, (bytes: Uint8Array) => Uint8Array>> = {
  HASH_FUNCTION_NO_OP: (bytes) => bytes,
  HASH_FUNCTION_NOT_APPLICABLE: (bytes) => bytes,
  HASH_FUNCTION_SHA256: (bytes) => sha256(bytes),
  HASH_FUNCTION_KECCAK256: (bytes) => keccak256(bytes),
};

/** @returns 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return asUint8Array(hash('sha256', bytes, 'buffer'));
}

/** @returns 64 bytes. */
export function sha512(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return asUint8Array(hash('sha512', bytes, 'buffer'));
}

/** Keccak-256 as Ethereum uses it, which pads differently from SHA3-256. @returns 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return keccak_256(bytes);
}

/** Some four milliseconds of work. */
const stepBytes = 128 * 1024;

/** Computes Keccak-256 in steps: the platform does not have it, and JavaScript takes a tenth of a second for 4 MiB. */
export function* keccak256InSteps(bytes: Uint8Array): Paced<Uint8Array> {
  const state = keccak_256.create();
  for (let at = 0; at < bytes.length; at += stepBytes) {
    if (at > 0) yield;
    state.update(bytes.subarray(at, at + stepBytes));
  }
  return state.digest();
}

/** @returns 20 bytes. */
export function ripemd160(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return nobleRipemd160(bytes);
}

/** Bitcoin's RIPEMD-160 of SHA-256. @returns 20 bytes. */
export const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));

/** SHA3-256. @returns 32 bytes. */
export function sha3(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return sha3_256(bytes);
}

/** BLAKE2b-256. @returns 32 bytes. */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return blake2b(bytes, { dkLen: 32 });
}

/** BIP-340's hash, which no other tag's can equal. @returns 32 bytes. */
export function taggedHash(tag: string, bytes: Uint8Array): Uint8Array {
  const prefix = sha256(Buffer.from(tag, 'ascii'));
  return sha256(concatBytes(prefix, prefix, bytes));
}
