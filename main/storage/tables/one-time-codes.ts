/** One-time codes that were sent to an address or a phone number, until they are used or expire. */
import { latest } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const sentCodes = table('sent_codes', {
  id: text,
  organizationId: text,
  /** The use of the code: an API key for the user, or a token for the verified contact. */
  purpose: text.of<'sign in' | 'verification'>(),
  /** Null for a code that verifies a contact of any user. */
  userId: text.orNull,
  channel: text.of<'email' | 'sms'>(),
  /** The receiver of the code: an email address or a phone number. */
  contact: text,
  /** The code's hash and, where a client may encrypt the code, the private key for that; sealed. */
  sealed: blob,
  wrongTries: number,
  /** Milliseconds. */
  expiresAt: number,
  createdAt: number,
});

export type OneTimeCodeRow = RowOf<typeof sentCodes>;

export const oneTimeCodesTable = 'sent_codes';

export const getOneTimeCode = (tx: Reader, organizationId: string, id: string): OneTimeCodeRow | undefined =>
  tx.get<OneTimeCodeRow>(
    `SELECT ${sentCodes.columns} FROM sent_codes WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** Counts the codes for a contact that can still be used. */
export const countOneTimeCodes = (tx: Reader, organizationId: string, contact: string, now: number): number =>
  tx.get<{ count: number }>(
    `SELECT count(*) AS count FROM sent_codes
     WHERE organization_id = ? AND contact = ? AND expires_at > ? AND created_at <= ?`,
    organizationId,
    contact,
    now,
    latest(now),
  )?.count ?? 0;

export const insertOneTimeCode = sentCodes.insert;

export function countWrongTry(tx: Writer, id: string): void {
  tx.run('UPDATE sent_codes SET wrong_tries = wrong_tries + 1 WHERE id = ?', id);
}

export function deleteOneTimeCode(tx: Writer, id: string): void {
  tx.run('DELETE FROM sent_codes WHERE id = ?', id);
}

export const deleteExpiredOneTimeCodes = (tx: Writer, now: number): number =>
  tx.run('DELETE FROM sent_codes WHERE expires_at <= ?', now);
