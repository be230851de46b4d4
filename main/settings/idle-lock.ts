/** Locks the vault when neither a window in a browser nor, where they count, requests used it for a while. The desktop app watches its own session. */
import type { Clock } from '../lib/clock.ts';
import type { AutoLock } from './settings.ts';
import type { RequestUse } from './request-use.ts';
import { every } from '../lib/concurrency/every.ts';
import { LockWarning } from '../lib/concurrency/lock-warning.ts';

export interface IdleLockParts {
  readonly clock: Clock;
  readonly keys: { readonly unlocked: boolean };
  readonly autoLock: () => Pick<AutoLock, 'idleMinutes' | 'requestsKeepOpen'>;
  readonly requestUse: Pick<RequestUse, 'sinceMs'>;
  readonly lock: () => void;
  /** The seconds until the lock, some time before it; null once it is not near any longer. */
  readonly warn: (seconds: number | null) => void;
  readonly onFault: (error: unknown) => void;
}

/** Against the clock on the wall, since a timer stands still while the machine sleeps. */
const lookEveryMs = 1_000;

/**
 * Counts from the last sign of a window, also after the window was closed. Before the first sign it never
 * locks: a service that only scripts use has no person who could leave it.
 */
export class IdleLock {
  readonly #parts: IdleLockParts;
  readonly #warning: LockWarning;
  #usedAt: number | undefined;
  #stop: (() => void) | undefined;

  constructor(parts: IdleLockParts) {
    this.#parts = parts;
    this.#warning = new LockWarning(parts.warn);
  }

  /** Called when a window is used. */
  used(): void {
    this.#usedAt = this.#parts.clock.wall();
    this.#warning.clear();
    this.#stop ??= every(
      lookEveryMs,
      () => {
        this.#look();
      },
      this.#parts.onFault,
    );
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#usedAt = undefined;
    this.#warning.clear();
  }

  #look(): void {
    const { clock, keys, autoLock, requestUse, lock, onFault } = this.#parts;
    const isOpen = (): boolean => keys.unlocked;
    if (!isOpen()) this.#warning.clear();
    if (!isOpen() || this.#usedAt === undefined) return;
    try {
      // A clock that was set back makes no window more used than it is now.
      this.#usedAt = Math.min(this.#usedAt, clock.wall());
      const { idleMinutes, requestsKeepOpen } = autoLock();
      const sinceWindow = clock.wall() - this.#usedAt;
      const idleMs = requestsKeepOpen ? Math.min(sinceWindow, requestUse.sinceMs()) : sinceWindow;
      const limitMs = idleMinutes === null ? null : idleMinutes * 60_000;
      this.#warning.look(idleMs, limitMs);
      if (limitMs === null || idleMs < limitMs) return;
      lock();
      this.close();
    } catch (error) {
      // A file that does not hold locks itself.
      if (isOpen()) onFault(error);
    }
  }
}
