/** Work in steps, so that others take their turns between them. */

/**
 * Yields wherever others may take a turn, and returns what it made. A step takes a few milliseconds at most. It keeps no
 * promise of one view of the file: each step reads the file as it is then.
 */
export type Paced<T> = Generator<undefined, T, undefined>;

/** Whether an answer is still to be made, step by step. No resource of the API can be iterated. */
export const isPaced = <T extends object>(answer: T | Paced<T>): answer is Paced<T> =>
  Symbol.iterator in answer;

/** Takes all steps without a break. */
export function withoutBreak<T>(work: Paced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
