/** Private keys, sealed, with their addresses and tags. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { listTagIdsOf } from './tags.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const privateKeys = table('private_keys', {
  id: text,
  organizationId: text,
  name: text,
  curve: text,
  /** Hex: compressed SEC1 or 32-byte Ed25519. */
  publicKey: text,
  sealed: blob,
  exported: number,
  imported: number,
  createdAt: number,
  updatedAt: number,
});

export type PrivateKeyRow = RowOf<typeof privateKeys>;

export interface Address {
  readonly format: string;
  readonly address: string;
}

/** A private key as the API shows one: never the key itself. */
export interface PrivateKey {
  readonly privateKeyId: string;
  readonly publicKey: string;
  readonly privateKeyName: string;
  readonly curve: string;
  readonly addresses: readonly Address[];
  readonly privateKeyTags: readonly string[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly exported: boolean;
  readonly imported: boolean;
}

/** The context that a private key is sealed in. */
export const privateKeyContext = ({
  id,
  organizationId,
}: Pick<PrivateKeyRow, 'id' | 'organizationId'>): {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
} => ({ table: 'private_keys', rowId: id, organizationId });

export const getPrivateKeyRow = (tx: Reader, organizationId: string, id: string): PrivateKeyRow | undefined =>
  tx.kept<PrivateKeyRow>(
    `SELECT ${privateKeys.columns} FROM private_keys WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const findPrivateKeyByName = (
  tx: Reader,
  organizationId: string,
  name: string,
): PrivateKeyRow | undefined =>
  tx.get<PrivateKeyRow>(
    `SELECT ${privateKeys.columns} FROM private_keys WHERE organization_id = ? AND name = ?`,
    organizationId,
    name,
  );

/** The key that has this address, and the format that it is of. */
export function findPrivateKeyByAddress(
  tx: Reader,
  organizationId: string,
  address: string,
): { readonly key: PrivateKeyRow; readonly format: string } | undefined {
  const found = tx.kept<{ readonly privateKeyId: string; readonly format: string }>(
    `SELECT private_key_id AS privateKeyId, format FROM private_key_addresses
     WHERE organization_id = ? AND address = ? LIMIT 1`,
    organizationId,
    address,
  );
  const key = found && getPrivateKeyRow(tx, organizationId, found.privateKeyId);
  return key && { key, format: found.format };
}

/** One for each curve that the public key is of. */
export const listIdsOfPublicKey = (
  tx: Reader,
  organizationId: string,
  publicKey: string,
): readonly string[] =>
  tx
    .keptAll<{ readonly id: string }>(
      'SELECT id FROM private_keys WHERE organization_id = ? AND public_key = ?',
      organizationId,
      publicKey,
    )
    .map(({ id }) => id);

/** In the order of creation. */
export const listPrivateKeyRows = (tx: Reader, organizationId: string): PrivateKeyRow[] =>
  tx.all<PrivateKeyRow>(
    `SELECT ${privateKeys.columns} FROM private_keys WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const countPrivateKeys = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM private_keys WHERE organization_id = ?',
    organizationId,
  )?.count ?? 0;

export function insertPrivateKey(tx: Writer, row: PrivateKeyRow, addresses: readonly Address[]): void {
  privateKeys.insert(tx, row);
  addresses.forEach(({ format, address }, position) =>
    tx.run(
      `INSERT INTO private_key_addresses (private_key_id, position, organization_id, format, address)
       VALUES (?, ?, ?, ?, ?)`,
      row.id,
      position,
      row.organizationId,
      format,
      address,
    ),
  );
}

export function markPrivateKeyExported(tx: Writer, id: string, updatedAt: number): void {
  tx.run('UPDATE private_keys SET exported = 1, updated_at = ? WHERE id = ?', updatedAt, id);
}

export function deletePrivateKey(tx: Writer, id: string): void {
  tx.run('DELETE FROM private_keys WHERE id = ?', id);
}

export const listAddresses = (tx: Reader, privateKeyId: string): Address[] =>
  tx.all<Address>(
    'SELECT format, address FROM private_key_addresses WHERE private_key_id = ? ORDER BY position',
    privateKeyId,
  );

export const toPrivateKey = (tx: Reader, row: PrivateKeyRow): PrivateKey => ({
  privateKeyId: row.id,
  publicKey: row.publicKey,
  privateKeyName: row.name,
  curve: row.curve,
  addresses: listAddresses(tx, row.id),
  privateKeyTags: listTagIdsOf(tx, 'TAG_TYPE_PRIVATE_KEY', row.id),
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  exported: row.exported === 1,
  imported: row.imported === 1,
});
