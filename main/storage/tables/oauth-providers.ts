/** OAuth providers: who a user is to an OpenID Connect issuer. */
import { timestamp, type Timestamp } from '../lib/clock.ts';
import type { Reader, Writer } from './connection.ts';

export interface OauthProviderRow {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly name: string;
  /** The claims `iss`, `aud` and `sub`, to the letter. */
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An OAuth provider as the API shows one. */
export interface OauthProvider {
  readonly providerId: string;
  readonly providerName: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

const columns = `id, organization_id AS organizationId, user_id AS userId, name, issuer, audience, subject,
  created_at AS createdAt, updated_at AS updatedAt`;

export const findOauthProvider = (
  tx: Reader,
  organizationId: string,
  { issuer, audience, subject }: Pick<OauthProviderRow, 'issuer' | 'audience' | 'subject'>,
): OauthProviderRow | undefined =>
  tx.get<OauthProviderRow>(
    `SELECT ${columns} FROM oauth_providers
     WHERE organization_id = ? AND issuer = ? AND audience = ? AND subject = ?`,
    organizationId,
    issuer,
    audience,
    subject,
  );

/** In the order of creation. */
export const listOauthProviderRows = (tx: Reader, organizationId: string): OauthProviderRow[] =>
  tx.all<OauthProviderRow>(
    `SELECT ${columns} FROM oauth_providers WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const listOauthProvidersOfUser = (tx: Reader, userId: string): OauthProviderRow[] =>
  tx.all<OauthProviderRow>(`SELECT ${columns} FROM oauth_providers WHERE user_id = ? ORDER BY rowid`, userId);

export function insertOauthProvider(tx: Writer, row: OauthProviderRow): void {
  tx.run(
    `INSERT INTO oauth_providers (id, organization_id, user_id, name, issuer, audience, subject, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.userId,
    row.name,
    row.issuer,
    row.audience,
    row.subject,
    row.createdAt,
    row.updatedAt,
  );
}

export function deleteOauthProvider(tx: Writer, id: string): void {
  tx.run('DELETE FROM oauth_providers WHERE id = ?', id);
}

export const toOauthProvider = (row: OauthProviderRow): OauthProvider => ({
  providerId: row.id,
  providerName: row.name,
  issuer: row.issuer,
  audience: row.audience,
  subject: row.subject,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});
