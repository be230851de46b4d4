import { generateMnemonic } from 'bip39';
import { expect, test } from 'vitest';
import vectors from '../../../test/vectors/bip39.json' with { type: 'json' };
import { phraseProblem, unknownWord, wordSuggestions } from './seed-words.ts';

const words = [
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'test',
  'junk',
];
const phrase = words.join(' ');

test('the standard’s phrases pass, numbered and in capitals too', () => {
  const phrases = vectors.english.map(({ mnemonic }) => mnemonic);
  expect(phrases.length).toBeGreaterThan(20);
  for (const each of [...phrases, ...[128, 160, 192, 224, 256].map((bits) => generateMnemonic(bits))])
    expect(phraseProblem(each), each).toBeNull();
  expect(
    phraseProblem(words.map((word, index) => `${String(index + 1)}. ${word.toUpperCase()}`).join('\n')),
  ).toBeNull();
});

test('a phrase is refused for its length, its words and its checksum', () => {
  expect(phraseProblem(words.slice(1).join(' '))).toContain('this has 11');
  expect(phraseProblem([...words.slice(1), 'test'].join(' '))).toContain('checksum');
  expect(phraseProblem([...words.slice(0, 11), 'jnuk'].join(' '))).toBe(
    'Word 12, “jnuk”, is not in the BIP-39 list. Did you mean “junk”?',
  );
});

test.each([
  ['abandn ', 'abandon'],
  ['abandonn ', 'abandon'],
  ['abondon ', 'abandon'],
  ['baandon ', 'abandon'],
  ['abandoned ', 'abandon'],
])('%j is near %s', (typed, near) => {
  expect(unknownWord(typed)).toContain(`Did you mean “${near}”?`);
});

test('a word that is being typed is unknown once no word begins so', () => {
  expect(unknownWord('test aban')).toBeNull();
  expect(unknownWord('test aban ')).not.toBeNull();
  expect(unknownWord('test abx')).toContain('Word 2');
  expect(unknownWord('')).toBeNull();
});

test('the word before the cursor is completed, and a complete one is not', () => {
  expect(wordSuggestions(`${phrase} Aban`)).toEqual({
    from: phrase.length + 1,
    items: [{ insert: 'abandon ', back: 0, label: 'abandon', detail: '' }],
  });
  expect(wordSuggestions('act').items).toEqual([]);
  expect(wordSuggestions('a').items).toHaveLength(6);
  expect(wordSuggestions('zzz').items).toEqual([]);
  expect(wordSuggestions('test ').items).toEqual([]);
});
