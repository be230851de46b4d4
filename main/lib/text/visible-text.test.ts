import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  directionOf,
  hasHiddenCharacters,
  orthography,
  visibleInOrder,
  visibleJson,
  visibleName,
  visibleText,
} from './visible-text.ts';

/** Texts of what deceives: marks, directions, blanks, accents, letters from right to left, halves of characters. */
const deceiving = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '⟨',
          '⟩',
          'U+202E',
          '\u202e',
          '\u2068',
          '\u2069',
          '\u200b',
          '\u200d',
          '\ufe0f',
          '\ud800',
          '\udc00',
        ],
        ...['a', 'e', '\u0301', 'é', 'K', '\u212a', '\u1100', '\u1161', '가', '❤', '👩', '💻', '#', '\u20e3'],
        ...['5', '$', ' ', '\u00a0', '\n', '\r', 'א', 'ب', '٣'],
      ),
      fc.string({ unit: 'binary', maxLength: 2 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('a text', () => {
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
    ['a selector without an emoji', '1\ufe0f', '1⟨U+FE0F⟩'],
    ['an accent that Unicode composes', 'e\u0301', 'e⟨U+0301⟩'],
    ['a sign that Unicode takes for a letter', '20 \u212a', '20 ⟨U+212A⟩'],
    ['an accent without a letter', '\u0338=', '⟨U+0338⟩='],
    ['an accent on a blank', 'a \u0338', 'a ⟨U+0338⟩'],
    ['a tower of accents', 'Z\u0335\u0336\u0337\u0338\u0339', 'Z\u0335\u0336\u0337\u0338⟨U+0339⟩'],
  ])('%s is shown', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown);
    expect(hasHiddenCharacters(text)).toBe(true);
  });

  test.each([
    'Grüße,  Łukasz',
    'два\nстроки',
    '日本語',
    ' trailing ',
    'Việt Nam',
    'שלום 12',
    '🙂 ❤️ 👩‍💻 👍🏽 🇬🇧 #️⃣',
  ])('%j stays as it is', (text) => {
    expect(visibleText(text)).toBe(text);
    expect(hasHiddenCharacters(text)).toBe(false);
  });

  test('looks like no other, also where Unicode takes two for one', () => {
    fc.assert(
      fc.property(
        deceiving,
        deceiving,
        (a, b) => a === b || visibleText(a).normalize('NFC') !== visibleText(b).normalize('NFC'),
      ),
      { numRuns: 5_000 },
    );
  });

  test('has nothing in it that is not seen', () => {
    fc.assert(
      fc.property(deceiving, (text) => {
        const name = visibleName(text).replaceAll(/[\u2068\u2069]/g, '');
        for (const shown of [
          visibleText(text).replaceAll(/\p{RGI_Emoji}/gv, '.'),
          name.replaceAll(new RegExp(orthography, 'gv'), '.'),
        ]) {
          expect(shown).not.toMatch(/(?!\n)\p{C}|(?! )\p{Z}/u);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('the time for many accents does not grow with their square', () => {
    expect(visibleText('\u0301'.repeat(200_000))).toHaveLength(8 * 200_000);
  });
});

describe('a name', () => {
  test.each([
    ['Savings', 'Savings'],
    ['Ada\u00a0Lovelace', 'Ada⟨U+00A0⟩Lovelace'],
    ['one\ntwo', 'one⟨U+000A⟩two'],
    ['משה 12', '\u2068משה 12\u2069'],
    ['\u202eevil', '⟨U+202E⟩evil'],
    ['\u2068a\u2069\u2069', '\u2068a\u2069⟨U+2069⟩'],
    ['می\u200cخواهم', '\u2068می\u200cخواهم\u2069'],
    ['क\u094d\u200dष', 'क\u094d\u200dष'],
    ['山田\u3000太郎', '山田\u3000太郎'],
    ['An\u200cn\u3000', 'An⟨U+200C⟩n⟨U+3000⟩'],
  ])('%j is shown as %j', (name, shown) => {
    expect(visibleName(name)).toBe(shown);
  });

  test('that is shown already stays as it is', () => {
    fc.assert(
      fc.property(deceiving, (text) => {
        const shown = visibleName(text);
        expect(visibleName(shown)).toBe(shown);
        expect(visibleName(`by ${shown}, today`)).toBe(`by ${shown}, today`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('moves nothing around it: its letters from right to left are isolated', () => {
    fc.assert(
      fc.property(deceiving, (text) => {
        const around = visibleName(text).replaceAll(/\u2068[^\u2068\u2069]*\u2069/g, '');
        expect(directionOf(around)).toBe('ltr');
        expect(around).not.toMatch(/[\u2066-\u2069]/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a line', () => {
  test.each([
    ['Send 1 ETH', 'ltr'],
    ['שלום, עולם', 'rtl'],
    ['سلام ٣', 'rtl'],
    ['שלום 12', 'mixed'],
    ['05$א', 'mixed'],
    ['0x35א', 'mixed'],
  ])('%j runs %s', (line, direction) => {
    expect(directionOf(line)).toBe(direction);
  });

  test('that mixes directions is written in its order where no direction can be set', () => {
    expect(visibleInOrder('05$א\nשלום\n⟨U+202E⟩\u001b[2J')).toBe('05$⟨U+05D0⟩\nשלום\n⟨U+202E⟩⟨U+001B⟩[2J');
    fc.assert(
      fc.property(deceiving, (text) => {
        const shown = visibleInOrder(text);
        expect(visibleInOrder(shown)).toBe(shown);
        for (const line of shown.split('\n')) expect(directionOf(line)).not.toBe('mixed');
      }),
      { numRuns: 2_000, examples: [['\u212a\uaa7b']] },
    );
  });
});

test('a text in JSON says the same, with nothing hidden', () => {
  expect(visibleJson(JSON.stringify({ note: 'a\u202eb\u00a0❤️\u{e0041}' }))).toBe(
    String.raw`{"note":"a\u202eb\u00a0❤️\udb40\udc41"}`,
  );
  fc.assert(
    fc.property(deceiving, (text) => {
      const shown = visibleJson(JSON.stringify(text));
      expect(JSON.parse(shown)).toBe(text);
      expect(shown.replaceAll(/\p{RGI_Emoji}/gv, '')).not.toMatch(/\p{C}|(?! )\p{Z}/u);
    }),
  );
});
