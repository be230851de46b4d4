/** Wallet accounts: a derivation path of a wallet, and the address found there. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { isBackwards, type Page } from '../page.ts';
import { number, table, text, type RowOf } from '../table.ts';

const walletAccounts = table('wallet_accounts', {
  id: text,
  organizationId: text,
  walletId: text,
  name: text.orNull,
  curve: text,
  path: text,
  addressFormat: text,
  address: text,
  /** Hex: compressed SEC1 or 32-byte Ed25519. */
  publicKey: text,
  /** 1 when its own private key was exported. */
  exported: number,
  createdAt: number,
  updatedAt: number,
});

export type WalletAccountRow = RowOf<typeof walletAccounts>;

/** A wallet account as the API shows one. */
export interface WalletAccount {
  readonly walletAccountId: string;
  readonly organizationId: string;
  readonly walletId: string;
  readonly curve: string;
  readonly pathFormat: 'PATH_FORMAT_BIP32';
  readonly path: string;
  readonly addressFormat: string;
  readonly address: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly publicKey: string;
  readonly name?: string;
}

export const accountColumns = walletAccounts.columns;

/** @returns the id of the wallet's account with this path and form. */
export const findAccountId = (
  tx: Reader,
  walletId: string,
  account: Pick<WalletAccountRow, 'path' | 'curve' | 'addressFormat'>,
): string | undefined =>
  tx.get<{ readonly id: string }>(
    'SELECT id FROM wallet_accounts WHERE wallet_id = ? AND path = ? AND curve = ? AND address_format = ?',
    walletId,
    account.path,
    account.curve,
    account.addressFormat,
  )?.id;

/** The first account that has this address. */
export const findAccountByAddress = (
  tx: Reader,
  organizationId: string,
  address: string,
): WalletAccountRow | undefined =>
  tx.kept<WalletAccountRow>(
    `SELECT ${accountColumns} FROM wallet_accounts WHERE organization_id = ? AND address = ? ORDER BY sequence LIMIT 1`,
    organizationId,
    address,
  );

/** The first account that has this public key. */
export const findAccountByPublicKey = (
  tx: Reader,
  organizationId: string,
  curve: string,
  publicKey: string,
): WalletAccountRow | undefined =>
  tx.get<WalletAccountRow>(
    `SELECT ${accountColumns} FROM wallet_accounts WHERE organization_id = ? AND public_key = ? AND curve = ?
     ORDER BY sequence LIMIT 1`,
    organizationId,
    publicKey,
    curve,
  );

/** Addresses of accounts and private keys that begin so, in either case; at most 100 of each. */
export function listAddressesThatBegin(tx: Reader, organizationId: string, beginning: string): string[] {
  const ofTable = (table: 'wallet_accounts' | 'private_key_addresses') =>
    tx.all<{ readonly address: string }>(
      `SELECT address FROM ${table}
       WHERE organization_id = ? AND address COLLATE NOCASE >= ? AND address COLLATE NOCASE < ? LIMIT 100`,
      organizationId,
      beginning,
      beginning + afterAll,
    );
  return [...ofTable('wallet_accounts'), ...ofTable('private_key_addresses')].map(({ address }) => address);
}

/** Comes after every character that addresses have. */
const afterAll = '\u{10ffff}';

/** The addresses of all accounts that have this public key. */
export const listAddressesOfPublicKey = (
  tx: Reader,
  organizationId: string,
  publicKey: string,
): readonly string[] =>
  tx
    .keptAll<{ readonly address: string }>(
      'SELECT DISTINCT address FROM wallet_accounts WHERE organization_id = ? AND public_key = ?',
      organizationId,
      publicKey,
    )
    .map(({ address }) => address);

export const countAccounts = (tx: Reader, walletId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM wallet_accounts WHERE wallet_id = ?', walletId)
    ?.count ?? 0;

export const getAccountRow = (tx: Reader, organizationId: string, id: string): WalletAccountRow | undefined =>
  tx.get<WalletAccountRow>(
    `SELECT ${accountColumns} FROM wallet_accounts WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** The first account of a wallet at a path, in whichever format. */
export const findAccountByPath = (tx: Reader, walletId: string, path: string): WalletAccountRow | undefined =>
  tx.get<WalletAccountRow>(
    `SELECT ${accountColumns} FROM wallet_accounts WHERE wallet_id = ? AND path = ? ORDER BY sequence LIMIT 1`,
    walletId,
    path,
  );

export function markAccountExported(tx: Writer, id: string, updatedAt: number): void {
  tx.run('UPDATE wallet_accounts SET exported = 1, updated_at = ? WHERE id = ?', updatedAt, id);
}

/** @param name Null for none. */
export function renameAccount(tx: Writer, id: string, name: string | null, updatedAt: number): void {
  tx.run('UPDATE wallet_accounts SET name = ?, updated_at = ? WHERE id = ?', name, updatedAt, id);
}

export function deleteAccount(tx: Writer, id: string): void {
  tx.run('DELETE FROM wallet_accounts WHERE id = ?', id);
}

const sequenceOf = (tx: Reader, organizationId: string, id: string): number | undefined =>
  tx.get<{ sequence: number }>(
    'SELECT sequence FROM wallet_accounts WHERE id = ? AND organization_id = ?',
    id,
    organizationId,
  )?.sequence;

/**
 * In the order of creation.
 * @param walletId Null for the accounts of every wallet of the organization.
 * @returns undefined if the page's cursor is not an account of the organization.
 */
export function listAccountRows(
  tx: Reader,
  organizationId: string,
  walletId: string | null,
  page: Page,
): WalletAccountRow[] | undefined {
  const after = page.after === undefined ? 0 : sequenceOf(tx, organizationId, page.after);
  const before =
    page.before === undefined ? Number.MAX_SAFE_INTEGER : sequenceOf(tx, organizationId, page.before);
  if (after === undefined || before === undefined) return undefined;
  // Before a cursor means the rows next to it, so they are taken from the end and put back in order.
  const backwards = isBackwards(page);
  const rows =
    walletId === null
      ? tx.all<WalletAccountRow>(
          `SELECT ${accountColumns} FROM wallet_accounts WHERE organization_id = ? AND sequence > ? AND sequence < ?
           ORDER BY sequence ${backwards ? 'DESC' : 'ASC'} LIMIT ?`,
          organizationId,
          after,
          before,
          page.limit,
        )
      : tx.all<WalletAccountRow>(
          `SELECT ${accountColumns} FROM wallet_accounts
           WHERE organization_id = ? AND wallet_id = ? AND sequence > ? AND sequence < ?
           ORDER BY sequence ${backwards ? 'DESC' : 'ASC'} LIMIT ?`,
          organizationId,
          walletId,
          after,
          before,
          page.limit,
        );
  return backwards ? rows.reverse() : rows;
}

export const insertAccount = walletAccounts.insert;

export const toWalletAccount = (row: WalletAccountRow): WalletAccount => ({
  walletAccountId: row.id,
  organizationId: row.organizationId,
  walletId: row.walletId,
  curve: row.curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path: row.path,
  addressFormat: row.addressFormat,
  address: row.address,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  publicKey: row.publicKey,
  ...(row.name === null ? {} : { name: row.name }),
});
