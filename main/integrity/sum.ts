/** An additive hash of many rows: its parts may come in any order, and go again. */
export const sumLength = 32;
const lanes = sumLength / 4;

/** Sums modulo 2^256, big-endian, as eight lanes whose carries wait until the sum is asked for. */
export class Sum {
  readonly #lanes = new Float64Array(lanes);
  #added = 0;

  constructor(start?: Uint8Array) {
    if (start) this.add(start, 1);
  }

  /** @param part 32 bytes. @param sign 1 or -1. */
  add(part: Uint8Array, sign: 1 | -1): void {
    // Beyond 2^53 a lane would no longer be exact.
    if (this.#added++ === 2 ** 20) this.#settle();
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    for (let lane = 0; lane < lanes; lane++) {
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + sign * view.getUint32(lane * 4);
    }
  }

  #settle(): void {
    const bytes = this.bytes();
    this.#lanes.fill(0);
    this.#added = 0;
    this.add(bytes, 1);
  }

  bytes(): Uint8Array {
    const bytes = Buffer.alloc(sumLength);
    let carry = 0;
    for (let lane = lanes - 1; lane >= 0; lane--) {
      const value = (this.#lanes[lane] ?? 0) + carry;
      carry = Math.floor(value / 2 ** 32);
      bytes.writeUInt32BE(value - carry * 2 ** 32, lane * 4);
    }
    return bytes;
  }
}
