/**
 * Verifies the signatures of stamps in the platform's own threads while several requests are under way: the thread that answers
 * them goes on with the others. A request that is alone is verified at once, since a thread would only add its own time.
 */
import type { Scheme } from './schemes.ts';

/** @returns whether the signature holds, as `Scheme.verify`; the promise of it where another thread finds out. */
export type Verify = (
  scheme: Scheme,
  publicKey: string,
  signature: Uint8Array,
  message: Uint8Array,
) => boolean | Promise<boolean>;

export const verifyAtOnce: Verify = (scheme, ...signed) => scheme.verify(...signed);

/**
 * So many are in other threads at most. A flood of requests is verified in turns from there on, as the shares of their senders
 * allow, and what else those threads do is not kept waiting.
 */
const most = 32;

export class Verifications {
  readonly #areOthersComing: () => boolean;
  #underWay = 0;

  /** @param areOthersComing Whether other requests wait for their turn. */
  constructor(areOthersComing: () => boolean) {
    this.#areOthersComing = areOthersComing;
  }

  /** True while another thread verifies. */
  get areUnderWay(): boolean {
    return this.#underWay > 0;
  }

  readonly verify: Verify = (scheme, ...signed) => {
    const isAlone = !this.areUnderWay && !this.#areOthersComing();
    if (scheme.verifyAside === undefined || isAlone || this.#underWay >= most)
      return scheme.verify(...signed);
    this.#underWay += 1;
    return scheme.verifyAside(...signed).finally(() => {
      this.#underWay -= 1;
    });
  };
}
