/** What is known of the keychain: whoever asks hears it at once, and of what has changed since by an event. */
import type { Keychain, KeychainState } from './keychain.ts';
import { owned } from '../lib/faults.ts';

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
  #known: Promise<KeychainState> | undefined;
  #isAsking = false;
  #askedAt = -Infinity;
  #listenedAt = -Infinity;

  constructor(parts: KeychainWatchParts) {
    this.#parts = parts;
  }

  /**
   * One that works is tried once, and asked now and then whether it is still there. One that is not there may be installed, or
   * come up after this at login, and is tried again; not one that is locked, since the system might ask somebody to unlock it.
   */
  async state(): Promise<KeychainState> {
    this.#known ??= this.#ask();
    const known = await this.#known;
    if (known.available) return this.#listen(known);
    const { quiet = false } = known;
    const isDue = performance.now() - this.#askedAt > (this.#parts.pauseMs ?? 10_000);
    if (quiet && isDue && !this.#isAsking) owned(() => this.#askQuietly(known))();
    return toldOf(known);
  }

  /** Asks one that worked for a sign of life. */
  async #listen(known: KeychainState): Promise<KeychainState> {
    const { keychain, listenMs = 1_000 } = this.#parts;
    if (keychain.isSilent === undefined || performance.now() - this.#listenedAt < listenMs) return known;
    this.#listenedAt = performance.now();
    const silent = await keychain.isSilent();
    if (silent === undefined) return known;
    this.#known = Promise.resolve(silent);
    this.#askedAt = performance.now();
    // Who asked hears it now; the others by this.
    this.#parts.onChange();
    return toldOf(silent);
  }

  /** Asks in any case: somebody wants to know. */
  async look(): Promise<void> {
    await (this.#known = this.#ask());
  }

  async #askQuietly(before: KeychainState): Promise<void> {
    const state = await this.#ask();
    this.#known = Promise.resolve(state);
    if (JSON.stringify(before) !== JSON.stringify(state)) this.#parts.onChange();
  }

  async #ask(): Promise<KeychainState> {
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
function toldOf(state: KeychainState): KeychainState {
  if (state.available) return state;
  const { quiet: _, ...told } = state;
  return told;
}
