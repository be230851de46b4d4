/**
 * Looking through a table that may be very long: for a few milliseconds at a time, so that nothing else waits, and from where
 * the last look ended.
 */

/** For how long one look goes on, in milliseconds. */
const sliceMs = 4;

/** The result of searching a stretch of rows. */
export interface Stretch {
  /** The numbers of the rows that are looked for, in the order of the look. */
  readonly found: readonly number[];
  /** The last row that was looked at; null where there was none. */
  readonly last: number | null;
  readonly looked: number;
}

export interface Slice {
  readonly found: readonly number[];
  /** The row to continue from; null at the end of the table. */
  readonly next: number | null;
}

/**
 * @param stretch Looks at so many rows after (or, backwards, before) one.
 * @param start The row where the first stretch begins.
 * @param first How many rows the first stretch has: the next are longer, as far as they are quick.
 * @param most How many rows are enough.
 */
export function lookThrough(
  stretch: (from: number, rows: number) => Stretch,
  start: number,
  { first, most = Number.POSITIVE_INFINITY }: { readonly first: number; readonly most?: number },
): Slice {
  const end = performance.now() + sliceMs;
  const found: number[] = [];
  let from = start;
  let rows = first;
  for (;;) {
    const before = performance.now();
    const { found: more, last, looked } = stretch(from, rows);
    for (const each of more) found.push(each);
    if (looked < rows || last === null) return { found, next: null };
    from = last;
    const now = performance.now();
    if (now >= end || found.length >= most) return { found, next: from };
    // As many as the rest of the time is likely to be enough for.
    rows = Math.max(first, Math.min(rows * 4, Math.floor((rows * (end - now)) / (now - before + 0.01))));
  }
}

/** Rows that follow one another in a table, as their first and last. */
export type Run = readonly [first: number, last: number];

/** Numbers that rise or fall by one, as runs. */
export function runsOf(numbers: readonly number[]): Run[] {
  const runs: [number, number][] = [];
  for (const each of numbers) {
    const run = runs.at(-1);
    const step = run === undefined ? 0 : each - run[1];
    if (
      run !== undefined &&
      (step === 1 || step === -1) &&
      (run[0] === run[1] || (run[1] - run[0]) * step > 0)
    ) {
      run[1] = each;
    } else runs.push([each, each]);
  }
  return runs;
}

/** A text as LIKE finds it anywhere, with `\` before what LIKE takes for more than itself. */
export const anywhere = (text: string): string => `%${text.replaceAll(/[\\%_]/g, (each) => `\\${each}`)}%`;

/** Reads the numbers that a statement has gathered as JSON. */
export const readNumbers = (json: string): readonly number[] => JSON.parse(json) as readonly number[];
