/**
 * Entries of the system's keychain that are on their way in or out: noted before the keychain is asked, crossed off
 * after, so that what a process that was killed left there is found again.
 */
import type { Reader, Writer } from '../connection.ts';

export const listKeychainLeftovers = (tx: Reader): string[] =>
  tx
    .all<{ account: string }>('SELECT account FROM keychain_leftovers ORDER BY account')
    .map(({ account }) => account);

export function noteKeychainLeftover(tx: Writer, account: string, now: number): void {
  tx.run('INSERT OR IGNORE INTO keychain_leftovers (account, noted_at) VALUES (?, ?)', account, now);
}

export function forgetKeychainLeftover(tx: Writer, account: string): void {
  tx.run('DELETE FROM keychain_leftovers WHERE account = ?', account);
}
