/** The single row that says which vault this file is. */
import { KeyhearthError } from '../../lib/errors.ts';
import type { Reader, Writer } from '../connection.ts';

export interface VaultRow {
  readonly id: string;
  readonly organizationId: string;
  readonly ownerUserId: string;
  readonly createdAt: number;
}

/** @returns undefined while no vault was created in the file. */
export const getVault = (tx: Reader): VaultRow | undefined =>
  tx.get<VaultRow>(
    'SELECT id, organization_id AS organizationId, owner_user_id AS ownerUserId, created_at AS createdAt FROM vault',
  );

/** @throws KeyhearthError VAULT_MISSING while no vault was created in the file. */
export function requireVault(tx: Reader): VaultRow {
  const vault = getVault(tx);
  if (vault !== undefined) return vault;
  throw new KeyhearthError(
    'VAULT_MISSING',
    'there is no vault yet: create one in the window or with `keyhearth init`',
  );
}

export function insertVault(tx: Writer, row: VaultRow): void {
  tx.run(
    'INSERT INTO vault (one, id, organization_id, owner_user_id, created_at) VALUES (1, ?, ?, ?, ?)',
    row.id,
    row.organizationId,
    row.ownerUserId,
    row.createdAt,
  );
}
