/** Checks of a seed phrase (BIP-39, English) before it leaves the window. */

import { sha256 } from '@noble/hashes/sha2.js';
import english from 'bip39/src/wordlists/english.json' with { type: 'json' };
import { t } from '../../app/i18n/text.ts';
import type { Suggestions } from '../../ui/completion/completion.tsx';
import { none } from '../../ui/completion/completion.tsx';
import { wordsOf } from '../keyslots/phrase.ts';

/** Allowed numbers of words. */
const lengths = [12, 15, 18, 21, 24];

const places: ReadonlyMap<string, number> = new Map(english.map((word, index) => [word, index]));

/** Words that a list of suggestions has at most. */
const mostSuggested = 6;

/** Completes the word before the cursor. A complete word has no suggestions, so Enter submits. */
export function wordSuggestions(source: string): Suggestions {
  const typed = /\p{L}+$/u.exec(source)?.[0] ?? '';
  const begun = typed.toLowerCase();
  if (begun === '' || places.has(begun)) return none;
  const items = english
    .filter((word) => word.startsWith(begun))
    .slice(0, mostSuggested)
    .map((word) => ({ insert: `${word} `, back: 0, label: word, detail: '' }));
  return { from: source.length - typed.length, items };
}

/** The first word that the list lacks. A word that is still being typed only has to begin like one of the list. */
export function unknownWord(phrase: string): string | null {
  const words = wordsOf(phrase);
  const isTyping = /\p{L}$/u.test(phrase);
  const at = words.findIndex((word, index) =>
    isTyping && index === words.length - 1
      ? !english.some((each) => each.startsWith(word))
      : !places.has(word),
  );
  const word = words[at];
  if (word === undefined) return null;
  const values = { place: String(at + 1), word };
  const near = nearest(word);
  return near === undefined
    ? t('Word {{place}}, “{{word}}”, is not in the BIP-39 list.', values)
    : t('Word {{place}}, “{{word}}”, is not in the BIP-39 list. Did you mean “{{near}}”?', {
        ...values,
        near,
      });
}

/** Names what keeps a finished phrase from being one, or null. */
export function phraseProblem(phrase: string): string | null {
  const unknown = unknownWord(`${phrase} `);
  if (unknown !== null) return unknown;
  const words = wordsOf(phrase);
  if (!lengths.includes(words.length)) {
    return t('A seed phrase has 12, 15, 18, 21 or 24 words; this has {{words}}.', { words: words.length });
  }
  return hasChecksum(words)
    ? null
    : t('The words don’t match their checksum. Check each word and the order.');
}

/** The last bits of the words are the first bits of the hash of the others. */
function hasChecksum(words: readonly string[]): boolean {
  const bits = words.map((word) => (places.get(word) ?? 0).toString(2).padStart(11, '0')).join('');
  const checked = bits.length - bits.length / 33;
  const bytes = Uint8Array.from(bits.slice(0, checked).match(/.{8}/g) ?? [], (byte) => parseInt(byte, 2));
  const [first = 0] = sha256(bytes);
  bytes.fill(0);
  return first.toString(2).padStart(8, '0').startsWith(bits.slice(checked));
}

/** The word of the list that differs by one change: a letter added, missing, replaced, or swapped with its neighbor. */
const nearest = (word: string): string | undefined =>
  english.find((each) => isNear(word, each)) ??
  (word.length > 3 ? english.find((each) => each.startsWith(word.slice(0, 4))) : undefined);

function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [a, b] = [one.slice(start), other.slice(start)];
  const isSwapped = a === b.slice(0, 2).replace(/(.)(.)/, '$2$1') + b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a === b.slice(1) || a.slice(1) === b;
}
