/** Suggestions for a word that is not known. */
import { InvalidArgumentError, type Argument, type Option } from 'commander';
import { quoted } from '../../lib/errors.ts';
import { editDistance } from '../../lib/text/edit-distance.ts';
import { anyOf } from './help.ts';

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

/** Suggests the nearest of the words that an option or an operand accepts; Commander lists them alone. */
export function suggestChoices(described: Option | Argument): void {
  const { argChoices, parseArg } = described;
  if (argChoices === undefined) return;
  described.argParser((given: string, previous: unknown) => {
    if (argChoices.includes(given)) return parseArg?.(given, previous) ?? given;
    throw new InvalidArgumentError(`expected ${anyOf(argChoices)}${didYouMean(given, argChoices)}`);
  });
}
