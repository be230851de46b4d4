/** When credentials were last used. What is noted here is shown, and decides nothing. */
import type { Reader, Writer } from '../connection.ts';

export interface CredentialUseRow {
  readonly credentialId: string;
  readonly organizationId: string;
  /** Milliseconds. */
  readonly usedAt: number;
}

export const listCredentialUses = (tx: Reader, organizationId: string): CredentialUseRow[] =>
  tx.all<CredentialUseRow>(
    `SELECT credential_id AS credentialId, organization_id AS organizationId, used_at AS usedAt
     FROM credential_uses WHERE organization_id = ?`,
    organizationId,
  );

/** Notes nothing of a credential that is gone. */
export function noteCredentialUse(
  tx: Writer,
  { credentialId, organizationId, usedAt }: CredentialUseRow,
): void {
  tx.run(
    `INSERT INTO credential_uses (credential_id, organization_id, used_at) SELECT id, ?, ? FROM (
       SELECT id FROM api_keys WHERE id = ? UNION ALL SELECT id FROM authenticators WHERE id = ?
       UNION ALL SELECT id FROM read_only_sessions WHERE id = ?) WHERE true
     ON CONFLICT (credential_id) DO UPDATE SET used_at = excluded.used_at`,
    organizationId,
    usedAt,
    credentialId,
    credentialId,
    credentialId,
  );
}
