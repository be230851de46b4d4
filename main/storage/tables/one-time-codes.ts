/** One-time codes that were sent to an address or a phone number, until they are used or expire. */
import { latest } from '../lib/clock.ts';
import type { Reader, Writer } from './connection.ts';

export interface OneTimeCodeRow {
  readonly id: string;
  readonly organizationId: string;
  /** What it is good for: an API key for the user, or a token that says whose contact was verified. */
  readonly purpose: 'sign in' | 'verification';
  /** Null for a code that verifies a contact, whoever has it. */
  readonly userId: string | null;
  readonly channel: 'email' | 'sms';
  /** Where the code was sent: an email address or a phone number. */
  readonly contact: string;
  /** The code's hash and, where a client may encrypt the code, the private key for that; sealed. */
  readonly sealed: Uint8Array;
  readonly wrongTries: number;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly createdAt: number;
}

export const oneTimeCodesTable = 'sent_codes';

export const getOneTimeCode = (tx: Reader, organizationId: string, id: string): OneTimeCodeRow | undefined =>
  tx.get<OneTimeCodeRow>(
    `SELECT id, organization_id AS organizationId, purpose, user_id AS userId, channel, contact, sealed,
       wrong_tries AS wrongTries, expires_at AS expiresAt, created_at AS createdAt
     FROM sent_codes WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** How many codes that went to a contact can still be used. */
export const countOneTimeCodes = (tx: Reader, organizationId: string, contact: string, now: number): number =>
  tx.get<{ count: number }>(
    `SELECT count(*) AS count FROM sent_codes
     WHERE organization_id = ? AND contact = ? AND expires_at > ? AND created_at <= ?`,
    organizationId,
    contact,
    now,
    latest(now),
  )?.count ?? 0;

export function insertOneTimeCode(tx: Writer, row: OneTimeCodeRow): void {
  tx.run(
    `INSERT INTO sent_codes (id, organization_id, purpose, user_id, channel, contact, sealed, wrong_tries, expires_at,
       created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.purpose,
    row.userId,
    row.channel,
    row.contact,
    row.sealed,
    row.wrongTries,
    row.expiresAt,
    row.createdAt,
  );
}

export function countWrongTry(tx: Writer, id: string): void {
  tx.run('UPDATE sent_codes SET wrong_tries = wrong_tries + 1 WHERE id = ?', id);
}

export function deleteOneTimeCode(tx: Writer, id: string): void {
  tx.run('DELETE FROM sent_codes WHERE id = ?', id);
}

export const deleteExpiredOneTimeCodes = (tx: Writer, now: number): number =>
  tx.run('DELETE FROM sent_codes WHERE expires_at <= ?', now);
