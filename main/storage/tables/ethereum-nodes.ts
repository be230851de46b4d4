/** The owner's nodes, one for each chain. Their addresses are sealed: many have a secret in the path. */
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const nodes = table('ethereum_nodes', {
  /** Digits. */
  chainId: text,
  /** Scheme, host and port. */
  origin: text,
  /** The address, in UTF-8. */
  sealed: blob,
  updatedAt: number,
  /** 1 where the node may be asked what a transaction would do. A row of an earlier version has null. */
  previews: number.orNull,
});

export type EthereumNodeRow = RowOf<typeof nodes>;

/** The context that an address is sealed in. */
export const ethereumNodeContext = (chainId: string) =>
  ({ table: 'ethereum_nodes', rowId: chainId, organizationId: '' }) as const;

export const getNode = (tx: Reader, chainId: string): EthereumNodeRow | undefined =>
  tx.get<EthereumNodeRow>(`SELECT ${nodes.columns} FROM ethereum_nodes WHERE chain_id = ?`, chainId);

export const listNodes = (tx: Reader): EthereumNodeRow[] =>
  tx.all<EthereumNodeRow>(`SELECT ${nodes.columns} FROM ethereum_nodes ORDER BY length(chain_id), chain_id`);

export const deleteNode = (tx: Writer, chainId: string): number =>
  tx.run('DELETE FROM ethereum_nodes WHERE chain_id = ?', chainId);

export function putNode(tx: Writer, row: EthereumNodeRow): void {
  deleteNode(tx, row.chainId);
  nodes.insert(tx, row);
}
