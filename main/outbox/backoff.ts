/** How long a delivery waits between its tries. */

const firstMs = 1_000;
const longestMs = 60 * 60_000;

/**
 * Twice as long after each failure, an hour at most; between half of that and all of it, so that what failed together
 * does not come back together.
 * @param attempts How many have failed, 1 at least.
 * @param random From 0 up to 1.
 */
export function backoffMs(attempts: number, random: number): number {
  const whole = Math.min(firstMs * 2 ** Math.min(attempts - 1, 30), longestMs);
  return Math.round(whole * (0.5 + random / 2));
}
