import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { visibleLine, visibleText } from '../../lib/text/visible-text.ts';
import { descriptionToText, type Description } from './descriptions.ts';

const nothing: Description = { title: 'Sign a text', lines: [], parts: [], warnings: [], digests: [] };
const shown = (value: string, columns?: number): string =>
  descriptionToText({ ...nothing, lines: [{ label: 'Text', value: visibleText(value) }] }, columns);

/** Reads the text back from its rows. */
function readBack(rows: string): string {
  const [, ...own] = rows.split('\n');
  const [first = '', ...more] = own;
  return more
    .reduce(
      (text, row) => (row.startsWith('    > ') ? text + row.slice(6) : `${text}\n${row.slice(6)}`),
      first.slice('  Text: '.length),
    )
    .replaceAll(/⟨U\+([0-9A-F]+)⟩/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

const foreign = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '\n',
          ' ',
          '  | ',
          '  > ',
          'Beware: ',
          'To: ',
          '\u001b[2J',
          '\u202e',
          '⟨U+0020⟩',
          'א',
          '5',
          '日本',
        ],
        'a'.repeat(30),
      ),
      fc.string({ unit: 'binary', maxLength: 2 }),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join(''));

describe('a foreign text on a terminal', () => {
  test('has its own lines on rows that begin with a bar', () => {
    expect(shown('a\nBeware: nothing\n\n  To: b')).toBe(
      ['Sign a text', '  Text: a', '    | Beware: nothing', '    | ', '    |   To: b'].join('\n'),
    );
  });

  test('is broken before a narrow terminal breaks it', () => {
    expect(shown(`${'a'.repeat(80)}Beware: nothing`, 80).split('\n')).toEqual([
      'Sign a text',
      `  Text: ${'a'.repeat(72)}`,
      `    > ${'a'.repeat(8)}Beware: nothing`,
    ]);
  });

  test('shows a blank at a line’s end', () => {
    expect(shown('a  \nb ')).toBe('Sign a text\n  Text: a ⟨U+0020⟩\n    | b⟨U+0020⟩');
  });

  test('shows the order of its characters', () => {
    expect(shown('05$א')).toContain('05$⟨U+05D0⟩');
    expect(visibleLine('05$א\nb')).toBe('05$⟨U+05D0⟩⟨U+000A⟩b');
  });

  test('is read back to the letter, and no row of it passes for one of Keyhearth’s', () => {
    fc.assert(
      fc.property(foreign, fc.constantFrom(undefined, 40, 80), (text, columns) => {
        const rows = shown(text, columns);
        expect(readBack(rows)).toBe(text);
        expect(rows.replaceAll(/\p{RGI_Emoji}/gv, '')).not.toMatch(/(?!\n)\p{C}|(?! )\p{Z}/u);
        for (const row of rows.split('\n').slice(1)) {
          expect(row).toMatch(/^ {2}(?:Text: | {2}[|>] )/);
          if (columns !== undefined) expect(row.length).toBeLessThanOrEqual(columns);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('stands so in titles, parts and warnings too', () => {
    const text = 'a\nBeware: b';
    const line = { label: text, value: text };
    const rows = descriptionToText({
      title: text,
      lines: [line],
      parts: [{ title: text, lines: [line] }],
      warnings: [text],
      digests: [line],
    }).split('\n');
    expect(rows.filter((row) => row.startsWith('Beware: '))).toEqual(['Beware: a']);
    expect(rows.filter((row) => /^ *\| Beware: b/.test(row))).toHaveLength(6);
  });
});
