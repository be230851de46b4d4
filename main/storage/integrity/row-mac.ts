/**
 * Authenticates rows that Keyhearth wrote: the authenticated columns, the HMAC over them, and the triggers
 * that write it.
 */
import type { Reader, Value } from '../connection.ts';

/** HMAC-SHA-256 under the row key. */
export type Mac = (data: string | Uint8Array) => Uint8Array;

/** Tables and columns that are not authenticated, and why changing them gains an attacker nothing. */
export const unprotected: Readonly<
  Record<string, { readonly columns?: readonly string[]; readonly why: string }>
> = {
  activities: { why: 'each row carries the hash of the one before it; the last is sealed with the sums' },
  log_heads: { why: 'each row is signed, and checked against the log' },
  integrity: { why: 'it is what authenticates: its columns open under the master key and the row key' },
  credential_uses: {
    why: 'written for many requests together, after them; it is shown, and decides nothing',
  },
  key_uses: {
    why: 'written for many requests together, after them; it is shown, and decides nothing',
  },
  security_events_waiting: {
    why: 'written while the vault is locked; it counts what may happen then, and the unlock checks that before it takes it up',
  },
  backups: { why: 'written while the vault is locked too; it is shown, and decides nothing' },
  backup_schedule: {
    columns: ['last_failure', 'last_failure_at'],
    why: 'written while the vault is locked too; they are shown, and decide nothing',
  },
  place_key: { why: 'another key gives rows other numbers in lists, and shows nothing' },
  freeze: {
    why: 'written while the vault is locked too; who takes it away can open the vault as before it was frozen, with the keychain',
  },
  outbox: {
    columns: ['state', 'attempts', 'next_at', 'failing_since', 'finished_at', 'note'],
    why: 'what became of a delivery, also of one that ends as the vault is locked; what is delivered and to whom is authenticated',
  },
  webhook_endpoints: {
    columns: ['place', 'switched_off_at', 'failing_since'],
    why: 'how far an endpoint has got, also as the vault is locked; what it gets is rows of the log, to an address that is authenticated',
  },
  webhook_deliveries: {
    why: 'what became of events; what is sent again by it is a row of the log, to an endpoint that is authenticated',
  },
};

export interface ProtectedTable {
  readonly name: string;
  /** All that is authenticated, in the table's order. */
  readonly columns: readonly string[];
  /** The columns that identify its rows, and read them in the order of the table itself. */
  readonly key: readonly string[];
  readonly primaryKey: readonly string[];
}

interface ColumnInfo {
  readonly name: string;
  /** The column's place in the primary key, 0 outside it. */
  readonly pk: number;
}

export function protectedTables(tx: Reader): readonly ProtectedTable[] {
  const tables = tx.all<{ name: string; wr: number }>(
    "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name",
  );
  return tables.flatMap(({ name, wr }) => {
    const info = tx.all<ColumnInfo>('SELECT name, pk FROM pragma_table_info(?)', name);
    if (!info.some((column) => column.name === 'mac')) return [];
    const left = ['mac', ...(unprotected[name]?.columns ?? [])];
    const primaryKey = info
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map((column) => column.name);
    return [
      {
        name,
        columns: info.map((column) => column.name).filter((column) => !left.includes(column)),
        key: wr === 1 ? primaryKey : ['rowid'],
        primaryKey,
      },
    ];
  });
}

/**
 * The authenticated part of a row, as a text that is unique to it. A column that is null is left out, so a
 * later version may add columns that are null in today's rows.
 */
export function canonical({ name, columns }: ProtectedTable, values: readonly Value[]): string {
  const parts: unknown[] = [name];
  columns.forEach((column, index) => {
    const value = values[index];
    if (value === undefined || value === null) return;
    parts.push(column, value instanceof Uint8Array ? [Buffer.from(value).toString('hex')] : value);
  });
  return JSON.stringify(parts);
}

/** A row's part of its table's sum, by the row's HMAC; it is never written anywhere. */
export const partOf = (mac: Mac, rowMac: Uint8Array): Uint8Array =>
  mac(`part ${Buffer.from(rowMac).toString('hex')}`);

/** Writes the HMACs of the rows that a condition names, or of all. */
export const authenticate = ({ name, columns }: ProtectedTable, where = ''): string =>
  `UPDATE "${name}" SET mac = row_mac('${name}', ${columns.map((column) => `"${column}"`).join(', ')}) ${where}`;

/**
 * The HMAC is over the row as it is in the table, and not over what the statement wrote: a trigger of the file's own
 * may have changed it since. The sums follow the HMACs, whatever changed those.
 */
export function triggersOf(table: ProtectedTable): string {
  const { name, columns, key } = table;
  const same = key.map((column) => `"${column}" = NEW."${column}"`).join(' AND ');
  const write = authenticate(table, `WHERE ${same}`);
  const keepSum = (change: string): string => `UPDATE row_sums SET ${change} WHERE name = '${name}'`;
  return `
    CREATE TEMP TRIGGER ${name}_mac_insert AFTER INSERT ON main."${name}" BEGIN ${write}; END;
    CREATE TEMP TRIGGER ${name}_mac_update AFTER UPDATE OF ${columns.map((column) => `"${column}"`).join(', ')} ON main."${name}"
      BEGIN ${write}; END;
    CREATE TEMP TRIGGER ${name}_mac_sum AFTER UPDATE OF mac ON main."${name}"
      BEGIN ${keepSum('sum = sum_swap(sum, OLD.mac, NEW.mac), rows = rows + (OLD.mac IS NULL)')}; END;
    CREATE TEMP TRIGGER ${name}_mac_delete AFTER DELETE ON main."${name}"
      BEGIN ${keepSum('sum = sum_swap(sum, OLD.mac, NULL), rows = rows - 1')}; END;
  `;
}
