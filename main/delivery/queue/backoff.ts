/** The pauses between attempts at a delivery. */

const firstMs = 1_000;
/** The longest pause before a retry. */
export const longestPauseMs = 60 * 60_000;

/**
 * Twice as long after each failure, an hour at most; between half of that and all of it, so that what failed together
 * does not come back together.
 * @param attempts How many have failed, 1 at least.
 * @param random From 0 up to 1.
 */
export function backoffMs(attempts: number, random: number): number {
  const whole = Math.min(firstMs * 2 ** Math.min(attempts - 1, 30), longestPauseMs);
  return Math.round(whole * (0.5 + random / 2));
}
