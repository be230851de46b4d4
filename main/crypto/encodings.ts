/** Strict decoding of text that callers send, and the encodings that have no one-liner. */
import { hash } from 'node:crypto';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import { KeyhearthError, quoted } from '../lib/errors.ts';
import { checkBytes, asUint8Array } from './bytes.ts';

/** @returns lowercase hex without 0x. */
export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

/**
 * Decodes hex in either case, with or without `0x`.
 * @param length In bytes, where only one length will do.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field and the place of the fault, never the text itself.
 */
export function decodeHex(field: string, text: string, length?: number): Uint8Array {
  checkString(field, text);
  const start = /^0x/i.test(text) ? 2 : 0;
  const digits = text.slice(start);
  const fault = /[^0-9a-fA-F]/.exec(digits);
  if (fault) throw invalid(field, `expected hex, got ${faultAt(fault, start)}`);
  if (digits.length % 2 !== 0) {
    throw invalid(
      field,
      `expected hex of whole bytes, got an odd number of digits (${String(digits.length)})`,
    );
  }
  if (length !== undefined && digits.length !== length * 2) {
    throw invalid(field, `expected ${String(length)} bytes in hex, got ${String(digits.length / 2)}`);
  }
  return asUint8Array(Buffer.from(digits, 'hex'));
}

/** @returns Base58 in Bitcoin's alphabet, without a checksum. */
export function encodeBase58(bytes: Uint8Array): string {
  checkBytes('bytes', bytes);
  return base58.encode(bytes);
}

const base58check = createBase58check((bytes: Uint8Array) => asUint8Array(hash('sha256', bytes, 'buffer')));

/** @returns Base58 in Bitcoin's alphabet, of the bytes and the first four of their SHA-256 taken twice. */
export function encodeBase58Check(bytes: Uint8Array): string {
  checkBytes('bytes', bytes);
  return base58check.encode(bytes);
}

/** True for Base58 in Bitcoin's alphabet with the right checksum. */
export function isBase58Check(text: string): boolean {
  try {
    base58check.decode(text);
    return true;
  } catch {
    return false;
  }
}

/** True for Bech32 (BIP 173) or Bech32m (BIP 350) with the right checksum. */
export const isBech32 = (text: string): boolean =>
  [bech32, bech32m].some((kind) => kind.decodeUnsafe(text) !== undefined);

/**
 * @param length In bytes, where only one length will do.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field and the place of the fault, never the text itself.
 */
export function decodeBase58(field: string, text: string, length?: number): Uint8Array {
  checkString(field, text);
  const fault = /[^1-9A-HJ-NP-Za-km-z]/.exec(text);
  if (fault) throw invalid(field, `expected Base58, got ${faultAt(fault, 0)}`);
  const bytes = base58.decode(text);
  if (length !== undefined && bytes.length !== length) {
    throw invalid(field, `expected ${String(length)} bytes in Base58, got ${String(bytes.length)}`);
  }
  return bytes;
}

/** @throws KeyhearthError INVALID_ARGUMENT for a lone surrogate, which UTF-8 cannot carry. */
export function encodeUtf8(field: string, text: string): Uint8Array {
  checkString(field, text);
  if (!text.isWellFormed()) throw invalid(field, 'expected Unicode text, got a lone surrogate');
  return asUint8Array(Buffer.from(text, 'utf8'));
}

export const invalid = (field: string, problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `invalid ${field}: ${problem}`);

function checkString(field: string, text: unknown): void {
  if (typeof text !== 'string') throw invalid(field, `expected text, got ${typeof text}`);
}

/** One character is enough to find the fault by, and too little to give a secret away. */
const faultAt = (fault: RegExpExecArray, offset: number): string =>
  `${quoted(fault[0])} at character ${String(fault.index + offset + 1)}`;
