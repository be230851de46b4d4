/** Names for addresses of others: the address book of an organization. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const knownAddresses = table('known_addresses', {
  id: text,
  organizationId: text,
  name: text,
  /** As its chain writes it: Ethereum's with its checksum, Bech32 in small letters. */
  address: text,
  createdAt: number,
});

export type KnownAddressRow = RowOf<typeof knownAddresses>;

/** As the API shows one. */
export interface KnownAddress {
  readonly knownAddressId: string;
  readonly name: string;
  readonly address: string;
  readonly createdAt: Timestamp;
}

export const getKnownAddressRow = (
  tx: Reader,
  organizationId: string,
  id: string,
): KnownAddressRow | undefined =>
  tx.get<KnownAddressRow>(
    `SELECT ${knownAddresses.columns} FROM known_addresses WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const findKnownAddress = (
  tx: Reader,
  organizationId: string,
  address: string,
): KnownAddressRow | undefined =>
  tx.get<KnownAddressRow>(
    `SELECT ${knownAddresses.columns} FROM known_addresses WHERE organization_id = ? AND address = ?`,
    organizationId,
    address,
  );

/** By name. */
export const listKnownAddressRows = (tx: Reader, organizationId: string): KnownAddressRow[] =>
  tx.all<KnownAddressRow>(
    `SELECT ${knownAddresses.columns} FROM known_addresses WHERE organization_id = ? ORDER BY name COLLATE NOCASE, name`,
    organizationId,
  );

export const insertKnownAddress = knownAddresses.insert;

export function deleteKnownAddressRow(tx: Writer, id: string): void {
  tx.run('DELETE FROM known_addresses WHERE id = ?', id);
}

export const toKnownAddress = (row: KnownAddressRow): KnownAddress => ({
  knownAddressId: row.id,
  name: row.name,
  address: row.address,
  createdAt: timestamp(row.createdAt),
});
