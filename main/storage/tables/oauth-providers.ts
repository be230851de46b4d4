/** OAuth providers: who a user is to an OpenID Connect issuer. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const oauthProviders = table('oauth_providers', {
  id: text,
  organizationId: text,
  userId: text,
  name: text,
  /** The claims `iss`, `aud` and `sub`, to the letter. */
  issuer: text,
  audience: text,
  subject: text,
  createdAt: number,
  updatedAt: number,
});

export type OauthProviderRow = RowOf<typeof oauthProviders>;

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

export const findOauthProvider = (
  tx: Reader,
  organizationId: string,
  { issuer, audience, subject }: Pick<OauthProviderRow, 'issuer' | 'audience' | 'subject'>,
): OauthProviderRow | undefined =>
  tx.get<OauthProviderRow>(
    `SELECT ${oauthProviders.columns} FROM oauth_providers
     WHERE organization_id = ? AND issuer = ? AND audience = ? AND subject = ?`,
    organizationId,
    issuer,
    audience,
    subject,
  );

export const getOauthProviderRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): OauthProviderRow | undefined =>
  tx.get<OauthProviderRow>(
    `SELECT ${oauthProviders.columns} FROM oauth_providers WHERE organization_id = ? AND id = ?`,
    organizationId,
    id,
  );

/** In the order of creation. */
export const listOauthProviderRows = (tx: Reader, organizationId: string): OauthProviderRow[] =>
  tx.all<OauthProviderRow>(
    `SELECT ${oauthProviders.columns} FROM oauth_providers WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const listOauthProvidersOfUser = (tx: Reader, userId: string): OauthProviderRow[] =>
  tx.all<OauthProviderRow>(
    `SELECT ${oauthProviders.columns} FROM oauth_providers WHERE user_id = ? ORDER BY rowid`,
    userId,
  );

export const insertOauthProvider = oauthProviders.insert;

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
