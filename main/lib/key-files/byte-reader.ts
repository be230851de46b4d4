/** Reads the bytes of a key file that a stranger may have written. */

/** Stops the reading of a key file. It stays in this folder. */
export class UnreadableKey extends Error {
  declare protected readonly brand: 'UnreadableKey';
  override readonly name = 'UnreadableKey';
  readonly kind: 'refused' | 'passphrase needed' | 'wrong passphrase';

  constructor(kind: UnreadableKey['kind'], problem: string) {
    super(problem);
    this.kind = kind;
  }
}

/** @throws UnreadableKey always. */
export function refuse(problem: string): never {
  throw new UnreadableKey('refused', problem);
}

export const damaged = 'The key file is damaged or incomplete. Use another copy of the file.';

/** Every method throws UnreadableKey where there are not enough bytes. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  take(length: number): Uint8Array {
    if (length > this.left) refuse(damaged);
    this.#offset += length;
    return this.#bytes.subarray(this.#offset - length, this.#offset);
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  /** The next byte, which stays to be read; undefined at the end. */
  peek(): number | undefined {
    return this.#bytes[this.#offset];
  }

  uint32(): number {
    const bytes = this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  }

  /** A string of SSH (RFC 4251, section 5). */
  string(): Uint8Array {
    return this.take(this.uint32());
  }

  /** A string of SSH as text; bytes that are not UTF-8 are replaced. */
  text(): string {
    return new TextDecoder().decode(this.string());
  }

  end(): void {
    if (this.left > 0) refuse(damaged);
  }
}

/** Compares without an early end, since one side may be a secret. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  one.forEach((byte, index) => {
    difference |= byte ^ (other[index] ?? 0);
  });
  return difference === 0;
}
