/** Tells whoever follows the log that it has grown: after the commit, once for many rows. */
export class LogWatch {
  readonly #listeners = new Set<() => void>();
  #scheduled = false;

  /** Called in the transaction that appends. */
  appended(): void {
    if (this.#scheduled || this.#listeners.size === 0) return;
    this.#scheduled = true;
    // Transactions end in the turn in which they begin.
    setImmediate(() => {
      this.#scheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /** @returns the function that stops it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
