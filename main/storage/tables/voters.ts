/** Users and their credentials, as policies see them. */
import { isOver } from '../../lib/clock.ts';
import type { Reader } from '../connection.ts';
import { listApiKeysOfUser, type ApiKeyRow } from './api-keys.ts';
import { listAuthenticatorsOfUser, type AuthenticatorRow } from './authenticators.ts';
import { listTagIdsOf } from './tags.ts';
import { listUserRows, type UserRow } from './users.ts';

/** @param credentials What the user voted with, or all that it could vote with. */
export const voterOf = <Credential>(tx: Reader, user: UserRow, credentials: readonly Credential[]) => ({
  userId: user.id,
  root: user.root === 1,
  tags: listTagIdsOf(tx, 'TAG_TYPE_USER', user.id),
  email: user.email ?? undefined,
  alias: user.name,
  credentials,
});

/** All users of an organization, with all valid credentials. */
export const votersOf = (tx: Reader, organizationId: string, now: number) =>
  listUserRows(tx, organizationId).map((user) => voterOf(tx, user, credentialFactsOf(tx, user.id, now)));

/** @param now Keys that expired by then are left out, in milliseconds; without it none is. */
export const credentialFactsOf = (tx: Reader, userId: string, now?: number) => [
  ...listApiKeysOfUser(tx, userId)
    .filter((key) => now === undefined || !isOver(key, now))
    .map(factOfApiKey),
  ...listAuthenticatorsOfUser(tx, userId).map(factOfAuthenticator),
];

export const factOfApiKey = ({ id, userId, credentialType, publicKey }: ApiKeyRow) => ({
  id,
  user_id: userId,
  type: credentialType,
  public_key: publicKey,
});

export const factOfAuthenticator = ({ id, userId, credentialId, publicKey }: AuthenticatorRow) => ({
  id,
  user_id: userId,
  type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  credential_id: credentialId,
  public_key: publicKey,
});
