/** Transactions that programs send through the Ethereum door: which requests are under way, and with which nonce. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const transactions = table('ethereum_transactions', {
  id: text,
  /** The name of the program's key. */
  program: text,
  /** The SHA-256 of the request, in one form of writing. */
  request: text,
  /** The chain's id and the hash of its first block. */
  chain: text,
  address: text,
  /** Digits. */
  nonce: text,
  /** Hex. The activity that signs it is that of `createdAt`. */
  unsigned: text,
  /** Asked for, handed to the node, or answered to the caller. */
  state: text.of<'asked' | 'sent' | 'answered'>(),
  /** Of the signed transaction, once it was handed to the node. */
  hash: text.orNull,
  createdAt: number,
});

export type EthereumTransactionRow = RowOf<typeof transactions>;

export const insertTransaction = transactions.insert;

/** In the order of their creation. */
export const listTransactions = (tx: Reader, chain: string, address: string): EthereumTransactionRow[] =>
  tx.all<EthereumTransactionRow>(
    `SELECT ${transactions.columns} FROM ethereum_transactions WHERE chain = ? AND address = ?
     ORDER BY created_at, id`,
    chain,
    address,
  );

/** @returns false where it has ended since. */
export const markSent = (tx: Writer, id: string, hash: string): boolean =>
  tx.run(
    `UPDATE ethereum_transactions SET state = 'sent', hash = ? WHERE id = ? AND state <> 'answered'`,
    hash,
    id,
  ) === 1;

/** The caller has the hash of what was handed to the node. */
export function markAnswered(tx: Writer, id: string): void {
  tx.run(`UPDATE ethereum_transactions SET state = 'answered' WHERE id = ? AND state = 'sent'`, id);
}

/** A program is removed: another that gets its name repeats no request of it. The nonces stay taken. */
export function endTransactionsOf(tx: Writer, program: string): void {
  tx.run(`UPDATE ethereum_transactions SET state = 'answered' WHERE program = ?`, program);
}

/** @returns false where it was handed to the node since, or has ended. */
export const deleteAsked = (tx: Writer, id: string): boolean =>
  tx.run(`DELETE FROM ethereum_transactions WHERE id = ? AND state = 'asked'`, id) === 1;

export function deleteTransaction(tx: Writer, id: string): void {
  tx.run('DELETE FROM ethereum_transactions WHERE id = ?', id);
}

export function forgetTransactions(tx: Writer, before: number): void {
  tx.run('DELETE FROM ethereum_transactions WHERE created_at < ?', before);
}
