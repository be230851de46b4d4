/** Work in steps, so that others take their turns between them. */

/**
 * Yields wherever others may take a turn, and returns what it made. A step takes a few milliseconds at most. It keeps no
 * promise of one view of the file: each step reads the file as it is then.
 */
export type Paced<T> = Generator<undefined, T, undefined>;

/** True for an answer that is still to be built step by step. Resources of the API are never iterable. */
export const isPaced = <T extends object>(answer: T | Paced<T>): answer is Paced<T> =>
  Symbol.iterator in answer;

/** Takes all steps without a break. */
export function withoutBreak<T>(work: Paced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
