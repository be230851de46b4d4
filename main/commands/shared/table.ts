/** Rows in columns, and colors: how a terminal shows what commands print. */
import { styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import { visibleName } from '../../lib/text/visible-text.ts';

/** True if a stream is a terminal with colors, and the user wants them (NO_COLOR). */
export const isColored = (stream: NodeJS.WriteStream): boolean => stream.isTTY && stream.hasColors();

/** The emphasis of a value. */
export type Tone = 'good' | 'bad' | 'notable' | 'quiet';

const styles = { good: 'green', bad: 'red', notable: 'yellow', quiet: 'dim' } as const;

/** A value, or one with a tone. Foreign text is made visible by the table. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** Rows under headings, for a stream that shows colors or none. */
export interface Table {
  readonly render: (colored: boolean) => string;
}

/** Lays rows out in columns of equal width. A column without any value is left out. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): Table {
  const used = headings.map((_, column) => rows.some((row) => textOf(row[column]) !== ''));
  const keep = <T>(row: readonly T[]): readonly T[] => row.filter((_, column) => used[column]);
  const shown = [
    keep(headings).map((text): ShownCell => ({ text, style: 'bold' })),
    ...rows.map((row) => keep(row).map(shownCell)),
  ];
  const widths = headings.map((_, column) => Math.max(...shown.map((row) => widthOf(row[column]?.text))));
  return { render: (colored) => shown.map((row) => lineOf(row, widths, colored)).join('\n') };
}

/** Lays out what is known of one thing: a label and a value each. What has no value is left out. */
export function fields(rows: readonly (readonly [label: string, value: Cell])[]): Table {
  const shown = rows
    .filter(([, value]) => textOf(value) !== '')
    .map(([label, value]): readonly ShownCell[] => [{ text: label, style: 'bold' }, shownCell(value)]);
  const widths = [Math.max(0, ...shown.map(([label]) => widthOf(label?.text)))];
  return { render: (colored) => shown.map((row) => lineOf(row, widths, colored)).join('\n') };
}

/** In columns of a terminal. The characters that isolate a direction take none. */
const widthOf = (text = ''): number => stringWidth(text.replaceAll(/[\u2066-\u2069]/g, ''));

interface ShownCell {
  readonly text: string;
  readonly style?: 'bold' | (typeof styles)[Tone];
}

const textOf = (cell: Cell = ''): string => (typeof cell === 'string' ? cell : cell.text);

const shownCell = (cell: Cell): ShownCell => ({
  text: visibleName(textOf(cell)),
  ...(typeof cell === 'string' ? {} : { style: styles[cell.tone] }),
});

const gap = '  ';

function lineOf(row: readonly ShownCell[], widths: readonly number[], colored: boolean): string {
  const last = row.findLastIndex(({ text }) => text !== '');
  return row
    .slice(0, last + 1)
    .map(({ text, style }, column) => {
      const shown = colored && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
      const blanks = column === last ? 0 : (widths[column] ?? 0) - widthOf(text);
      return shown + ' '.repeat(blanks);
    })
    .join(gap);
}
