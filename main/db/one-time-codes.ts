/** One-time codes that were sent to a user, until they are used or expire. */
import type { Reader, Writer } from './connection.ts';

export interface OneTimeCodeRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** Where the code was sent: an email address or a phone number. */
  readonly contact: string;
  /** The code's hash, sealed. */
  readonly sealed: Uint8Array;
  readonly wrongTries: number;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly createdAt: number;
}

export const oneTimeCodesTable = 'one_time_codes';

export const getOneTimeCode = (tx: Reader, organizationId: string, id: string): OneTimeCodeRow | undefined =>
  tx.get<OneTimeCodeRow>(
    `SELECT id, organization_id AS organizationId, user_id AS userId, contact, sealed, wrong_tries AS wrongTries,
       expires_at AS expiresAt, created_at AS createdAt
     FROM one_time_codes WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export function insertOneTimeCode(tx: Writer, row: OneTimeCodeRow): void {
  tx.run(
    `INSERT INTO one_time_codes (id, organization_id, user_id, contact, sealed, wrong_tries, expires_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.contact,
    row.sealed,
    row.wrongTries,
    row.expiresAt,
    row.createdAt,
  );
}

export function countWrongTry(tx: Writer, id: string): void {
  tx.run('UPDATE one_time_codes SET wrong_tries = wrong_tries + 1 WHERE id = ?', id);
}

export function deleteOneTimeCode(tx: Writer, id: string): void {
  tx.run('DELETE FROM one_time_codes WHERE id = ?', id);
}

export function deleteExpiredOneTimeCodes(tx: Writer, now: number): void {
  tx.run('DELETE FROM one_time_codes WHERE expires_at <= ?', now);
}
