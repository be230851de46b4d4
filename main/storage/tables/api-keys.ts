/** API keys: public keys whose private halves stamp requests. */
import { timestamp, type Timestamp } from '../lib/clock.ts';
import type { Reader, Writer } from './connection.ts';
import { belowByClaim, type Founded } from './sub-organizations.ts';

export interface ApiKeyRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly name: string;
  readonly credentialType: string;
  /** Lowercase hex: compressed SEC1 or 32-byte Ed25519. */
  readonly publicKey: string;
  readonly expirationSeconds: number | null;
  /** Milliseconds; null for a key that does not expire. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An API key as the API shows one. */
export interface ApiKey {
  readonly credential: { readonly publicKey: string; readonly type: string };
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly expirationSeconds?: string;
}

const columns = `id, organization_id AS organizationId, user_id AS userId, name, credential_type AS credentialType,
  public_key AS publicKey, expiration_seconds AS expirationSeconds, expires_at AS expiresAt,
  created_at AS createdAt, updated_at AS updatedAt`;

export const findApiKey = (tx: Reader, organizationId: string, publicKey: string): ApiKeyRow | undefined =>
  tx.get<ApiKeyRow>(
    `SELECT ${columns} FROM api_keys WHERE organization_id = ? AND public_key = ?`,
    organizationId,
    publicKey,
  );

/** Whose a key is that several organizations may know: the user who has the oldest registration. */
export const findApiKeyHolder = (
  tx: Reader,
  publicKey: string,
): Pick<ApiKeyRow, 'organizationId' | 'userId'> | undefined =>
  tx.get<Pick<ApiKeyRow, 'organizationId' | 'userId'>>(
    `SELECT organization_id AS organizationId, user_id AS userId FROM api_keys
     WHERE public_key = ? ORDER BY rowid LIMIT 1`,
    publicKey,
  );

/** The keys with this public half in an organization's sub-organizations, the first two by their claim to it. */
export const findApiKeysBelow = (
  tx: Reader,
  organizationId: string,
  publicKey: string,
): (ApiKeyRow & Founded)[] =>
  tx.all<ApiKeyRow & Founded>(
    belowByClaim('api_keys', columns, 'public_key = ?', 2),
    publicKey,
    organizationId,
  );

/** The keys with this public half in whatever organization; more than two are not told apart. */
export const findApiKeysAnywhere = (tx: Reader, publicKey: string): ApiKeyRow[] =>
  tx.all<ApiKeyRow>(`SELECT ${columns} FROM api_keys WHERE public_key = ? LIMIT 2`, publicKey);

export const getApiKeyRow = (tx: Reader, organizationId: string, id: string): ApiKeyRow | undefined =>
  tx.get<ApiKeyRow>(
    `SELECT ${columns} FROM api_keys WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listApiKeyRows = (tx: Reader, organizationId: string): ApiKeyRow[] =>
  tx.all<ApiKeyRow>(
    `SELECT ${columns} FROM api_keys WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const listApiKeysOfUser = (tx: Reader, userId: string): ApiKeyRow[] =>
  tx.all<ApiKeyRow>(`SELECT ${columns} FROM api_keys WHERE user_id = ? ORDER BY rowid`, userId);

export function insertApiKey(tx: Writer, row: ApiKeyRow): void {
  tx.run(
    `INSERT INTO api_keys (id, organization_id, user_id, name, credential_type, public_key, expiration_seconds,
       expires_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.name,
    row.credentialType,
    row.publicKey,
    row.expirationSeconds,
    row.expiresAt,
    row.createdAt,
    row.updatedAt,
  );
}

export const deleteApiKey = (tx: Writer, id: string): number =>
  tx.run('DELETE FROM api_keys WHERE id = ?', id);

/** @param until Keys that expired by then, in milliseconds, go. */
export const deleteExpiredApiKeys = (tx: Writer, credentialTypes: readonly string[], until: number): number =>
  tx.run(
    `DELETE FROM api_keys WHERE expires_at <= ?
       AND credential_type IN (${credentialTypes.map(() => '?').join(', ')})`,
    until,
    ...credentialTypes,
  );

export const toApiKey = (row: ApiKeyRow): ApiKey => ({
  credential: { publicKey: row.publicKey, type: row.credentialType },
  apiKeyId: row.id,
  apiKeyName: row.name,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  ...(row.expirationSeconds === null ? {} : { expirationSeconds: String(row.expirationSeconds) }),
});
