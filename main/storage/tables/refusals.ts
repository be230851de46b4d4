/**
 * Requests that policies refused. They are not activities, and the log does not have them. The newest are
 * kept, so that a draft of a policy can be tried on them, and the reason explained to their sender.
 */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const refusals = table('refusals', {
  id: text,
  organizationId: text,
  userId: text,
  /** The name of the user's snapshot at that time. */
  snapshot: text,
  /** Of what the request was stamped with. */
  publicKey: text,
  type: text,
  /** JSON of the parameters. */
  intent: text,
  reason: text,
  createdAt: number,
});

export type RefusalRow = RowOf<typeof refusals>;

/** @param keep How many of an organization are kept: the oldest go. */
export function insertRefusal(tx: Writer, row: RefusalRow, keep: number): void {
  refusals.insert(tx, row);
  tx.run(
    `DELETE FROM refusals WHERE organization_id = ? AND rowid <= (
       SELECT rowid FROM refusals WHERE organization_id = ? ORDER BY rowid DESC LIMIT 1 OFFSET ?)`,
    row.organizationId,
    row.organizationId,
    keep,
  );
}

/** Newest first. */
export const listRefusalRows = (
  tx: Reader,
  organizationId: string,
  limit: number,
  types: readonly string[] = [],
): RefusalRow[] =>
  tx.all<RefusalRow>(
    `SELECT ${refusals.columns} FROM refusals
     WHERE organization_id = ? AND (? = '[]' OR type IN (SELECT value FROM json_each(?)))
     ORDER BY rowid DESC LIMIT ?`,
    organizationId,
    JSON.stringify(types),
    JSON.stringify(types),
    limit,
  );

export const getRefusalRow = (tx: Reader, organizationId: string, id: string): RefusalRow | undefined =>
  tx.get<RefusalRow>(
    `SELECT ${refusals.columns} FROM refusals WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );
