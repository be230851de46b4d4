/**
 * HMAC-SHA-256 (RFC 2104) under one key, many times over short data. Node's own `createHmac` makes a key object and a
 * stream for each call, which costs ten times what the hashing does; and the key is erased here when it is done with.
 */
import { hash } from 'node:crypto';
import { checkBytes } from './bytes.ts';

const blockLength = 64;
const hashLength = 32;
/** Of the data that needs no memory of its own: longer than nearly all rows. */
const shortLength = 4096;
/** Bytes of UTF-8 that one unit of a string takes at most. */
const mostBytes = 3;

export class HmacKey {
  /** Input of the inner hash. The padded key is at its beginning, and short data is written behind it. */
  readonly #inner = Buffer.alloc(blockLength + shortLength);
  readonly #outer = Buffer.alloc(blockLength + hashLength);

  /** @param key 32 bytes, of which a copy is kept. */
  constructor(key: Uint8Array) {
    checkBytes('key', key, hashLength);
    for (const [hashed, pad] of [
      [this.#inner, 0x36],
      [this.#outer, 0x5c],
    ] as const) {
      hashed.fill(pad, 0, blockLength);
      key.forEach((byte, index) => {
        hashed[index] = byte ^ pad;
      });
    }
  }

  /** @param data Bytes, or a text as its UTF-8. @returns 32 bytes. */
  mac(data: string | Uint8Array): Uint8Array {
    const keyed = this.#withInner(data);
    // The hash returns a binary string in half the time of a Buffer.
    this.#outer.write(hash('sha256', keyed, 'binary'), blockLength, 'binary');
    if (keyed.buffer !== this.#inner.buffer) keyed.fill(0);
    return hash('sha256', this.#outer, 'buffer');
  }

  #withInner(data: string | Uint8Array): Uint8Array {
    const isText = typeof data === 'string';
    if (data.length * (isText ? mostBytes : 1) > shortLength) {
      return Buffer.concat([this.#inner.subarray(0, blockLength), isText ? Buffer.from(data) : data]);
    }
    if (isText) return this.#inner.subarray(0, blockLength + this.#inner.write(data, blockLength));
    this.#inner.set(data, blockLength);
    return this.#inner.subarray(0, blockLength + data.length);
  }

  erase(): void {
    this.#inner.fill(0);
    this.#outer.fill(0);
  }
}
