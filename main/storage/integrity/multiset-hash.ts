/** An additive hash of many rows: its parts may come in any order, and go again. */
export const multisetHashLength = 32;
const limbs = multisetHashLength / 4;

/** Sums modulo 2^256, big-endian, as eight limbs. Carries wait until the digest is read. */
export class MultisetHash {
  readonly #limbs = new Float64Array(limbs);
  #added = 0;

  constructor(start?: Uint8Array) {
    if (start) this.add(start, 1);
  }

  /** @param part 32 bytes. @param sign 1 or -1. */
  add(part: Uint8Array, sign: 1 | -1): void {
    // Beyond 2^53 a limb would not be exact.
    if (this.#added++ === 2 ** 20) this.#settle();
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    for (let limb = 0; limb < limbs; limb++) {
      this.#limbs[limb] = (this.#limbs[limb] ?? 0) + sign * view.getUint32(limb * 4);
    }
  }

  #settle(): void {
    const bytes = this.bytes();
    this.#limbs.fill(0);
    this.#added = 0;
    this.add(bytes, 1);
  }

  bytes(): Uint8Array {
    const bytes = Buffer.alloc(multisetHashLength);
    let carry = 0;
    for (let limb = limbs - 1; limb >= 0; limb--) {
      const value = (this.#limbs[limb] ?? 0) + carry;
      carry = Math.floor(value / 2 ** 32);
      bytes.writeUInt32BE(value - carry * 2 ** 32, limb * 4);
    }
    return bytes;
  }
}
