/**
 * Secret texts. JavaScript cannot erase a string: what comes as bytes stays bytes, in memory of its own, and is erased by
 * its holder. A string is taken all the same, from a person's window, the keychain or a test.
 */
import { isUtf8 } from 'node:buffer';
import { checkBytes } from './bytes.ts';
import { invalid } from './encodings.ts';

/** A text, or the bytes of its UTF-8. */
export type SecretText = string | Uint8Array;

/**
 * Answers memory that is part of no other, and that the engine does not move: of short arrays it keeps the bytes among its
 * objects, and leaves copies behind where it moves them.
 */
export const ownBytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(new ArrayBuffer(length));

/** @returns a copy, which the caller erases after use. */
export function copyOfBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = ownBytes(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * @returns the text's UTF-8, a copy that the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT for a text that is not Unicode.
 */
export function bytesOfSecret(field: string, text: SecretText): Uint8Array<ArrayBuffer> {
  if (typeof text === 'string') {
    if (!text.isWellFormed()) throw invalid(field, 'expected Unicode text, got a lone surrogate');
    const bytes = ownBytes(Buffer.byteLength(text));
    new TextEncoder().encodeInto(text, bytes);
    return bytes;
  }
  if (!(text instanceof Uint8Array)) throw invalid(field, `expected text, got ${typeof text}`);
  if (!isUtf8(text)) throw invalid(field, 'expected Unicode text, got bytes that are none');
  return copyOfBytes(text);
}

/** Erases a secret that is bytes; of a string nothing can be done. */
export function eraseSecret(text: SecretText | undefined): void {
  if (text instanceof Uint8Array) text.fill(0);
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Counts characters in UTF-8, as a person counts them. */
export function countCharacters(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (!isContinuation(byte)) count += 1;
  return count;
}

/**
 * Brings a text into a form of Unicode.
 * @param bytes UTF-8. What has characters beyond ASCII becomes a string for that long: the platform normalizes no bytes.
 * @returns UTF-8, a copy that the caller erases after use.
 */
export function normalized(bytes: Uint8Array, form: 'NFKC' | 'NFKD'): Uint8Array<ArrayBuffer> {
  checkBytes('bytes', bytes);
  if (bytes.every((byte) => byte < 0x80)) return copyOfBytes(bytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  return bytesOfSecret('text', text.normalize(form));
}
