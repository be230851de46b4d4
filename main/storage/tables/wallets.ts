/** HD wallets: one sealed mnemonic each. */
import { timestamp, type Timestamp } from '../lib/clock.ts';
import type { Reader, Writer } from './connection.ts';

export interface WalletRow {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** The mnemonic, UTF-8, sealed. */
  readonly sealed: Uint8Array;
  readonly exported: number;
  readonly imported: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A wallet as the API shows one. */
export interface Wallet {
  readonly walletId: string;
  readonly walletName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly exported: boolean;
  readonly imported: boolean;
}

export const walletsTable = 'wallets';

const columns = `id, organization_id AS organizationId, name, sealed, exported, imported, created_at AS createdAt,
  updated_at AS updatedAt`;

export const getWalletRow = (tx: Reader, organizationId: string, id: string): WalletRow | undefined =>
  tx.get<WalletRow>(
    `SELECT ${columns} FROM wallets WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const findWalletByName = (tx: Reader, organizationId: string, name: string): WalletRow | undefined =>
  tx.get<WalletRow>(
    `SELECT ${columns} FROM wallets WHERE organization_id = ? AND name = ?`,
    organizationId,
    name,
  );

/** In the order of creation. */
export const listWalletRows = (tx: Reader, organizationId: string): WalletRow[] =>
  tx.all<WalletRow>(
    `SELECT ${columns} FROM wallets WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const countWallets = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM wallets WHERE organization_id = ?', organizationId)
    ?.count ?? 0;

export function insertWallet(tx: Writer, row: WalletRow): void {
  tx.run(
    `INSERT INTO wallets (id, organization_id, name, sealed, exported, imported, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.name,
    row.sealed,
    row.exported,
    row.imported,
    row.createdAt,
    row.updatedAt,
  );
}

export function renameWallet(tx: Writer, id: string, name: string, updatedAt: number): void {
  tx.run('UPDATE wallets SET name = ?, updated_at = ? WHERE id = ?', name, updatedAt, id);
}

export function markWalletExported(tx: Writer, id: string, updatedAt: number): void {
  tx.run('UPDATE wallets SET exported = 1, updated_at = ? WHERE id = ?', updatedAt, id);
}

/** Removes a wallet with its accounts. */
export function deleteWallet(tx: Writer, id: string): void {
  tx.run('DELETE FROM wallets WHERE id = ?', id);
}

export const toWallet = (row: WalletRow): Wallet => ({
  walletId: row.id,
  walletName: row.name,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  exported: row.exported === 1,
  imported: row.imported === 1,
});
