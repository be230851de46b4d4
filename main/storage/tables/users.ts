/** Users, and the whole user as the API shows one: with credentials and tags. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import { listApiKeysOfUser, toApiKey, type ApiKey } from './api-keys.ts';
import { listAuthenticatorsOfUser, toAuthenticator, type Authenticator } from './authenticators.ts';
import type { Reader, Writer } from '../connection.ts';
import { listOauthProvidersOfUser, toOauthProvider, type OauthProvider } from './oauth-providers.ts';
import { listTagIdsOf } from './tags.ts';
import { number, table, text, type RowOf } from '../table.ts';

const users = table('users', {
  id: text,
  organizationId: text,
  name: text,
  email: text.orNull,
  phoneNumber: text.orNull,
  /** When each was proven to be the user's, as it is now; null where it was not. */
  emailVerifiedAt: number.orNull,
  phoneNumberVerifiedAt: number.orNull,
  /** 1 for a member of the root quorum. */
  root: number,
  createdAt: number,
  updatedAt: number,
});

export type UserRow = RowOf<typeof users>;

/** A user as the API shows one; absent contact fields are left out. */
export interface User {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail?: string;
  readonly userPhoneNumber?: string;
  readonly authenticators: readonly Authenticator[];
  readonly apiKeys: readonly ApiKey[];
  readonly userTags: readonly string[];
  readonly oauthProviders: readonly OauthProvider[];
  readonly mfaPolicies: readonly never[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export const getUserRow = (tx: Reader, organizationId: string, id: string): UserRow | undefined =>
  tx.kept<UserRow>(
    `SELECT ${users.columns} FROM users WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listUserRows = (tx: Reader, organizationId: string): readonly UserRow[] =>
  tx.keptAll<UserRow>(
    `SELECT ${users.columns} FROM users WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const findUserByName = (tx: Reader, organizationId: string, name: string): UserRow | undefined =>
  tx.get<UserRow>(
    `SELECT ${users.columns} FROM users WHERE organization_id = ? AND name = ?`,
    organizationId,
    name,
  );

export const countUsers = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM users WHERE organization_id = ?', organizationId)
    ?.count ?? 0;

export const listRootUserIds = (tx: Reader, organizationId: string): string[] =>
  tx
    .all<{ id: string }>(
      'SELECT id FROM users WHERE organization_id = ? AND root = 1 ORDER BY rowid',
      organizationId,
    )
    .map(({ id }) => id);

export const insertUser = users.insert;

/** Writes what of a user can change. */
export function updateUserRow(tx: Writer, row: UserRow): void {
  tx.run(
    `UPDATE users SET name = ?, email = ?, phone_number = ?, email_verified_at = ?, phone_number_verified_at = ?, root = ?,
       updated_at = ? WHERE id = ?`,
    row.name,
    row.email,
    row.phoneNumber,
    row.emailVerifiedAt,
    row.phoneNumberVerifiedAt,
    row.root,
    row.updatedAt,
    row.id,
  );
}

/** Makes these users, and no others, the root quorum of their organization. */
export function setRootQuorum(
  tx: Writer,
  organizationId: string,
  threshold: number,
  userIds: readonly string[],
  updatedAt: number,
): void {
  const members = JSON.stringify(userIds);
  tx.run(
    `UPDATE users SET root = id IN (SELECT value FROM json_each(?)), updated_at = ?
     WHERE organization_id = ? AND root != (id IN (SELECT value FROM json_each(?)))`,
    members,
    updatedAt,
    organizationId,
    members,
  );
  tx.run(
    'UPDATE organizations SET root_quorum_threshold = ?, updated_at = ? WHERE id = ?',
    threshold,
    updatedAt,
    organizationId,
  );
}

/** Removes a user with all credentials. */
export function deleteUser(tx: Writer, id: string): void {
  tx.run('DELETE FROM users WHERE id = ?', id);
}

export function toUser(tx: Reader, row: UserRow): User {
  return {
    userId: row.id,
    userName: row.name,
    ...(row.email === null ? {} : { userEmail: row.email }),
    ...(row.phoneNumber === null ? {} : { userPhoneNumber: row.phoneNumber }),
    authenticators: listAuthenticatorsOfUser(tx, row.id).map(toAuthenticator),
    apiKeys: listApiKeysOfUser(tx, row.id).map(toApiKey),
    userTags: listTagIdsOf(tx, 'TAG_TYPE_USER', row.id),
    oauthProviders: listOauthProvidersOfUser(tx, row.id).map(toOauthProvider),
    mfaPolicies: [],
    createdAt: timestamp(row.createdAt),
    updatedAt: timestamp(row.updatedAt),
  };
}
