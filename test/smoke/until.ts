import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for something to be there.
 * @param what Completes "… did not come".
 * @param look Undefined for not yet.
 * @throws Error after so many milliseconds, with what the last look complained about.
 */
export async function until<T>(
  what: string,
  milliseconds: number,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = performance.now() + milliseconds;
  let complaint: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      complaint = undefined;
    } catch (error) {
      complaint = error;
    }
    if (performance.now() > end) {
      throw new Error(`${what}: not within ${String(milliseconds / 1000)} s`, { cause: complaint });
    }
    await sleep(200);
  }
}
