/** Session profiles: they limit what a session may do, and for how long. No statement changes or deletes a profile. */
import type { Reader } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const sessionProfiles = table('session_profiles', {
  id: text,
  organizationId: text,
  name: text,
  /** An expression of the policy language, over each activity that a session asks for. */
  scope: text,
  /** The longest life of a session; null where the profile sets none. */
  expirationSeconds: number.orNull,
  notes: text,
  createdAt: number,
  updatedAt: number,
});

export type SessionProfileRow = RowOf<typeof sessionProfiles>;

/** A profile of whatever organization. */
export const getSessionProfileRow = (tx: Reader, id: string): SessionProfileRow | undefined =>
  tx.kept<SessionProfileRow>(`SELECT ${sessionProfiles.columns} FROM session_profiles WHERE id = ?`, id);

/** The organization and its parent: sessions of an organization may have profiles of both. */
const homes = 'organization_id IN (SELECT ? UNION ALL SELECT parent_id FROM organizations WHERE id = ?)';

/** A profile that sessions of an organization may have. */
export const findSessionProfileRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): SessionProfileRow | undefined =>
  tx.get<SessionProfileRow>(
    `SELECT ${sessionProfiles.columns} FROM session_profiles WHERE ${homes} AND id = ?`,
    organizationId,
    organizationId,
    id,
  );

/** Those of the parent first, each in the order of creation. */
export const listSessionProfileRows = (tx: Reader, organizationId: string): SessionProfileRow[] =>
  tx.all<SessionProfileRow>(
    `SELECT ${sessionProfiles.columns} FROM session_profiles WHERE ${homes}
     ORDER BY organization_id = ?, rowid`,
    organizationId,
    organizationId,
    organizationId,
  );

export const insertSessionProfile = sessionProfiles.insert;
