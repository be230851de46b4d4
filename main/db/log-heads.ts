/** Signed heads of the activity log: what its newest row was, and when. Append-only, like the log itself. */
import type { Reader, Writer } from './connection.ts';

export interface LogHeadRow {
  /** The row that was the newest. */
  readonly sequence: number;
  /** That row's hash, which covers all rows up to it. */
  readonly hash: Uint8Array;
  /** Of the key that signed; hex, uncompressed SEC 1. */
  readonly publicKey: string;
  /** DER in hex. */
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly signedAt: number;
}

const columns = 'sequence, hash, public_key AS publicKey, signature, signed_at AS signedAt';

export const lastLogHead = (tx: Reader): LogHeadRow | undefined =>
  tx.get<LogHeadRow>(`SELECT ${columns} FROM log_heads ORDER BY sequence DESC LIMIT 1`);

/** The first head that covers a row: signed when the log had come so far, or further. */
export const firstHeadOver = (tx: Reader, sequence: number): LogHeadRow | undefined =>
  tx.get<LogHeadRow>(
    `SELECT ${columns} FROM log_heads WHERE sequence >= ? ORDER BY sequence LIMIT 1`,
    sequence,
  );

/** The heads of rows after one place of the log and up to another, in its order. */
export const listLogHeads = (tx: Reader, after: number, until: number): LogHeadRow[] =>
  tx.all<LogHeadRow>(
    `SELECT ${columns} FROM log_heads WHERE sequence > ? AND sequence <= ? ORDER BY sequence`,
    after,
    until,
  );

export function insertLogHead(tx: Writer, row: LogHeadRow): void {
  tx.run(
    'INSERT INTO log_heads (sequence, hash, public_key, signature, signed_at) VALUES (?, ?, ?, ?, ?)',
    row.sequence,
    row.hash,
    row.publicKey,
    row.signature,
    row.signedAt,
  );
}
