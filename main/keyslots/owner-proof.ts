/** Remembers for a short while that the vault's owner has shown a secret of theirs: one export may follow. */
import type { Clock } from '../lib/clock.ts';
import { LatchkeyError } from '../lib/errors.ts';

const lastsMs = 2 * 60_000;

export class OwnerProof {
  readonly #clock: Clock;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns when it is over, in milliseconds since the epoch. */
  give(): number {
    this.#until = this.#clock.wall() + lastsMs;
    return this.#until;
  }

  /** @throws LatchkeyError PERMISSION_DENIED where none was given in time, or what it allowed is done. */
  check(): void {
    const left = this.#until - this.#clock.wall();
    // A clock that was set back makes no proof last longer.
    if (left > 0 && left <= lastsMs) return;
    throw new LatchkeyError(
      'PERMISSION_DENIED',
      'an export needs the vault’s password or recovery phrase, given in the window within two minutes before it',
    );
  }

  /** It is used up, or the vault is locked. */
  end(): void {
    this.#until = 0;
  }
}
