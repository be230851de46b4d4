/** API keys: public keys whose private halves stamp requests. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { belowByClaim, type Founded } from './sub-organizations.ts';
import { number, table, text, type RowOf } from '../table.ts';

const apiKeys = table('api_keys', {
  id: text,
  organizationId: text,
  userId: text,
  name: text,
  credentialType: text,
  /** Lowercase hex: compressed SEC1 or 32-byte Ed25519. */
  publicKey: text,
  expirationSeconds: number.orNull,
  /** Milliseconds; null for a key that does not expire. */
  expiresAt: number.orNull,
  createdAt: number,
  updatedAt: number,
  /** The profile of the session that this is the key of; null where it has none. */
  sessionProfileId: text.orNull,
});

export type ApiKeyRow = RowOf<typeof apiKeys>;

/** An API key as the API shows one. */
export interface ApiKey {
  readonly credential: {
    readonly publicKey: string;
    readonly type: string;
    readonly sessionProfileId?: string;
  };
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly expirationSeconds?: string;
}

export const findApiKey = (tx: Reader, organizationId: string, publicKey: string): ApiKeyRow | undefined =>
  tx.kept<ApiKeyRow>(
    `SELECT ${apiKeys.columns} FROM api_keys WHERE organization_id = ? AND public_key = ?`,
    organizationId,
    publicKey,
  );

/** The user of a key that several organizations may know: the one with the oldest registration. */
export const findApiKeyHolder = (
  tx: Reader,
  publicKey: string,
): Pick<ApiKeyRow, 'organizationId' | 'userId'> | undefined =>
  tx.kept<Pick<ApiKeyRow, 'organizationId' | 'userId'>>(
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
    belowByClaim('api_keys', apiKeys.columns, 'public_key = ?', 2),
    publicKey,
    organizationId,
  );

/** The keys with this public half in whatever organization; more than two are not told apart. */
export const findApiKeysAnywhere = (tx: Reader, publicKey: string): ApiKeyRow[] =>
  tx.all<ApiKeyRow>(`SELECT ${apiKeys.columns} FROM api_keys WHERE public_key = ? LIMIT 2`, publicKey);

export const getApiKeyRow = (tx: Reader, organizationId: string, id: string): ApiKeyRow | undefined =>
  tx.get<ApiKeyRow>(
    `SELECT ${apiKeys.columns} FROM api_keys WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listApiKeyRows = (tx: Reader, organizationId: string): readonly ApiKeyRow[] =>
  tx.keptAll<ApiKeyRow>(
    `SELECT ${apiKeys.columns} FROM api_keys WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const listApiKeysOfUser = (tx: Reader, userId: string): ApiKeyRow[] =>
  tx.all<ApiKeyRow>(`SELECT ${apiKeys.columns} FROM api_keys WHERE user_id = ? ORDER BY rowid`, userId);

export const insertApiKey = apiKeys.insert;

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
  credential: {
    publicKey: row.publicKey,
    type: row.credentialType,
    ...(row.sessionProfileId === null ? {} : { sessionProfileId: row.sessionProfileId }),
  },
  apiKeyId: row.id,
  apiKeyName: row.name,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  ...(row.expirationSeconds === null ? {} : { expirationSeconds: String(row.expirationSeconds) }),
});
