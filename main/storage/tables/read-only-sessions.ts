/** Sessions that may read and nothing else: whoever brings their token asks queries as the user. */
import type { Reader, Writer } from './connection.ts';

export interface ReadOnlySessionRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly createdAt: number;
}

const columns =
  'id, organization_id AS organizationId, user_id AS userId, expires_at AS expiresAt, created_at AS createdAt';

export const getReadOnlySession = (
  tx: Reader,
  organizationId: string,
  id: string,
): ReadOnlySessionRow | undefined =>
  tx.get<ReadOnlySessionRow>(
    `SELECT ${columns} FROM read_only_sessions WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** Whose a session is, whichever organization it is in. */
export const getReadOnlySessionHolder = (
  tx: Reader,
  id: string,
): Pick<ReadOnlySessionRow, 'organizationId' | 'userId'> | undefined =>
  tx.get<Pick<ReadOnlySessionRow, 'organizationId' | 'userId'>>(
    'SELECT organization_id AS organizationId, user_id AS userId FROM read_only_sessions WHERE id = ?',
    id,
  );

/** In the order of creation. */
export const listReadOnlySessionsOfUser = (tx: Reader, userId: string): ReadOnlySessionRow[] =>
  tx.all<ReadOnlySessionRow>(
    `SELECT ${columns} FROM read_only_sessions WHERE user_id = ? ORDER BY rowid`,
    userId,
  );

/** In the order of creation. */
export const listReadOnlySessions = (tx: Reader, organizationId: string): ReadOnlySessionRow[] =>
  tx.all<ReadOnlySessionRow>(
    `SELECT ${columns} FROM read_only_sessions WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export function insertReadOnlySession(tx: Writer, row: ReadOnlySessionRow): void {
  tx.run(
    'INSERT INTO read_only_sessions (id, organization_id, user_id, expires_at, created_at) VALUES (?, ?, ?, ?, ?)',
    row.id,
    row.organizationId,
    row.userId,
    row.expiresAt,
    row.createdAt,
  );
}

export const deleteReadOnlySession = (tx: Writer, id: string): number =>
  tx.run('DELETE FROM read_only_sessions WHERE id = ?', id);

export const deleteExpiredReadOnlySessions = (tx: Writer, now: number): number =>
  tx.run('DELETE FROM read_only_sessions WHERE expires_at <= ?', now);
