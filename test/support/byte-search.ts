/** Searches bytes for any of many patterns at once, and looks at a fraction of the places. */

/** Bytes by which a pattern is recognized before it is compared whole. */
const gramLength = 4;
/** A longer step would need more grams of each pattern, and gains little. */
const longestStep = 8;
/** Bits of a hash of a gram that decide if a pattern may be there. */
const filterBits = 18;

interface Pattern<Value> {
  readonly bytes: Buffer;
  readonly value: Value;
}

/** A gram of a pattern, and where in it. */
interface Place<Value> {
  readonly pattern: Pattern<Value>;
  readonly offset: number;
}

interface Index<Value> {
  /** Every pattern, wherever it begins, has a whole gram at one multiple of this many bytes. */
  readonly step: number;
  readonly places: ReadonlyMap<number, readonly Place<Value>[]>;
  /** Passes over most grams at once. */
  readonly filter: Uint8Array;
}

export class ByteSearch<Value> {
  readonly #patterns = new Map<string, Pattern<Value>>();
  #shortest = Infinity;
  #index: Index<Value> | undefined;

  /**
   * The first value of equal patterns stays.
   * @throws RangeError for a pattern of fewer than four bytes.
   */
  add(bytes: Buffer, value: Value): void {
    if (bytes.length < gramLength) throw new RangeError(`a pattern has at least ${String(gramLength)} bytes`);
    const key = bytes.toString('latin1');
    if (this.#patterns.has(key)) return;
    this.#patterns.set(key, { bytes, value });
    this.#shortest = Math.min(this.#shortest, bytes.length);
    this.#index = undefined;
  }

  /** Calls back once for each place of each pattern in these bytes. */
  find(bytes: Buffer, found: (value: Value) => void): void {
    if (this.#patterns.size === 0) return;
    const { step, places, filter } = (this.#index ??= this.#makeIndex());
    for (let at = 0; at + gramLength <= bytes.length; at += step) {
      const gram = bytes.readInt32LE(at);
      if (filter[hashOf(gram)] === 0) continue;
      for (const { pattern, offset } of places.get(gram) ?? []) {
        const from = at - offset;
        if (from >= 0 && bytes.subarray(from, from + pattern.bytes.length).equals(pattern.bytes))
          found(pattern.value);
      }
    }
  }

  #makeIndex(): Index<Value> {
    const step = Math.min(longestStep, this.#shortest - gramLength + 1);
    const places = new Map<number, Place<Value>[]>();
    const filter = new Uint8Array(1 << filterBits);
    for (const pattern of this.#patterns.values()) {
      for (let offset = 0; offset < step; offset += 1) {
        const gram = pattern.bytes.readInt32LE(offset);
        const same = places.get(gram);
        if (same === undefined) places.set(gram, [{ pattern, offset }]);
        else same.push({ pattern, offset });
        filter[hashOf(gram)] = 1;
      }
    }
    return { step, places, filter };
  }
}

const hashOf = (gram: number): number => Math.imul(gram, 0x9e3779b1) >>> (32 - filterBits);
