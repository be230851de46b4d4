/**
 * The length of a campaign: short among the other tests, so that it keeps working, and full in `npm run
 * test:long`, which prints its figures.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    campaigns: 'short' | 'full';
  }
}

const full = inject('campaigns') === 'full';

/** Chooses how many there are of something. */
export const atLength = (short: number, long: number): number => (full ? long : short);

/**
 * Numbers the rounds of a campaign from 1. At its full length a campaign has all of them. A short one ends after `few` rounds,
 * or as soon afterwards as it has met by chance what it asserts that it met.
 */
export function* roundsOf(few: number, most: number, hasMet: () => boolean): Generator<number> {
  for (let round = 1; round <= most; round += 1) {
    if (!full && round > few && hasMet()) return;
    yield round;
  }
}

/** Prints what a campaign measured, on one line. */
export function report(campaign: string, figures: Readonly<Record<string, number | string>>): void {
  if (!full) return;
  const words = Object.entries(figures).map(([name, figure]) => `${name} ${String(figure)}`);
  process.stdout.write(`${campaign}: ${words.join(', ')}\n`);
}
