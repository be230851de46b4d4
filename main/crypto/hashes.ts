/** Hash functions: SHA-2 from the platform; Keccak and RIPEMD-160, which Electron's BoringSSL lacks, from noble. */
import { hash } from 'node:crypto';
import { ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { checkBytes, plain } from './bytes.ts';

export type HashFunction =
  'HASH_FUNCTION_NO_OP' | 'HASH_FUNCTION_NOT_APPLICABLE' | 'HASH_FUNCTION_SHA256' | 'HASH_FUNCTION_KECCAK256';

/** What is done to a decoded payload before it is signed. Which of them fit a curve is the curve's to say. */
export const hashFunctions: Readonly<Record<HashFunction, (bytes: Uint8Array) => Uint8Array>> = {
  HASH_FUNCTION_NO_OP: (bytes) => bytes,
  HASH_FUNCTION_NOT_APPLICABLE: (bytes) => bytes,
  HASH_FUNCTION_SHA256: (bytes) => sha256(bytes),
  HASH_FUNCTION_KECCAK256: (bytes) => keccak256(bytes),
};

/** @returns 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return plain(hash('sha256', bytes, 'buffer'));
}

/** Keccak-256 as Ethereum uses it, which pads differently from SHA3-256. @returns 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return keccak_256(bytes);
}

/** @returns 20 bytes. */
export function ripemd160(bytes: Uint8Array): Uint8Array {
  checkBytes('bytes', bytes);
  return nobleRipemd160(bytes);
}

/** Bitcoin's RIPEMD-160 of SHA-256. @returns 20 bytes. */
export const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));
