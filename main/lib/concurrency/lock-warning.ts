/** Warns before an idle vault locks, and takes the warning back. Each change is said once. */

const longestNoticeMs = 60_000;

export class LockWarning {
  readonly #say: (seconds: number | null) => void;
  #isSaid = false;

  /** @param say Called with the seconds until the lock, or null once it is not near any longer. */
  constructor(say: (seconds: number | null) => void) {
    this.#say = say;
  }

  /** @param limitMs After how long without use the vault is locked; null for never. */
  look(idleMs: number, limitMs: number | null): void {
    const leftMs = limitMs === null ? Infinity : limitMs - idleMs;
    // A vault that locks after one minute is not warned of all the time.
    const isNear = limitMs !== null && leftMs > 0 && leftMs <= Math.min(longestNoticeMs, limitMs / 2);
    if (isNear === this.#isSaid) return;
    this.#isSaid = isNear;
    this.#say(isNear ? Math.ceil(leftMs / 1_000) : null);
  }

  /** For a vault that is locked, or was used just now. */
  clear(): void {
    this.look(0, null);
  }
}
