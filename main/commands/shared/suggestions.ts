/** Suggestions for a word that is not known. */
import { quoted } from '../../lib/errors.ts';

/** More edits than these make another word. */
const mostEdits = 3;
/** More than this part of the longer word is the same. */
const leastAlike = 0.5;
const mostSuggested = 3;

/** @returns a question to put after an error, with the period that ends it; empty if no other known word is near. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const near = [...new Set(known)]
    .map((word) => ({ word, edits: editsBetween(wanted.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => {
      const length = Math.max(wanted.length, word.length);
      return word !== wanted && edits <= mostEdits && (length - edits) / length > leastAlike;
    });
  const fewest = Math.min(...near.map(({ edits }) => edits));
  const best = near.filter(({ edits }) => edits === fewest).slice(0, mostSuggested);
  if (best.length === 0) return '';
  return `. Did you mean ${best.map(({ word }) => quoted(word)).join(' or ')}?`;
}

/** Characters to insert, delete, replace or swap; more than `mostEdits` where the lengths differ by more. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostEdits) return mostEdits + 1;
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      next[at] = Math.min(
        (last[at] ?? 0) + 1,
        (next[at - 1] ?? 0) + 1,
        (last[at - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[other.length] ?? 0;
}
