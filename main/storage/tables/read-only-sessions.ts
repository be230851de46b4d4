/** Sessions that may only read: a request with their token queries as the user. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const readOnlySessions = table('read_only_sessions', {
  id: text,
  organizationId: text,
  userId: text,
  /** Milliseconds. */
  expiresAt: number,
  createdAt: number,
});

export type ReadOnlySessionRow = RowOf<typeof readOnlySessions>;

export const getReadOnlySession = (
  tx: Reader,
  organizationId: string,
  id: string,
): ReadOnlySessionRow | undefined =>
  tx.get<ReadOnlySessionRow>(
    `SELECT ${readOnlySessions.columns} FROM read_only_sessions WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** The user of a session, in any organization. */
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
    `SELECT ${readOnlySessions.columns} FROM read_only_sessions WHERE user_id = ? ORDER BY rowid`,
    userId,
  );

/** In the order of creation. */
export const listReadOnlySessions = (tx: Reader, organizationId: string): ReadOnlySessionRow[] =>
  tx.all<ReadOnlySessionRow>(
    `SELECT ${readOnlySessions.columns} FROM read_only_sessions WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const insertReadOnlySession = readOnlySessions.insert;

export const deleteReadOnlySession = (tx: Writer, id: string): number =>
  tx.run('DELETE FROM read_only_sessions WHERE id = ?', id);

export const deleteExpiredReadOnlySessions = (tx: Writer, now: number): number =>
  tx.run('DELETE FROM read_only_sessions WHERE expires_at <= ?', now);
