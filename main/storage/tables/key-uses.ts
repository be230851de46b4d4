/** When wallets and private keys last signed. The vault shows these times and decides nothing by them. */
import type { Reader, Writer } from '../connection.ts';

export interface KeyUseRow {
  /** Of a wallet or a private key. */
  readonly keyId: string;
  readonly organizationId: string;
  /** Milliseconds. */
  readonly usedAt: number;
}

export const listKeyUses = (tx: Reader, organizationId: string): KeyUseRow[] =>
  tx.all<KeyUseRow>(
    'SELECT key_id AS keyId, organization_id AS organizationId, used_at AS usedAt FROM key_uses WHERE organization_id = ?',
    organizationId,
  );

/** Notes nothing of a key that was deleted. */
export function noteKeyUse(tx: Writer, { keyId, organizationId, usedAt }: KeyUseRow): void {
  tx.run(
    `INSERT INTO key_uses (key_id, organization_id, used_at) SELECT id, ?, ? FROM (
       SELECT id FROM wallets WHERE id = ? UNION ALL SELECT id FROM private_keys WHERE id = ?) WHERE true
     ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at`,
    organizationId,
    usedAt,
    keyId,
    keyId,
  );
}
