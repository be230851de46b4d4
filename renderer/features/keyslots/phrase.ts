/** The recovery phrase: reading it back, and checking single words of it. */

import type { ProveWith } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';

/** The number before a word, as sheets print it: `1.`, `1)`, `1:` or `1`. */
const wordNumber = /(?<=^|\s)\d{1,2}[.):]?\s*(?=\p{L})/gu;

/** Reads words as they are typed or printed: numbered, over several lines, in any case. */
export const wordsOf = (phrase: string): readonly string[] =>
  phrase
    .toLowerCase()
    .replaceAll(wordNumber, ' ')
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

/** A share of a recovery phrase, in any text around it; printed shares have blanks and line breaks in them. */
const begin = String.raw`l\s*k\s*s\s*h\s*a\s*r\s*e\s*1`;
const letters = '[02-9ac-hj-np-z]';
const shareText = new RegExp(`\\b${begin}\\s*${letters}*(?:\\s+(?!${begin})${letters}+)*`, 'gi');

/** The beginning of every share, with blanks where it is printed so. */
const sharePrefix = /^((?:\S\s*){7}1)\s*/;

/** Characters of a share, without the blanks. */
const shareLength = 88;

/** Puts the parts together that make a share of its length; otherwise the text up to the first blank is the share. */
function shareOf(text: string): string {
  const [first = '', ...rest] = text
    .replace(sharePrefix, (prefix) => prefix.replaceAll(/\s+/g, ''))
    .split(/\s+/);
  let share = first;
  for (const part of rest) {
    if (share.length >= shareLength) break;
    share += part;
  }
  return share.length === shareLength ? share : first;
}

export type Recovery =
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  | { readonly kind: 'shares'; readonly shares: readonly string[] };

/** Reads the text of a field for a recovery phrase, or for shares of one. */
export function recoveryOf(typed: string): Recovery {
  const shares = typed.match(shareText);
  return shares === null
    ? { kind: 'phrase', words: wordsOf(typed) }
    : { kind: 'shares', shares: shares.map(shareOf) };
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
