/** Verification tokens that have signed a user in, until they expire: each does so once in an organization. */
import type { Reader, Writer } from '../connection.ts';

export const isTokenSpent = (tx: Reader, organizationId: string, id: string): boolean =>
  tx.get('SELECT 1 FROM spent_tokens WHERE id = ? AND organization_id = ?', id, organizationId) !== undefined;

export function insertSpentToken(
  tx: Writer,
  row: { readonly id: string; readonly organizationId: string; readonly expiresAt: number },
): void {
  tx.run(
    'INSERT INTO spent_tokens (id, organization_id, expires_at) VALUES (?, ?, ?)',
    row.id,
    row.organizationId,
    row.expiresAt,
  );
}

export const deleteExpiredSpentTokens = (tx: Writer, now: number): number =>
  tx.run('DELETE FROM spent_tokens WHERE expires_at <= ?', now);
