import type { Reader, Value } from './connection.ts';

/** Rows that are read in the order of a key. */
export interface Keyset {
  /** The selected columns, including those of the key, each under its own name. */
  readonly columns: string;
  /** The table, and by which index it is read. */
  readonly from: string;
  /** A condition on the rows, with its values. */
  readonly where?: string;
  readonly values?: readonly Value[];
  /** Columns whose values, together, no two rows share. */
  readonly key: readonly string[];
  /** Rows that are held in memory at once. */
  readonly pageSize: number;
}

/** Reads a page at a time: a statement that is read from keeps its connection from writing. No page is empty. */
export function* pagesByKey<Row extends object>(tx: Reader, keyset: Keyset): Generator<readonly Row[]> {
  const { columns, from, where = 'TRUE', values = [], key, pageSize } = keyset;
  const names = key.map((name) => `"${name}"`).join(', ');
  const after = `AND (${names}) > (${key.map(() => '?').join(', ')})`;
  const order = `ORDER BY ${names} LIMIT ${String(pageSize)}`;
  let last: readonly Value[] | undefined;
  for (;;) {
    const page = tx.all<Row & Readonly<Record<string, Value>>>(
      `SELECT ${columns} FROM ${from} WHERE ${where} ${last ? after : ''} ${order}`,
      ...values,
      ...(last ?? []),
    );
    const end = page.at(-1);
    if (end !== undefined) yield page;
    if (end === undefined || page.length < pageSize) return;
    last = key.map((name) => end[name] ?? null);
  }
}

/** The same, row by row. */
export function* rowsByKey<Row extends object>(tx: Reader, keyset: Keyset): Generator<Row> {
  for (const page of pagesByKey<Row>(tx, keyset)) yield* page;
}
