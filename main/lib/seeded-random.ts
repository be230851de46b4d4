/** A reproducible source of bytes for `keyhearth dev`: HMAC-SHA-256 in counter mode, a stream for each purpose. */
import { createHmac, hash } from 'node:crypto';
import type { Random } from './random.ts';

export class SeededRandom {
  readonly #key: Buffer;
  #positions = new Map<string, number>();

  constructor(seed: string) {
    this.#key = hash('sha256', `latchkey dev seed ${seed}`, 'buffer');
  }

  readonly generate: Random = (purpose, length) => {
    const position = this.#positions.get(purpose) ?? 0;
    this.#positions.set(purpose, position + 1);
    const bytes = new Uint8Array(length);
    for (let offset = 0, block = 0; offset < length; offset += 32, block++) {
      const text = JSON.stringify([purpose, position, block]);
      bytes.set(
        createHmac('sha256', this.#key)
          .update(text)
          .digest()
          .subarray(0, length - offset),
        offset,
      );
    }
    return bytes;
  };

  /** The position in every stream. */
  positions(): ReadonlyMap<string, number> {
    return new Map(this.#positions);
  }

  /** Goes back to where every stream stood. */
  rewind(positions: ReadonlyMap<string, number>): void {
    this.#positions = new Map(positions);
  }
}
