/** Users and their credentials, as policies see them. */
import { isOver } from '../../lib/clock.ts';
import type { Reader } from '../connection.ts';
import { listApiKeyRows, listApiKeysOfUser, type ApiKeyRow } from './api-keys.ts';
import { listAuthenticatorRows, listAuthenticatorsOfUser, type AuthenticatorRow } from './authenticators.ts';
import { listTagIdsOf, listUserTags } from './tags.ts';
import { listUserRows, type UserRow } from './users.ts';

/** @param credentials What the user voted with, or all that it could vote with. */
export const voterOf = <Credential>(tx: Reader, user: UserRow, credentials: readonly Credential[]) =>
  voter(user, listTagIdsOf(tx, 'TAG_TYPE_USER', user.id), credentials);

const voter = <Credential>(user: UserRow, tags: readonly string[], credentials: readonly Credential[]) => ({
  userId: user.id,
  root: user.root === 1,
  tags,
  email: user.email ?? undefined,
  alias: user.name,
  credentials,
});

/** All users of an organization, with all valid credentials: a few statements, however many users there are. */
export function votersOf(tx: Reader, organizationId: string, now: number) {
  const tags = Map.groupBy(listUserTags(tx, organizationId), ({ userId }) => userId);
  const keys = Map.groupBy(listApiKeyRows(tx, organizationId), ({ userId }) => userId);
  const passkeys = Map.groupBy(listAuthenticatorRows(tx, organizationId), ({ userId }) => userId);
  return listUserRows(tx, organizationId).map((user) =>
    voter(
      user,
      (tags.get(user.id) ?? []).map(({ tagId }) => tagId),
      factsOf(keys.get(user.id) ?? [], passkeys.get(user.id) ?? [], now),
    ),
  );
}

/** @param now Keys that expired by then are left out, in milliseconds; without it none is. */
export const credentialFactsOf = (tx: Reader, userId: string, now?: number) =>
  factsOf(listApiKeysOfUser(tx, userId), listAuthenticatorsOfUser(tx, userId), now);

const factsOf = (
  keys: readonly ApiKeyRow[],
  passkeys: readonly AuthenticatorRow[],
  now: number | undefined,
) => [
  ...keys.filter((key) => now === undefined || !isOver(key, now)).map(factOfApiKey),
  ...passkeys.map(factOfAuthenticator),
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
