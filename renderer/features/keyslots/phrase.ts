/** The recovery phrase: reading it back, and checking single words of it. */

import type { ProveWith } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';

export const wordsOf = (phrase: string): readonly string[] =>
  phrase
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/**
 * Chooses distinct positions (1 to `length`) uniformly, in rising order.
 * @param random answers a whole number from 0 to below its argument.
 */
export function choosePositions(
  howMany: number,
  length: number,
  random: (below: number) => number,
): readonly number[] {
  const left = Array.from({ length }, (_, index) => index + 1);
  return Array.from({ length: howMany }, () => left.splice(random(left.length), 1))
    .flat()
    .sort((a, b) => a - b);
}

/** Even up to one part in 2³², which no one can tell apart over 24 positions. */
export const randomBelow = (below: number): number =>
  Math.floor(((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32) * below);

/** A share of a recovery phrase, in any text around it. */
const shareText = /\blkshare1[02-9ac-hj-np-z]*/gi;

export type Recovery =
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  | { readonly kind: 'shares'; readonly shares: readonly string[] };

/** Reads the text of a field for a recovery phrase, or for shares of one. */
export function recoveryOf(typed: string): Recovery {
  const shares = typed.match(shareText);
  return shares === null
    ? { kind: 'phrase', words: wordsOf(typed) }
    : { kind: 'shares', shares: [...shares] };
}

/** The number of words of a recovery phrase. */
export const phraseLength = 24;

/** Names the missing part of the typed text, or null. */
export function recoveryProblem(recovery: Recovery): string | null {
  if (recovery.kind === 'shares' || recovery.words.length === phraseLength) return null;
  return t('A recovery phrase has {{phraseLength}} words; you entered {{words}}.', {
    phraseLength,
    words: recovery.words.length,
  });
}

/** It, as the service takes it. */
export const toRecovery = (recovery: Recovery): Extract<ProveWith, { with: 'recovery' | 'shares' }> =>
  recovery.kind === 'shares'
    ? { with: 'shares', shares: recovery.shares }
    : { with: 'recovery', phrase: recovery.words.join(' ') };
