import { Listeners } from '../../lib/listeners.ts';
import { owned } from '../../lib/faults.ts';

/** Notifies the followers of the log that it has grown: after the commit, once for many rows. */
export class LogWatch {
  readonly #listeners = new Listeners<[]>();
  readonly #onFault: (error: unknown) => void;
  #scheduled = false;

  /** @param onFault Takes what a follower throws: in a turn of its own, nothing else would. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Called in the transaction that appends. */
  appended(): void {
    if (this.#scheduled || this.#listeners.size === 0) return;
    this.#scheduled = true;
    // Transactions end in the turn in which they begin.
    setImmediate(
      owned(() => {
        this.#scheduled = false;
        for (const fault of this.#listeners.emit()) this.#onFault(fault);
      }, this.#onFault),
    );
  }

  /** @returns the function that stops it. */
  add(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }
}
