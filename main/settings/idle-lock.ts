/** Locks the vault when nobody has used a window in a browser for a while. The desktop's shell has its own eyes. */
import type { Clock } from '../lib/clock.ts';
import { owned } from '../lib/faults.ts';

export interface IdleLockParts {
  readonly clock: Clock;
  readonly keys: { readonly unlocked: boolean };
  /** Null for never. */
  readonly idleMinutes: () => number | null;
  readonly lock: () => void;
  readonly onFault: (error: unknown) => void;
}

/** Against the clock on the wall, since a timer stands still while the machine sleeps. */
const lookEveryMs = 1_000;

/**
 * It counts from the last word of a window, also after that was closed. Before any has spoken it never locks: a service that
 * only scripts use is not left by anybody.
 */
export class IdleLock {
  readonly #parts: IdleLockParts;
  #usedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: IdleLockParts) {
    this.#parts = parts;
  }

  /** Somebody uses a window. */
  used(): void {
    this.#usedAt = this.#parts.clock.wall();
    this.#timer ??= setInterval(
      owned(() => {
        this.#look();
      }, this.#parts.onFault),
      lookEveryMs,
    ).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#usedAt = undefined;
  }

  #look(): void {
    const { clock, keys, idleMinutes, lock, onFault } = this.#parts;
    const isOpen = (): boolean => keys.unlocked;
    if (!isOpen() || this.#usedAt === undefined) return;
    try {
      // A clock that was set back makes no window more used than it is now.
      this.#usedAt = Math.min(this.#usedAt, clock.wall());
      const minutes = idleMinutes();
      if (minutes === null || clock.wall() - this.#usedAt < minutes * 60_000) return;
      lock();
      this.close();
    } catch (error) {
      // A file that does not hold locks itself.
      if (isOpen()) onFault(error);
    }
  }
}
