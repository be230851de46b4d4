/** When a caller of the owner's organization last did something new over the API: a use of the vault, as a window's is. */
import type { Clock } from '../lib/clock.ts';

export class RequestUse {
  readonly #clock: Pick<Clock, 'wall'>;
  #usedAt: number | undefined;

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
  }

  /** Called for each new row of the log that such a caller's request made: a row needs a proof, a permission and a new body. */
  note(): void {
    this.#usedAt = this.#clock.wall();
  }

  /** @returns milliseconds since the last use; Infinity before the first. */
  sinceMs(): number {
    if (this.#usedAt === undefined) return Infinity;
    // A clock that was set back makes no use later than now.
    this.#usedAt = Math.min(this.#usedAt, this.#clock.wall());
    return this.#clock.wall() - this.#usedAt;
  }
}
