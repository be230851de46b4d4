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

/** Prints what a campaign measured, on one line. */
export function report(campaign: string, figures: Readonly<Record<string, number | string>>): void {
  if (!full) return;
  const words = Object.entries(figures).map(([name, figure]) => `${name} ${String(figure)}`);
  process.stdout.write(`${campaign}: ${words.join(', ')}\n`);
}
