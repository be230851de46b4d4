/** What is known of the keychain: whoever asks hears it at once, and of what has changed since by an event. */
import type { Keychain, KeychainState } from './keychain.ts';
import { owned } from '../lib/faults.ts';

export interface KeychainWatchParts {
  readonly keychain: Pick<Keychain, 'probe'>;
  readonly onChange: () => void;
  /** Between two questions, in milliseconds. */
  readonly pauseMs?: number;
}

export class KeychainWatch {
  readonly #parts: KeychainWatchParts;
  #known: Promise<KeychainState> | undefined;
  #isAsking = false;
  #askedAt = -Infinity;

  constructor(parts: KeychainWatchParts) {
    this.#parts = parts;
  }

  /**
   * One that works is asked once: it takes a round trip to another process. One that is not there may be installed, or come
   * up after this at login, and is asked again; not one that is locked, since the system might ask somebody to unlock it.
   */
  async state(): Promise<KeychainState> {
    this.#known ??= this.#ask();
    const known = await this.#known;
    if (known.available) return known;
    const { quiet = false, ...told } = known;
    const isDue = performance.now() - this.#askedAt > (this.#parts.pauseMs ?? 10_000);
    if (quiet && isDue && !this.#isAsking) owned(() => this.#askQuietly(known))();
    return told;
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
