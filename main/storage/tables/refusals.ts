/**
 * Requests that policies did not allow. They are no activities, and the log has none of them; the newest are kept, so that a
 * draft of a policy can be tried on them, and their sender told why.
 */
import type { Reader, Writer } from './connection.ts';

export interface RefusalRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** The name of the user's snapshot, as of then. */
  readonly snapshot: string;
  /** Of what the request was stamped with. */
  readonly publicKey: string;
  readonly type: string;
  /** JSON of the parameters. */
  readonly intent: string;
  readonly reason: string;
  readonly createdAt: number;
}

const columns = `id, organization_id AS organizationId, user_id AS userId, snapshot, public_key AS publicKey, type, intent,
  reason, created_at AS createdAt`;

/** @param keep How many of an organization are kept: the oldest go. */
export function insertRefusal(tx: Writer, row: RefusalRow, keep: number): void {
  tx.run(
    `INSERT INTO refusals (id, organization_id, user_id, snapshot, public_key, type, intent, reason, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.snapshot,
    row.publicKey,
    row.type,
    row.intent,
    row.reason,
    row.createdAt,
  );
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
    `SELECT ${columns} FROM refusals
     WHERE organization_id = ? AND (? = '[]' OR type IN (SELECT value FROM json_each(?)))
     ORDER BY rowid DESC LIMIT ?`,
    organizationId,
    JSON.stringify(types),
    JSON.stringify(types),
    limit,
  );

export const getRefusalRow = (tx: Reader, organizationId: string, id: string): RefusalRow | undefined =>
  tx.get<RefusalRow>(
    `SELECT ${columns} FROM refusals WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );
