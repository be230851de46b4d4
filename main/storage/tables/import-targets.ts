/** Keys that a client encrypts an import to: each belongs to one user, and opens one import. */
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const importTargets = table('import_targets', {
  /** It follows from the public key. */
  id: text,
  organizationId: text,
  userId: text,
  kind: text.of<'private key' | 'wallet' | 'secret'>(),
  /** The private scalar, sealed. */
  sealed: blob,
  createdAt: number,
});

export type ImportTargetRow = RowOf<typeof importTargets>;

export const importTargetsTable = 'import_targets';

/** Newest first. */
export const listImportTargets = (
  tx: Reader,
  userId: string,
  kinds: readonly ImportTargetRow['kind'][],
  createdAfter: number,
): ImportTargetRow[] =>
  tx.all<ImportTargetRow>(
    `SELECT ${importTargets.columns} FROM import_targets WHERE user_id = ? AND kind IN (SELECT value FROM json_each(?)) AND created_at > ?
     ORDER BY rowid DESC`,
    userId,
    JSON.stringify(kinds),
    createdAfter,
  );

/** The target of a kind, if it is the user's and new enough. */
export const getImportTarget = (
  tx: Reader,
  { id, userId, kind }: Pick<ImportTargetRow, 'id' | 'userId' | 'kind'>,
  createdAfter: number,
): ImportTargetRow | undefined =>
  tx.get<ImportTargetRow>(
    `SELECT ${importTargets.columns} FROM import_targets WHERE id = ? AND user_id = ? AND kind = ? AND created_at > ?`,
    id,
    userId,
    kind,
    createdAfter,
  );

/** Stores a target; the user's targets of its kind that are too old, or too many, go. */
export function insertImportTarget(
  tx: Writer,
  row: ImportTargetRow,
  keep: { readonly createdAfter: number; readonly most: number },
): void {
  importTargets.insert(tx, row);
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
