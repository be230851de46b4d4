/** HD wallets: one sealed mnemonic each. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const wallets = table('wallets', {
  id: text,
  organizationId: text,
  name: text,
  /** The mnemonic, UTF-8, sealed. */
  sealed: blob,
  exported: number,
  imported: number,
  createdAt: number,
  updatedAt: number,
});

export type WalletRow = RowOf<typeof wallets>;

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

export const getWalletRow = (tx: Reader, organizationId: string, id: string): WalletRow | undefined =>
  tx.kept<WalletRow>(
    `SELECT ${wallets.columns} FROM wallets WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const findWalletByName = (tx: Reader, organizationId: string, name: string): WalletRow | undefined =>
  tx.get<WalletRow>(
    `SELECT ${wallets.columns} FROM wallets WHERE organization_id = ? AND name = ?`,
    organizationId,
    name,
  );

/** In the order of creation. */
export const listWalletRows = (tx: Reader, organizationId: string): WalletRow[] =>
  tx.all<WalletRow>(
    `SELECT ${wallets.columns} FROM wallets WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

export const countWallets = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM wallets WHERE organization_id = ?', organizationId)
    ?.count ?? 0;

export const insertWallet = wallets.insert;

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
