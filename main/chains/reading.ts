/** Reading bytes that a stranger wrote: whatever is wrong with them is said, and nothing is thrown. */
import { ExplainedError } from '../lib/errors.ts';

/** Stops a decoder. It stays in this folder: `attempt` turns it into a problem. */
class Unreadable extends ExplainedError {
  override readonly name = 'Unreadable';
}

/** The result of reading, or a sentence that says what was expected and what was found. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export function attempt<T>(read: () => T): Read<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message };
    throw error;
  }
}

/** @throws Unreadable always. */
export function unreadable(problem: string): never {
  throw new Unreadable(problem);
}

/** Reads bytes from their beginning to their end. Every method throws Unreadable where there are not enough. */
export class Cursor {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #offset = 0;

  /** @param what What the bytes are, for problems. */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  get offset(): number {
    return this.#offset;
  }

  take(length: number): Uint8Array {
    if (length > this.left) {
      unreadable(
        `${this.#what} ends too early: expected ${String(length)} more bytes, got ${String(this.left)}`,
      );
    }
    const start = this.#offset;
    this.#offset += length;
    return this.#bytes.subarray(start, this.#offset);
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  /** The next byte, which stays to be read. */
  peek(): number {
    return this.#bytes[this.#offset] ?? unreadable(`${this.#what} ends too early`);
  }

  /** A whole number, low byte first. */
  littleEndian(length: number): bigint {
    return littleEndian(this.take(length));
  }

  rest(): Uint8Array {
    return this.take(this.left);
  }

  end(): void {
    if (this.left > 0)
      unreadable(`${this.#what} has ${String(this.left)} bytes after its end, which nothing accounts for`);
  }
}

export function littleEndian(bytes: Uint8Array): bigint {
  let number = 0n;
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    number = (number << 8n) | BigInt(bytes[index] ?? 0);
  }
  return number;
}

export const littleEndianBytes = (number: bigint, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, byte) => Number((number >> BigInt(8 * byte)) & 0xffn));

export function bigEndian(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** Text of UTF-8, or undefined for what is none. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
