/** Authenticators: passkeys and security keys whose assertions stamp requests. */
import { timestamp, type Timestamp } from '../lib/clock.ts';
import type { Reader, Writer } from './connection.ts';
import { belowByClaim, type Founded } from './sub-organizations.ts';

export interface AuthenticatorRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly name: string;
  /** Base64url without padding, as is the public key (a COSE_Key) and the AAGUID. */
  readonly credentialId: string;
  readonly publicKey: string;
  /** The format of the attestation statement, `none` where there was none. */
  readonly attestationType: string;
  readonly aaguid: string;
  readonly model: string;
  /** A JSON list of names like AUTHENTICATOR_TRANSPORT_USB. */
  readonly transports: string;
  /** As the authenticator last gave it; 0 for one that does not count. */
  readonly signCount: number;
  /** The digest of the last assertion that counted. */
  readonly lastAssertion: Uint8Array | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

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

const columns = `id, organization_id AS organizationId, user_id AS userId, name, credential_id AS credentialId,
  public_key AS publicKey, attestation_type AS attestationType, aaguid, model, transports, sign_count AS signCount,
  last_assertion AS lastAssertion, created_at AS createdAt, updated_at AS updatedAt`;

export const findAuthenticator = (
  tx: Reader,
  organizationId: string,
  credentialId: string,
): AuthenticatorRow | undefined =>
  tx.get<AuthenticatorRow>(
    `SELECT ${columns} FROM authenticators WHERE organization_id = ? AND credential_id = ?`,
    organizationId,
    credentialId,
  );

/** So many are looked at of those that name themselves alike: each costs a look at a signature. */
const mostAlike = 64;

/** Those with this credential id in any organization, the oldest first. */
export const findAuthenticatorsAnywhere = (tx: Reader, credentialId: string): AuthenticatorRow[] =>
  tx.all<AuthenticatorRow>(
    `SELECT ${columns} FROM authenticators WHERE credential_id = ? ORDER BY rowid LIMIT ${String(mostAlike)}`,
    credentialId,
  );

/** Those with this credential id in an organization's sub-organizations, by their claim to it. */
export const findAuthenticatorsBelow = (
  tx: Reader,
  organizationId: string,
  credentialId: string,
): (AuthenticatorRow & Founded)[] =>
  tx.all<AuthenticatorRow & Founded>(
    belowByClaim('authenticators', columns, 'credential_id = ?', mostAlike),
    credentialId,
    organizationId,
  );

export const getAuthenticatorRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): AuthenticatorRow | undefined =>
  tx.get<AuthenticatorRow>(
    `SELECT ${columns} FROM authenticators WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listAuthenticatorsOfUser = (tx: Reader, userId: string): AuthenticatorRow[] =>
  tx.all<AuthenticatorRow>(`SELECT ${columns} FROM authenticators WHERE user_id = ? ORDER BY rowid`, userId);

export const countAuthenticatorsOfUser = (tx: Reader, userId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM authenticators WHERE user_id = ?', userId)
    ?.count ?? 0;

export function insertAuthenticator(tx: Writer, row: AuthenticatorRow): void {
  tx.run(
    `INSERT INTO authenticators (id, organization_id, user_id, name, credential_id, public_key, attestation_type,
       aaguid, model, transports, sign_count, last_assertion, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.name,
    row.credentialId,
    row.publicKey,
    row.attestationType,
    row.aaguid,
    row.model,
    row.transports,
    row.signCount,
    row.lastAssertion,
    row.createdAt,
    row.updatedAt,
  );
}

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
