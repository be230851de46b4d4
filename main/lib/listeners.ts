/** Listeners that are told in turn. One that throws keeps no other from being told: some of them erase keys. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #listeners = new Set<(...told: Told) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** @returns the function that stops it. */
  add(listener: (...told: Told) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Tells all of them. @returns what they threw: each caller says who owns that. */
  tell(...told: Told): readonly unknown[] {
    const faults: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(...told);
      } catch (error) {
        faults.push(error);
      }
    }
    return faults;
  }
}
