/**
 * A key in memory that two threads share: one stores and erases it, the other copies it. A counter beside it
 * reveals a copy that was taken while the key changed. The counter is odd while the key is whole.
 */
const keyLength = 32;
const counterLength = 4;

export class SharedKey {
  readonly memory: SharedArrayBuffer;
  readonly #counter: Int32Array;
  readonly #key: Uint8Array;

  constructor(memory = new SharedArrayBuffer(counterLength + keyLength)) {
    this.memory = memory;
    this.#counter = new Int32Array(memory, 0, 1);
    this.#key = new Uint8Array(memory, counterLength, keyLength);
  }

  /**
   * @param key 32 bytes; they are copied.
   * @returns a number that holds until the key is erased or another is put.
   */
  put(key: Uint8Array): number {
    if (!this.#isWhole || Buffer.compare(this.#key, key) !== 0) {
      this.erase();
      this.#key.set(key);
      Atomics.add(this.#counter, 0, 1);
    }
    return Atomics.load(this.#counter, 0);
  }

  /** @param put The number that `put` returned. */
  holds(put: number): boolean {
    return Atomics.load(this.#counter, 0) === put;
  }

  erase(): void {
    if (this.#isWhole) Atomics.add(this.#counter, 0, 1);
    this.#key.fill(0);
  }

  /** @returns a copy, for the caller to erase; undefined where there is no key. */
  take(): Uint8Array | undefined {
    const before = Atomics.load(this.#counter, 0);
    const copy = Uint8Array.from(this.#key);
    if (before % 2 !== 0 && Atomics.load(this.#counter, 0) === before) return copy;
    copy.fill(0);
    return undefined;
  }

  get #isWhole(): boolean {
    return Atomics.load(this.#counter, 0) % 2 !== 0;
  }
}
