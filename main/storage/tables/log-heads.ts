/** Signed heads of the activity log: what its newest row was, and when. Append-only, like the log itself. */
import type { Reader } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const logHeads = table('log_heads', {
  /** The row that was the newest. */
  sequence: number,
  /** That row's hash, which covers all rows up to it. */
  hash: blob,
  /** Of the key that signed; hex, uncompressed SEC 1. */
  publicKey: text,
  /** DER in hex. */
  signature: text,
  /** Milliseconds since the epoch. */
  signedAt: number,
});

export type LogHeadRow = RowOf<typeof logHeads>;

export const lastLogHead = (tx: Reader): LogHeadRow | undefined =>
  tx.get<LogHeadRow>(`SELECT ${logHeads.columns} FROM log_heads ORDER BY sequence DESC LIMIT 1`);

/** The first head that covers a row: signed when the log had come so far, or further. */
export const firstHeadOver = (tx: Reader, sequence: number): LogHeadRow | undefined =>
  tx.get<LogHeadRow>(
    `SELECT ${logHeads.columns} FROM log_heads WHERE sequence >= ? ORDER BY sequence LIMIT 1`,
    sequence,
  );

/** The heads of rows after one place of the log and up to another, in its order. */
export const listLogHeads = (tx: Reader, after: number, until: number): LogHeadRow[] =>
  tx.all<LogHeadRow>(
    `SELECT ${logHeads.columns} FROM log_heads WHERE sequence > ? AND sequence <= ? ORDER BY sequence`,
    after,
    until,
  );

export const insertLogHead = logHeads.insert;
