/**
 * The security timeline. Its rows are authenticated, so they are written while the vault is unlocked. Events of a locked vault wait in a
 * table that has one row for each kind and way. The next unlock moves them.
 */
import type { SecurityEventKind, SecurityWay } from '../../lib/text/security-events.ts';
import type { Reader, Writer } from '../connection.ts';

export interface SecurityEventRow {
  readonly kind: SecurityEventKind;
  readonly way: SecurityWay;
  /** How often it happened between the two times. */
  readonly count: number;
  /** Milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A row as the file has it: texts of a file that something else has written may be any. */
export interface WaitingEventRow extends Omit<SecurityEventRow, 'kind' | 'way'> {
  readonly kind: string;
  readonly way: string;
}

/** An event joins the last row of its kind and way if it comes within an hour of it. */
const joinsWithin = 3_600_000;

/** Rows of each kind that are kept. The oldest go, and never those of another kind. */
export const keptOfEachKind = 200;

const columns = 'kind, way, count, first_at AS firstAt, last_at AS lastAt';

export function addSecurityEvent(tx: Writer, { kind, way, count, firstAt, lastAt }: SecurityEventRow): void {
  const last = tx.get<{ sequence: number; lastAt: number }>(
    `SELECT sequence, last_at AS lastAt FROM security_events
     WHERE kind = ? AND way = ? ORDER BY sequence DESC LIMIT 1`,
    kind,
    way,
  );
  if (last !== undefined && Math.abs(firstAt - last.lastAt) <= joinsWithin) {
    tx.run(
      'UPDATE security_events SET count = count + ?, last_at = max(last_at, ?) WHERE sequence = ?',
      count,
      lastAt,
      last.sequence,
    );
    return;
  }
  tx.run(
    'INSERT INTO security_events (kind, way, count, first_at, last_at) VALUES (?, ?, ?, ?, ?)',
    kind,
    way,
    count,
    firstAt,
    lastAt,
  );
  tx.run(
    `DELETE FROM security_events WHERE kind = ? AND sequence <= (
       SELECT sequence FROM security_events WHERE kind = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?)`,
    kind,
    kind,
    keptOfEachKind,
  );
}

/** Newest first. */
export const listSecurityEvents = (tx: Reader): SecurityEventRow[] =>
  tx.all<SecurityEventRow>(`SELECT ${columns} FROM security_events ORDER BY last_at DESC, sequence DESC`);

/** Notes an event of a locked vault. */
export function addWaitingEvent(tx: Writer, kind: SecurityEventKind, way: SecurityWay, at: number): void {
  tx.run(
    `INSERT INTO security_events_waiting (kind, way, count, first_at, last_at) VALUES (?, ?, 1, ?, ?)
     ON CONFLICT (kind, way) DO UPDATE SET count = count + 1, last_at = max(last_at, excluded.last_at)`,
    kind,
    way,
    at,
    at,
  );
}

/** Takes the events that wait out of the file, the oldest first. */
export function takeWaitingEvents(tx: Writer, most: number): WaitingEventRow[] {
  const rows = tx.all<WaitingEventRow>(
    `SELECT ${columns} FROM security_events_waiting ORDER BY last_at LIMIT ?`,
    most,
  );
  tx.run('DELETE FROM security_events_waiting');
  return rows;
}
