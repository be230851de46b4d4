/** Keys that a client encrypts an import to: each belongs to one user, and opens one import. */
import type { Reader, Writer } from './connection.ts';

export interface ImportTargetRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly kind: 'private key' | 'wallet';
  /** The private scalar, sealed. */
  readonly sealed: Uint8Array;
  readonly createdAt: number;
}

export const importTargetsTable = 'import_targets';

/** Newest first. */
export const listImportTargets = (
  tx: Reader,
  userId: string,
  kinds: readonly ImportTargetRow['kind'][],
  createdAfter: number,
): ImportTargetRow[] =>
  tx.all<ImportTargetRow>(
    `SELECT id, organization_id AS organizationId, user_id AS userId, kind, sealed, created_at AS createdAt
     FROM import_targets WHERE user_id = ? AND kind IN (SELECT value FROM json_each(?)) AND created_at > ?
     ORDER BY rowid DESC`,
    userId,
    JSON.stringify(kinds),
    createdAfter,
  );

/** Stores a target; the user's targets of its kind that are too old, or too many, go. */
export function insertImportTarget(
  tx: Writer,
  row: ImportTargetRow,
  keep: { readonly createdAfter: number; readonly most: number },
): void {
  tx.run(
    `INSERT INTO import_targets (id, organization_id, user_id, kind, sealed, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.kind,
    row.sealed,
    row.createdAt,
  );
  tx.run(
    `DELETE FROM import_targets WHERE user_id = ? AND kind = ? AND (created_at <= ? OR rowid NOT IN
       (SELECT rowid FROM import_targets WHERE user_id = ? AND kind = ? ORDER BY rowid DESC LIMIT ?))`,
    row.userId,
    row.kind,
    keep.createdAfter,
    row.userId,
    row.kind,
    keep.most,
  );
}

/** @returns whether the target was still there. */
export const deleteImportTarget = (tx: Writer, id: string): boolean =>
  tx.run('DELETE FROM import_targets WHERE id = ?', id) === 1;
