/**
 * HMAC-SHA-256 (RFC 2104) under one key, many times over short data. Node's own `createHmac` makes a key object and a
 * stream for each call, which costs ten times what the hashing does; and the key is erased here when it is done with.
 */
import { hash } from 'node:crypto';
import { checkBytes } from './bytes.ts';

const blockLength = 64;

export class HmacKey {
  /** The key as the inner and the outer hash begin with it. */
  readonly #inner = new Uint8Array(blockLength).fill(0x36);
  readonly #outer = new Uint8Array(blockLength).fill(0x5c);

  /** @param key 32 bytes, of which a copy is kept. */
  constructor(key: Uint8Array) {
    checkBytes('key', key, 32);
    for (const pad of [this.#inner, this.#outer]) {
      key.forEach((byte, index) => {
        pad[index] = (pad[index] ?? 0) ^ byte;
      });
    }
  }

  /** @param data Bytes, or a text as its UTF-8. @returns 32 bytes. */
  mac(data: string | Uint8Array): Uint8Array {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const inner = hash('sha256', Buffer.concat([this.#inner, bytes]), 'buffer');
    return hash('sha256', Buffer.concat([this.#outer, inner]), 'buffer');
  }

  erase(): void {
    this.#inner.fill(0);
    this.#outer.fill(0);
  }
}
