/**
 * The newest row of each activity that waits for votes, from rows of the log that were followed or written here. They are kept
 * in a TEMP table, which is part of each transaction: another process can edit a row of the log, and not this.
 */
import type { Reader, WaitingRevision, Writer } from '../connection.ts';
import { activityHash, type ActivityRow } from '../tables/activities.ts';

const waits = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

/** The table, and the trigger by which it follows the rows that are appended. */
export const waitingSchema = `
  CREATE TEMP TABLE waiting_rows (id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TEMP TRIGGER activities_waiting AFTER INSERT ON main.activities WHEN NEW.revision > 1 OR NEW.status = '${waits}'
    BEGIN
      DELETE FROM waiting_rows WHERE id = NEW.id;
      INSERT INTO waiting_rows SELECT NEW.id, NEW.sequence, NEW.hash WHERE NEW.status = '${waits}';
    END;
`;

/** The newest revision of each activity that waits, as far as the log was followed. */
export class WaitingRows {
  readonly #rows = new Map<string, WaitingRevision>();

  /** @param row The next of the log. */
  follow(row: ActivityRow): void {
    const { id, sequence, status, revision } = row;
    if (status === waits) this.#rows.set(id, { id, sequence, hash: activityHash(row) });
    else if (revision > 1) this.#rows.delete(id);
  }

  /** Puts these in the place of what the table has. */
  keep(tx: Writer): void {
    tx.run('DELETE FROM temp.waiting_rows');
    for (const { id, sequence, hash } of this.#rows.values())
      tx.run('INSERT INTO temp.waiting_rows VALUES (?, ?, ?)', id, sequence, hash);
  }
}

/** True if the row is the newest of its activity, and as it was written. */
export function isAsWritten(tx: Reader, { id, sequence, hash }: WaitingRevision): boolean {
  const known = tx.get<WaitingRevision>('SELECT sequence, hash FROM temp.waiting_rows WHERE id = ?', id);
  return known?.sequence === sequence && Buffer.compare(known.hash, hash) === 0;
}
