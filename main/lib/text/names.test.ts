import { expect, test } from 'vitest';
import { isVisibleName, mistakenFor } from './names.ts';

test.each([
  ['Persian with a non-joiner', 'می\u200cخواهم'],
  ['Sinhala with a joiner', 'ශ\u0dca\u200dරී'],
  ['Hindi with a joiner', 'क\u094d\u200dष'],
  ['a joined emoji', 'Family 👨\u200d👩\u200d👧\u200d👦'],
  ['an emoji with a selector', '❤\ufe0f'],
  ['a flag of tags', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
  ['a Han character of a certain form', '渡邉\u{e0100}'],
  ['Mongolian with a form', 'ᠠ\u180b'],
  ['accents', 'Zoë e\u0301'],
  ['right to left', 'שלום'],
  ['a wide space', '山田\u3000太郎'],
])('16: a name may have %s', (_what, name) => {
  expect(isVisibleName(name)).toBe(true);
});

test.each([
  ['a Hangul filler', 'Ann\u3164'],
  ['other fillers', 'Ann\u115f'],
  ['a filler of half width', 'Ann\uffa0'],
  ['a blank of braille', 'Ann\u2800'],
  ['a joiner at an end', 'Ann\u200d'],
  ['a joiner beside a blank', 'Ann\u200c Lee'],
  ['a bare joiner', '\u200d'],
  ['an override of direction', 'Ann\u202e'],
  ['an isolate', '\u2066Ann\u2069'],
  ['a mark of direction', 'Ann\u200f'],
  ['a space without width', 'An\u200bn'],
  ['a word joiner', 'An\u2060n'],
  ['a soft hyphen', 'An\u00adn'],
  ['a selector on a letter', 'An\ufe0fn'],
  ['a joiner of graphemes', 'An\u034fn'],
  ['a joiner where letters do not join', 'An\u200dn'],
  ['a control', 'An\u0007n'],
  ['a tag', 'Ann\u{e0041}'],
])('10: a name has no %s', (_what, name) => {
  expect(isVisibleName(name)).toBe(false);
});

test('10: a name in other letters is distinguished from the one that it looks like', () => {
  const others = () => ['Ann', 'خانه', '渡邉'];
  expect(mistakenFor('Аnn', others)).toBe('Ann');
  expect(mistakenFor('Ａｎｎ', others)).toBe('Ann');
  expect(mistakenFor('渡邉\u{e0100}', others)).toBe('渡邉');
  expect(mistakenFor('Анна', others)).toBeUndefined();
  expect(mistakenFor('Ann', () => ['Аnn'])).toBeUndefined();
  expect(mistakenFor('خانه', others)).toBeUndefined();
});
