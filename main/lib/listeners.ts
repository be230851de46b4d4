/** Listeners, called in turn. One that throws does not keep the others from being called: some of them erase keys. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #listeners = new Set<(...args: Told) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** @returns the function that stops it. */
  add(listener: (...args: Told) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Calls all of them. @returns what they threw: each caller says who owns that. */
  emit(...args: Told): readonly unknown[] {
    const faults: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(...args);
      } catch (error) {
        faults.push(error);
      }
    }
    return faults;
  }
}
