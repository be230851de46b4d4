/** Credentials of users, as policies see them. */
import { isOver } from '../../lib/clock.ts';
import type { Reader } from '../connection.ts';
import { listApiKeysOfUser, type ApiKeyRow } from './api-keys.ts';
import { listAuthenticatorsOfUser, type AuthenticatorRow } from './authenticators.ts';

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
