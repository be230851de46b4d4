/** Every column that holds sealed records, with the context of each record: a new master key re-wraps all of them. */
import { rowKeyContext } from './tables/integrity.ts';
import { ethereumNodeContext } from './tables/ethereum-nodes.ts';
import { importTargetsTable } from './tables/import-targets.ts';
import { messageChannelContext } from './tables/message-channels.ts';
import { privateKeyContext } from './tables/private-keys.ts';
import { serverKeyContext, type ServerKeyName } from './tables/server-keys.ts';
import { oneTimeCodesTable } from './tables/one-time-codes.ts';
import { outboxPayloadsTable } from './tables/outbox.ts';
import { secretsTable } from './tables/secrets.ts';
import { walletsTable } from './tables/wallets.ts';
import type { Reader, Writer } from './connection.ts';
import { rowsByKey } from './keyset.ts';

/** The record that a secret is bound to. */
interface RecordContext {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL for the id in the context. */
  readonly id: string;
  /** SQL for the organization in the context. */
  readonly organizationId: string;
  readonly context: (id: string, organizationId: string) => RecordContext;
}

const own = (
  table: string,
  context: (id: string, organizationId: string) => RecordContext,
): SealedColumn => ({
  table,
  column: 'sealed',
  id: 'id',
  organizationId: 'organization_id',
  context,
});

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'server_keys',
    column: 'sealed',
    id: 'name',
    organizationId: '(SELECT organization_id FROM vault)',
    context: (name, organizationId) => serverKeyContext(name as ServerKeyName, organizationId),
  },
  {
    table: 'integrity',
    column: 'sealed',
    id: "'row key'",
    organizationId: "''",
    context: () => rowKeyContext,
  },
  {
    table: 'message_channels',
    column: 'sealed',
    id: 'name',
    organizationId: "''",
    context: (name) => messageChannelContext(name),
  },
  {
    table: 'ethereum_nodes',
    column: 'sealed',
    id: 'chain_id',
    organizationId: "''",
    context: (chainId) => ethereumNodeContext(chainId),
  },
  own('private_keys', (id, organizationId) => privateKeyContext({ id, organizationId })),
  ...[walletsTable, secretsTable, importTargetsTable, oneTimeCodesTable, outboxPayloadsTable].map((table) =>
    own(table, (rowId, organizationId) => ({ table, rowId, organizationId })),
  ),
];

interface SealedRow {
  readonly rowid: number;
  readonly id: string;
  readonly organizationId: string;
  readonly sealed: Uint8Array;
}

/** Goes through all sealed records, in the order of their tables and rows. */
export function forEachSealedRecord(
  tx: Reader,
  visit: (context: RecordContext, sealed: Uint8Array) => void,
): void {
  for (const column of sealedColumns) {
    for (const row of rowsOf(tx, column)) visit(column.context(row.id, row.organizationId), row.sealed);
  }
}

/**
 * Replaces every sealed record by what `change` makes of it.
 * @returns How many there are.
 */
export function changeSealedRecords(
  tx: Writer,
  change: (context: RecordContext, sealed: Uint8Array) => Uint8Array,
): number {
  let count = 0;
  for (const column of sealedColumns) {
    for (const row of rowsOf(tx, column)) {
      tx.run(
        `UPDATE ${column.table} SET ${column.column} = ? WHERE rowid = ?`,
        change(column.context(row.id, row.organizationId), row.sealed),
        row.rowid,
      );
      count += 1;
    }
  }
  return count;
}

const rowsOf = (tx: Reader, { table, column, id, organizationId }: SealedColumn): Generator<SealedRow> =>
  rowsByKey<SealedRow>(tx, {
    columns: `rowid AS rowid, ${id} AS id, ${organizationId} AS organizationId, ${column} AS sealed`,
    from: table,
    key: ['rowid'],
    pageSize: 1000,
  });
