/** Suggestions for a word that is not known. */
import { quoted } from '../../lib/errors.ts';
import { editDistance } from '../../lib/text/edit-distance.ts';

/** More edits than these make another word. */
const mostEdits = 3;
/** More than this part of the longer word is the same. */
const leastAlike = 0.5;
const mostSuggested = 3;

/** @returns a question to put after an error, with the period that ends it; empty if no other known word is near. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const near = [...new Set(known)]
    // As many characters as the lengths differ by are edits already.
    .filter((word) => word !== wanted && Math.abs(word.length - wanted.length) <= mostEdits)
    .map((word) => ({ word, edits: editDistance(wanted.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => {
      const length = Math.max(wanted.length, word.length);
      return edits <= mostEdits && (length - edits) / length > leastAlike;
    });
  const fewest = Math.min(...near.map(({ edits }) => edits));
  const best = near.filter(({ edits }) => edits === fewest).slice(0, mostSuggested);
  if (best.length === 0) return '';
  return `. Did you mean ${best.map(({ word }) => quoted(word)).join(' or ')}?`;
}
