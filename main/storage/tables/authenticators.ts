/** Authenticators: passkeys and security keys whose assertions stamp requests. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { belowByClaim, type Founded } from './sub-organizations.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const authenticators = table('authenticators', {
  id: text,
  organizationId: text,
  userId: text,
  name: text,
  /** Base64url without padding, as is the public key (a COSE_Key) and the AAGUID. */
  credentialId: text,
  publicKey: text,
  /** The format of the attestation statement, `none` where there was none. */
  attestationType: text,
  aaguid: text,
  model: text,
  /** A JSON list of names like AUTHENTICATOR_TRANSPORT_USB. */
  transports: text,
  /** As the authenticator last gave it; 0 for one that does not count. */
  signCount: number,
  /** The digest of the last assertion that counted. */
  lastAssertion: blob.orNull,
  createdAt: number,
  updatedAt: number,
});

export type AuthenticatorRow = RowOf<typeof authenticators>;

/** An authenticator as the API shows one. */
export interface Authenticator {
  readonly transports: readonly string[];
  readonly attestationType: string;
  readonly aaguid: string;
  readonly credentialId: string;
  readonly model: string;
  readonly credential: { readonly publicKey: string; readonly type: string };
  readonly authenticatorId: string;
  readonly authenticatorName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export const findAuthenticator = (
  tx: Reader,
  organizationId: string,
  credentialId: string,
): AuthenticatorRow | undefined =>
  tx.get<AuthenticatorRow>(
    `SELECT ${authenticators.columns} FROM authenticators WHERE organization_id = ? AND credential_id = ?`,
    organizationId,
    credentialId,
  );

/** So many are looked at of those that name themselves alike: each costs a look at a signature. */
const mostAlike = 64;

/** Those with this credential id in any organization, the oldest first. */
export const findAuthenticatorsAnywhere = (tx: Reader, credentialId: string): AuthenticatorRow[] =>
  tx.all<AuthenticatorRow>(
    `SELECT ${authenticators.columns} FROM authenticators WHERE credential_id = ? ORDER BY rowid LIMIT ${String(mostAlike)}`,
    credentialId,
  );

/** Those with this credential id in an organization's sub-organizations, by their claim to it. */
export const findAuthenticatorsBelow = (
  tx: Reader,
  organizationId: string,
  credentialId: string,
): (AuthenticatorRow & Founded)[] =>
  tx.all<AuthenticatorRow & Founded>(
    belowByClaim('authenticators', authenticators.columns, 'credential_id = ?', mostAlike),
    credentialId,
    organizationId,
  );

export const getAuthenticatorRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): AuthenticatorRow | undefined =>
  tx.get<AuthenticatorRow>(
    `SELECT ${authenticators.columns} FROM authenticators WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listAuthenticatorRows = (tx: Reader, organizationId: string): readonly AuthenticatorRow[] =>
  tx.keptAll<AuthenticatorRow>(
    `SELECT ${authenticators.columns} FROM authenticators WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

/** In the order of creation. */
export const listAuthenticatorsOfUser = (tx: Reader, userId: string): AuthenticatorRow[] =>
  tx.all<AuthenticatorRow>(
    `SELECT ${authenticators.columns} FROM authenticators WHERE user_id = ? ORDER BY rowid`,
    userId,
  );

export const countAuthenticatorsOfUser = (tx: Reader, userId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM authenticators WHERE user_id = ?', userId)
    ?.count ?? 0;

export const insertAuthenticator = authenticators.insert;

/** Keeps how far an authenticator has counted; it has not changed otherwise. */
export function countAssertion(tx: Writer, id: string, signCount: number, assertion: Uint8Array): void {
  tx.run(
    'UPDATE authenticators SET sign_count = ?, last_assertion = ? WHERE id = ?',
    signCount,
    assertion,
    id,
  );
}

export const deleteAuthenticator = (tx: Writer, id: string): number =>
  tx.run('DELETE FROM authenticators WHERE id = ?', id);

export const toAuthenticator = (row: AuthenticatorRow): Authenticator => ({
  transports: JSON.parse(row.transports) as string[],
  attestationType: row.attestationType,
  aaguid: row.aaguid,
  credentialId: row.credentialId,
  model: row.model,
  credential: { publicKey: row.publicKey, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
  authenticatorId: row.id,
  authenticatorName: row.name,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});
