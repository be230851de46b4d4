/** Every column that holds sealed records, and what each record is sealed for: the list that a new master key goes by. */
import { rowKeyPlace } from './integrity.ts';
import { importTargetsTable } from './import-targets.ts';
import { messageChannelPlace } from './message-channels.ts';
import { privateKeyPlace } from './private-keys.ts';
import { serverKeyPlace, type ServerKeyName } from './server-keys.ts';
import { oneTimeCodesTable } from './one-time-codes.ts';
import { outboxPayloadsTable } from './outbox.ts';
import { walletsTable } from './wallets.ts';
import type { Reader, Writer } from './connection.ts';

/** What a record is bound to. */
interface Place {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL for the id that the place names. */
  readonly id: string;
  /** SQL for the organization that the place names. */
  readonly organizationId: string;
  readonly place: (id: string, organizationId: string) => Place;
}

const own = (table: string, place: (id: string, organizationId: string) => Place): SealedColumn => ({
  table,
  column: 'sealed',
  id: 'id',
  organizationId: 'organization_id',
  place,
});

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'server_keys',
    column: 'sealed',
    id: 'name',
    organizationId: '(SELECT organization_id FROM vault)',
    place: (name, organizationId) => serverKeyPlace(name as ServerKeyName, organizationId),
  },
  { table: 'integrity', column: 'sealed', id: "'row key'", organizationId: "''", place: () => rowKeyPlace },
  {
    table: 'message_channels',
    column: 'sealed',
    id: 'name',
    organizationId: "''",
    place: (name) => messageChannelPlace(name),
  },
  own('private_keys', (id, organizationId) => privateKeyPlace({ id, organizationId })),
  ...[walletsTable, importTargetsTable, oneTimeCodesTable, outboxPayloadsTable].map((table) =>
    own(table, (rowId, organizationId) => ({ table, rowId, organizationId })),
  ),
];

/** How many rows are held in memory at once. */
const pageSize = 1000;

interface SealedRow {
  readonly position: number;
  readonly id: string;
  readonly organizationId: string;
  readonly sealed: Uint8Array;
}

/** Goes through all sealed records, in the order of their tables and rows. */
export function forEachSealedRecord(tx: Reader, visit: (place: Place, sealed: Uint8Array) => void): void {
  for (const column of sealedColumns) {
    for (const row of rowsOf(tx, column)) visit(column.place(row.id, row.organizationId), row.sealed);
  }
}

/**
 * Replaces every sealed record by what `change` makes of it.
 * @returns How many there are.
 */
export function changeSealedRecords(
  tx: Writer,
  change: (place: Place, sealed: Uint8Array) => Uint8Array,
): number {
  let count = 0;
  for (const column of sealedColumns) {
    for (const row of rowsOf(tx, column)) {
      tx.run(
        `UPDATE ${column.table} SET ${column.column} = ? WHERE rowid = ?`,
        change(column.place(row.id, row.organizationId), row.sealed),
        row.position,
      );
      count += 1;
    }
  }
  return count;
}

/** A page at a time: a statement that is read from keeps its connection from writing. */
function* rowsOf(tx: Reader, { table, column, id, organizationId }: SealedColumn): Generator<SealedRow> {
  for (let after = 0; ;) {
    const rows = tx.all<SealedRow>(
      `SELECT rowid AS position, ${id} AS id, ${organizationId} AS organizationId, ${column} AS sealed
       FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${String(pageSize)}`,
      after,
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}
