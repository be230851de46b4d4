/** Accounts of a wallet as a list of any length, in the order of creation. */
import type { Reader, Value } from '../connection.ts';
import { anywhere, lookThrough, readNumbers, type Slice } from '../slices.ts';
import { accountColumns, type WalletAccountRow } from './wallet-accounts.ts';

/** Filters for accounts; an absent one matches all. */
export interface AccountSearch {
  readonly addressFormats?: readonly string[];
  /** Somewhere in the address, the name, the path or the public key. */
  readonly text?: string;
}

const somewhere = ['address', 'name', 'path', 'public_key']
  .map((column) => `coalesce(${column}, '') LIKE ? ESCAPE '\\'`)
  .join(' OR ');

/** Rows that are looked at before the clock is. */
const firstStretch = 500;

/**
 * Finds the accounts of a wallet that fit a search, as far as one slice reaches.
 * @param after The row after which it begins.
 * @returns numbers of rows.
 */
export function findAccounts(tx: Reader, walletId: string, search: AccountSearch, after: number): Slice {
  const parts: [sql: string, ...values: Value[]][] = [];
  const { addressFormats, text } = search;
  if (addressFormats) {
    parts.push(['address_format IN (SELECT value FROM json_each(?))', JSON.stringify(addressFormats)]);
  }
  if (text !== undefined) parts.push([`(${somewhere})`, ...new Array<string>(4).fill(anywhere(text))]);
  const fits = parts.length === 0 ? '1' : parts.map(([sql]) => sql).join(' AND ');
  const values = parts.flatMap(([, ...each]) => each);
  return lookThrough(
    (from, rows) => {
      const row = tx.get<{ found: string; looked: number; last: number | null }>(
        `SELECT json_group_array(sequence) FILTER (WHERE fits) AS found, count(*) AS looked, max(sequence) AS last
         FROM (SELECT sequence, ${fits} AS fits FROM wallet_accounts INDEXED BY wallet_accounts_wallet
           WHERE wallet_id = ? AND sequence > ? ORDER BY sequence LIMIT ?)`,
        ...values,
        walletId,
        from,
        rows,
      );
      return { found: readNumbers(row?.found ?? '[]'), looked: row?.looked ?? 0, last: row?.last ?? null };
    },
    after,
    { first: firstStretch },
  );
}

/** The account of a wallet that has a row's number. */
export const getAccountAtPlace = (
  tx: Reader,
  walletId: string,
  sequence: number,
): WalletAccountRow | undefined =>
  tx.get<WalletAccountRow>(
    `SELECT ${accountColumns} FROM wallet_accounts WHERE sequence = ? AND wallet_id = ?`,
    sequence,
    walletId,
  );

/** The address format that follows one by its name among the accounts of a wallet; undefined at the end. */
export const nextAddressFormat = (tx: Reader, walletId: string, after: string): string | undefined =>
  tx.get<{ format: string | null }>(
    'SELECT min(address_format) AS format FROM wallet_accounts WHERE wallet_id = ? AND address_format > ?',
    walletId,
    after,
  )?.format ?? undefined;

/** Rows that are counted at a time: about two milliseconds. */
const countedRows = 20_000;

/**
 * Counts a wallet's accounts of a format, as far as one slice reaches.
 * @param after The row after which it begins.
 * @returns `next`, the row to continue from; null at the end.
 */
export function countAccounts(
  tx: Reader,
  walletId: string,
  addressFormat: string,
  after: number,
): { readonly count: number; readonly next: number | null } {
  const row = tx.get<{ count: number; last: number | null }>(
    `SELECT count(*) AS count, max(sequence) AS last FROM (
       SELECT sequence FROM wallet_accounts INDEXED BY wallet_accounts_formats
       WHERE wallet_id = ? AND address_format = ? AND sequence > ? ORDER BY sequence LIMIT ?)`,
    walletId,
    addressFormat,
    after,
    countedRows,
  );
  const count = row?.count ?? 0;
  return { count, next: count < countedRows ? null : (row?.last ?? null) };
}
