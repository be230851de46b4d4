import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasHiddenCharacters, visibleText } from './visible-text.ts';

test.each([
  ['a right-to-left override', '05\u202e$', '05⟨U+202E⟩$'],
  ['a zero-width space', 'pay\u200bpal', 'pay⟨U+200B⟩pal'],
  ['a Hangul filler', 'A\u3164', 'A⟨U+3164⟩'],
  ['a no-break space', '1\u00a0000', '1⟨U+00A0⟩000'],
  ['a carriage return', 'a\r\nb', 'a⟨U+000D⟩\nb'],
  ['a tab', 'a\tb', 'a⟨U+0009⟩b'],
  ['a lone surrogate', '\ud800', '⟨U+D800⟩'],
  ['a tag character', '\u{e0041}', '⟨U+E0041⟩'],
  ['the marks themselves', '⟨U+202E⟩', '⟨U+27E8⟩U+202E⟨U+27E9⟩'],
])('%s is shown', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
  expect(hasHiddenCharacters(text)).toBe(true);
});

test.each(['Grüße,  Łukasz', 'два\nстроки', '日本語', '🙂', ' trailing '])('%j stays as it is', (text) => {
  expect(visibleText(text)).toBe(text);
  expect(hasHiddenCharacters(text)).toBe(false);
});

test('no two texts are shown the same', () => {
  const unit = fc.oneof(
    fc.constantFrom('⟨', '⟩', 'U+202E', '\u202e', '\u200b', 'a', ' ', '\n', '\r', '\ud800', '\udc00'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  const text = fc.array(unit, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (a, b) => a === b || visibleText(a) !== visibleText(b)),
    { numRuns: 5_000 },
  );
});
