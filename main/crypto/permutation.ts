/**
 * A keyed permutation of the whole numbers below 2^48: a Feistel network of ten rounds over AES-256, as in NIST SP 800-38G.
 * Without the key, the numbers that it gives say nothing of those that it was given, not even which is larger.
 */
import { createCipheriv } from 'node:crypto';

const halfBits = 24;
const half = 2 ** halfBits;
const rounds = 10;
const blockLength = 16;

/** The numbers that are permuted end before this one. */
export const permuted = half * half;

export class Permutation {
  readonly #encrypt: (blocks: Uint8Array) => Buffer;

  /** @param key 32 bytes. */
  constructor(key: Uint8Array) {
    const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    this.#encrypt = (blocks) => cipher.update(blocks);
  }

  apply(numbers: readonly number[]): number[] {
    const left = numbers.map((each) => Math.floor(each / half));
    const right = numbers.map((each) => each % half);
    for (let round = 0; round < rounds; round++)
      this.#mix(round, round % 2 === 0 ? [right, left] : [left, right]);
    return joined(left, right);
  }

  invert(numbers: readonly number[]): number[] {
    const left = numbers.map((each) => Math.floor(each / half));
    const right = numbers.map((each) => each % half);
    for (let round = rounds; round-- > 0;) this.#mix(round, round % 2 === 0 ? [right, left] : [left, right]);
    return joined(left, right);
  }

  /** Mixes one half of each number into the other. Doing it twice undoes it. */
  #mix(round: number, [from, into]: readonly [number[], number[]]): void {
    const blocks = Buffer.alloc(from.length * blockLength);
    from.forEach((each, index) => {
      blocks.writeUInt8(round, index * blockLength);
      blocks.writeUIntBE(each, index * blockLength + 1, halfBits / 8);
    });
    const mixed = this.#encrypt(blocks);
    into.forEach((each, index) => {
      into[index] = each ^ mixed.readUIntBE(index * blockLength, halfBits / 8);
    });
  }
}

const joined = (left: readonly number[], right: readonly number[]): number[] =>
  left.map((each, index) => each * half + (right[index] ?? 0));
