/** Tables hold what others have named: nothing of it moves a column or the terminal. */
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { table } from './table.ts';

const rows = [
  ['1', 'Savings', { text: 'on', tone: 'good' }],
  ['22', '日本の財布', { text: 'off', tone: 'bad' }],
  ['3', '🔑 keys', 'on'],
  ['4', 'שלום', 'on'],
] as const;

test('aligns columns by what a terminal shows', () => {
  expect(table(['ID', 'Name', 'State'], rows).render(false).split('\n')).toEqual([
    'ID  Name        State',
    '1   Savings     on',
    '22  日本の財布  off',
    '3   🔑 keys     on',
    '4   \u2068שלום\u2069        on',
  ]);
});

test('colors the headings and the tones, and nothing else', () => {
  const shown = table(['ID', 'Name', 'State'], rows);
  const colored = shown.render(true);
  expect(colored).toContain('\u001b[1mID\u001b[22m');
  expect(colored).toContain('\u001b[31moff\u001b[39m');
  expect(stripVTControlCharacters(colored)).toBe(shown.render(false));
});

test.each(['\u001b[31mred', 'two\nlines', 'back\rward', 'over\u202eride', 'tab\tulator', 'bell\u0007'])(
  'shows a control character of a name as its code point: %j',
  (name) => {
    const lines = table(['Name', 'State'], [[name, 'on']])
      .render(false)
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/⟨U\+[0-9A-F]{4}⟩/);
    // oxlint-disable-next-line no-control-regex -- it is what may not be there
    expect(lines[1]).not.toMatch(/[\u0000-\u001f\u202e]/);
  },
);

test('leaves a column without values out, and blanks at the end of a line', () => {
  expect(
    table(
      ['ID', 'Note', 'Tags'],
      [
        ['1', '', 'a'],
        ['2', '', ''],
      ],
    ).render(false),
  ).toBe('ID  Tags\n1   a\n2');
});
