/** The state of the keychain: answered at once, and an event reports changes. */
import type { Keychain, KeychainState } from './keychain.ts';
import { owned } from '../../lib/faults.ts';

export interface KeychainWatchParts {
  readonly keychain: Pick<Keychain, 'probe' | 'isSilent'>;
  readonly onChange: () => void;
  /** Between two questions, in milliseconds. */
  readonly pauseMs?: number;
  /** Between two questions whether one that worked is still there, in milliseconds. */
  readonly listenMs?: number;
}

export class KeychainWatch {
  readonly #parts: KeychainWatchParts;
  #state: Promise<KeychainState> | undefined;
  #isAsking = false;
  #askedAt = -Infinity;
  #listenedAt = -Infinity;

  constructor(parts: KeychainWatchParts) {
    this.#parts = parts;
  }

  /**
   * A keychain that works is tried once, and then checked at intervals. A missing keychain may be installed,
   * or start after this process at login, so it is tried again. A locked one is not, since the system might
   * then prompt the user.
   */
  async state(): Promise<KeychainState> {
    this.#state ??= this.#probe();
    const known = await this.#state;
    if (known.available) return this.#listen(known);
    const { quiet = false } = known;
    const isDue = performance.now() - this.#askedAt > (this.#parts.pauseMs ?? 10_000);
    if (quiet && isDue && !this.#isAsking) owned(() => this.#askQuietly(known))();
    return shownOf(known);
  }

  /** Asks one that worked for a sign of life. */
  async #listen(known: KeychainState): Promise<KeychainState> {
    const { keychain, listenMs = 1_000 } = this.#parts;
    if (keychain.isSilent === undefined || performance.now() - this.#listenedAt < listenMs) return known;
    this.#listenedAt = performance.now();
    const silent = await keychain.isSilent();
    if (silent === undefined) return known;
    this.#state = Promise.resolve(silent);
    // The caller gets the answer; the other listeners get this event.
    this.#parts.onChange();
    // A busy computer answers late: a probe waits for longer.
    if (!this.#isAsking) owned(() => this.#askQuietly(silent))();
    return shownOf(silent);
  }

  /** Probes in any case, since a person wants to know. */
  async look(): Promise<void> {
    await (this.#state = this.#probe());
  }

  async #askQuietly(before: KeychainState): Promise<void> {
    const state = await this.#probe();
    this.#state = Promise.resolve(state);
    if (JSON.stringify(before) !== JSON.stringify(state)) this.#parts.onChange();
  }

  async #probe(): Promise<KeychainState> {
    this.#isAsking = true;
    try {
      return await this.#parts.keychain.probe();
    } finally {
      this.#isAsking = false;
      this.#askedAt = performance.now();
    }
  }
}

/** Without what only this class is to know. */
function shownOf(state: KeychainState): KeychainState {
  if (state.available) return state;
  const { quiet: _, ...told } = state;
  return told;
}
