/**
 * Rows that nearly every request asks for, kept in memory: the caller, its organization, the key that signs. A connection
 * forgets all of them with each statement that may have changed one, with each undoing, and once another process has
 * written. So a kept row is never older or newer than what the file answers at that very point of a transaction.
 */
import { Lru } from '../lib/lru.ts';

/**
 * Tables that requests write all the time. A write to them leaves the kept rows of others as they are, since it changes
 * nothing else: they have no triggers that write what is kept, and no table is deleted from with them. Their own rows are not kept.
 */
export const unkeptTables = [
  'activities',
  'integrity',
  'policy_evaluations',
  'policy_lists',
  'policy_reservations',
] as const;

const names = unkeptTables.join('|');
const ofUnkept = new RegExp(`\\b(${names})\\b`);
const writesUnkept = new RegExp(
  `^\\s*(?:INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM) (?:main\\.)?"?(?:${names})"?[ (]`,
);

/** Statements that SQLite counts among those that write, and that change no row. */
const changesNothing = /^(?:BEGIN IMMEDIATE|PRAGMA wal_checkpoint\(NOOP\))$/;

/** True for a statement after which each kept row is as before. What is not known to be so may change any. */
export const leavesKept = (sql: string): boolean => changesNothing.test(sql) || writesUnkept.test(sql);

/** Rows of one statement, with different values. */
const most = 1024;
/** Lists of one statement: each may have many rows. */
const mostLists = 32;

/** Stands for a row that is not there. */
const missing = Object.freeze({});

export class KeptRows {
  readonly #byStatement = new Map<string, Lru<string, object>>();
  readonly #lists = new Map<string, Lru<string, readonly object[]>>();

  /**
   * @param read Asks the file.
   * @throws Error for a table whose rows are not kept.
   */
  get<Row extends object>(
    sql: string,
    values: readonly string[],
    read: () => Row | undefined,
  ): Row | undefined {
    const rows = ofStatement(this.#byStatement, sql, most);
    const key = keyOf(values);
    const kept = rows.get(key);
    if (kept !== undefined) return kept === missing ? undefined : (kept as Row);
    const row = read();
    // Shared by all who ask for it.
    rows.set(key, row === undefined ? missing : Object.freeze(row));
    return row;
  }

  /** As `get`, for all rows of a statement. */
  all<Row extends object>(sql: string, values: readonly string[], read: () => Row[]): readonly Row[] {
    const lists = ofStatement(this.#lists, sql, mostLists);
    const key = keyOf(values);
    const kept = lists.get(key);
    if (kept !== undefined) return kept as readonly Row[];
    const rows = Object.freeze(read().map((row) => Object.freeze(row)));
    lists.set(key, rows);
    return rows;
  }

  forget(): void {
    this.#byStatement.clear();
    this.#lists.clear();
  }
}

function ofStatement<Kept>(
  known: Map<string, Lru<string, Kept>>,
  sql: string,
  capacity: number,
): Lru<string, Kept> {
  const before = known.get(sql);
  if (before !== undefined) return before;
  if (ofUnkept.test(sql)) throw new Error(`rows of this statement are not kept: ${sql}`);
  const kept = new Lru<string, Kept>(capacity);
  known.set(sql, kept);
  return kept;
}

function keyOf(values: readonly string[]): string {
  const [only = ''] = values;
  return values.length === 1 ? only : JSON.stringify(values);
}
