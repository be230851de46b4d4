/**
 * Calls that a page sends again. A browser ends connections when a network of the computer comes or goes, also those within the
 * computer, and the page cannot tell whether the service executed its call. It sends the call again under the same id, and gets
 * the answer of the first.
 */
import { owned } from '../../lib/faults.ts';

export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Milliseconds for which an answer is kept: a browser repeats a call at once. */
const keptFor = 10_000;

/** The oldest goes first. */
const mostKept = 256;

export class RepeatedCalls {
  readonly #answers = new Map<string, Promise<CallAnswer>>();
  readonly #settled = new Set<string>();
  /** Locks so far. */
  #locks = 0;

  /** @param id Of the session, the call and its sending. @returns what `make` answers, which is called once for an id. */
  answerOf(id: string, make: () => Promise<CallAnswer>): Promise<CallAnswer> {
    const known = this.#answers.get(id);
    if (known !== undefined) return known;
    const answer = make();
    this.#answers.set(id, answer);
    const begun = this.#locks;
    const settle = (): void => {
      if (begun !== this.#locks) {
        this.#forget(id);
        return;
      }
      this.#settled.add(id);
      const forget = owned(() => {
        this.#forget(id);
      });
      setTimeout(forget, keptFor).unref();
      const [oldest] = this.#settled;
      if (this.#settled.size > mostKept && oldest !== undefined) this.#forget(oldest);
    };
    answer.then(settle, settle);
    return answer;
  }

  /** Answers may have secrets in them: none outlives a lock, but for a call that is under way, until it is answered. */
  locked(): void {
    this.#locks += 1;
    for (const id of this.#settled) this.#forget(id);
  }

  #forget(id: string): void {
    this.#answers.delete(id);
    this.#settled.delete(id);
  }
}
