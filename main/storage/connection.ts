/**
 * One SQLite connection with its prepared statements. `Reader` and `Writer` are the two ways to hold it: a function
 * that writes says so by taking a `Writer`, and only `UnitOfWork` hands one out, inside a transaction.
 */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { namingShortage } from '../files/open-files.ts';
import { DamagedFileError, isDamage } from './file/damage.ts';
import { FileIdentity } from './file/file-identity.ts';
import { KeptRows, leavesKept } from './kept-rows.ts';

// The first database loads the addon. A thread that is terminated while it loads an addon ends the whole process, so a thread
// loads it with its modules, when it cannot be terminated yet.
if (!isMainThread) new Sqlite(':memory:').close();

export type Value = string | number | bigint | Uint8Array | null;

/** A row of the log that says that its activity waits for votes. */
export interface WaitingRevision {
  readonly id: string;
  readonly sequence: number;
  /** Recomputed from what was read. */
  readonly hash: Uint8Array;
}

/** Knows what waits for votes, from the rows of the log that were followed or written here. */
export interface WaitingCheck {
  /** False until the log was followed since the unlock: rows pass unchecked until then. */
  readonly isFollowed: boolean;
  /** @throws KeyhearthError VAULT_TAMPERED for a row that is not as it was written, or that a later one followed. */
  checkWaiting(row: WaitingRevision): void;
}

export interface Reader {
  /** The first row, or undefined. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined;
  all<Row>(sql: string, ...values: readonly Value[]): Row[];
  /** As `get`, for rows that nearly every request asks for: they are kept in memory for as long as nothing can have changed. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  kept<Row extends object>(sql: string, ...values: readonly string[]): Row | undefined;
  /** As `all`, for lists that decisions ask for again and again. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  keptAll<Row extends object>(sql: string, ...values: readonly string[]): readonly Row[];
  /** Absent where nothing guards the file: in copies, and in other threads. */
  readonly waiting?: WaitingCheck;
}

export interface Writer extends Reader {
  /** @returns the number of rows changed. */
  run(sql: string, ...values: readonly Value[]): number;
  /** Runs `work`; what it wrote is undone if it throws, what was written before it stays. */
  savepoint<T>(work: () => T): T;
}

/** Milliseconds that a statement waits for another process that holds the file. */
const busyTimeout = 5000;

/** Pragmas of every vault file: durable at COMMIT, readers never wait for the writer. */
const pragmas = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  // So that REPLACE, which deletes, meets the triggers against deletion.
  'recursive_triggers = ON',
  // A connection's temporary data never reaches the disk.
  'temp_store = MEMORY',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  // Deleted and replaced data is overwritten: a removed key does not stay in a free page.
  'secure_delete = ON',
  `busy_timeout = ${String(busyTimeout)}`,
  // Once it restarts, the write-ahead log is cut to this, in bytes.
  'journal_size_limit = 16777216',
] as const;

/** Indexes are read in another order than the table: with a small cache each row would be a read of the disk, or several. */
const verifyPragmas = [
  'trusted_schema = OFF',
  'cell_size_check = ON',
  `busy_timeout = ${String(busyTimeout)}`,
  // In KiB.
  'cache_size = -131072',
] as const;

/** Pages that are copied before other work gets its turn: 1 MiB. */
const pagesAtOnce = 256;

/** Such parts of a copy that may be written before they are synced. */
const syncedAtOnce = 4;

/** A prepared statement, and what it does to others. */
interface Prepared {
  readonly statement: Sqlite.Statement;
  readonly writes: boolean;
  readonly leavesKept: boolean;
}

/** A savepoint is set before the first write in it: most that are opened need none. */
interface Savepoint {
  readonly name: string;
  isSet: boolean;
}

function openSqlite(file: string, options?: Sqlite.Options): Sqlite.Database {
  try {
    return new Sqlite(file, options);
  } catch (error) {
    throw namingShortage(error);
  }
}

export class Connection implements Writer {
  #sqlite: Sqlite.Database;
  #statements = new Map<string, Prepared>();
  readonly #equipment: (() => void)[] = [];
  #identity: FileIdentity | undefined;
  #onDamage: ((error: DamagedFileError) => void) | undefined;
  /** Set by the guard of the file. */
  waiting?: WaitingCheck;
  readonly #savepoints: Savepoint[] = [];
  readonly #kept = new KeptRows();
  /** `PRAGMA data_version` as of the last look: it changes when another connection writes. */
  #version: number | undefined;
  /** Writes of others are looked for at each kept row, or once in a view of the file: at its next one, or before already. */
  #look: 'each time' | 'once' | 'done' = 'each time';

  private constructor(sqlite: Sqlite.Database) {
    this.#sqlite = sqlite;
  }

  /** @param file A path, or ':memory:'. */
  static open(file: string): Connection {
    const connection = new Connection(openSqlite(file));
    try {
      connection.#configure();
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  /** For looking into a file that another process may be writing. */
  static openReadOnly(file: string): Connection {
    return new Connection(openSqlite(file, { readonly: true, fileMustExist: true }));
  }

  /** For looking at all of a file: as strict as `open`, with more of it kept in memory. */
  static openToVerify(file: string): Connection {
    const connection = Connection.openReadOnly(file);
    for (const pragma of verifyPragmas) connection.pragma(pragma);
    return connection;
  }

  /** Moves the write-ahead log's pages to the file, as far as readers allow, without waiting. */
  static moveLog(file: string): void {
    const sqlite = openSqlite(file, { fileMustExist: true, timeout: 0 });
    try {
      sqlite.pragma('wal_checkpoint(PASSIVE)');
    } finally {
      sqlite.close();
    }
  }

  /** @param bytes What `copyTo` wrote; they are copied, and what is written stays in memory. */
  static openBytes(bytes: Buffer): Connection {
    const connection = new Connection(new Sqlite(bytes));
    connection.#configure();
    return connection;
  }

  #configure(): void {
    for (const pragma of pragmas) this.pragma(pragma);
    this.#identity = this.file === undefined ? undefined : new FileIdentity(this.file);
    for (const equip of this.#equipment) equip();
  }

  /** Does what a connection needs beside its pragmas, now and whenever the database is replaced. */
  equip(equip: () => void): void {
    this.#equipment.push(equip);
    equip();
  }

  /** Sets the listener for a part of the file that SQLite cannot read, in any statement. */
  onDamage(listener: (error: DamagedFileError) => void): void {
    this.#onDamage = listener;
  }

  /** @returns what to throw in the place of SQLite's own error. */
  #explained(error: unknown): unknown {
    if (!isDamage(error)) return namingShortage(error);
    const damaged = new DamagedFileError(this.file, error);
    this.#onDamage?.(damaged);
    return damaged;
  }

  /** Lets statements and TEMP triggers of this connection call a function by name; the file's own triggers cannot. */
  define(name: string, run: (...values: Value[]) => Value): void {
    this.#sqlite.function(name, { varargs: true }, run);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    try {
      return this.#ready(sql).get(...values) as Row | undefined;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  all<Row>(sql: string, ...values: readonly Value[]): Row[] {
    try {
      return this.#ready(sql).all(...values) as Row[];
    } catch (error) {
      throw this.#explained(error);
    }
  }

  run(sql: string, ...values: readonly Value[]): number {
    try {
      return this.#ready(sql).run(...values).changes;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  kept<Row extends object>(sql: string, ...values: readonly string[]): Row | undefined {
    if (this.#look !== 'done') this.look();
    return this.#kept.get(sql, values, () => this.get<Row>(sql, ...values));
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row it asks for
  keptAll<Row extends object>(sql: string, ...values: readonly string[]): readonly Row[] {
    if (this.#look !== 'done') this.look();
    return this.#kept.all(sql, values, () => this.all<Row>(sql, ...values));
  }

  /** Looks for what others wrote. @returns a number that changes when another connection writes. */
  look(): number {
    const version = this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
    if (version !== this.#version) this.#kept.forget();
    this.#version = version;
    if (this.#look === 'once') this.#look = 'done';
    return version;
  }

  /** The number that the last look returned. */
  get seen(): number | undefined {
    return this.#version;
  }

  /** Runs `work`, for which it is enough to look once for what others wrote. */
  glance<T>(work: () => T): T {
    return this.#looking('once', work);
  }

  /**
   * Runs `work`, which only reads, on the kept rows as they are, and looks afterwards. Where others have written by then, it is run
   * again after that look, and what the first run returned or threw is forgotten.
   */
  read<T>(work: () => T): T {
    const before = this.#version;
    try {
      const value = this.#looking('done', work);
      if (this.look() === before) return value;
    } catch (error) {
      if (this.look() === before) throw error;
    }
    try {
      return this.#looking('done', work);
    } finally {
      this.look();
    }
  }

  #looking<T>(how: 'once' | 'done', work: () => T): T {
    const before = this.#look;
    this.#look = how;
    try {
      return work();
    } finally {
      this.#look = before;
    }
  }

  savepoint<T>(work: () => T): T {
    const point: Savepoint = { name: `s${String(this.#savepoints.length)}`, isSet: false };
    this.#savepoints.push(point);
    try {
      const value = work();
      if (point.isSet) this.run(`RELEASE ${point.name}`);
      return value;
    } catch (error) {
      // SQLite itself ends the whole transaction on a full disk or an I/O error; then there is nothing to undo.
      if (point.isSet && this.#sqlite.inTransaction) {
        this.run(`ROLLBACK TO ${point.name}`);
        this.run(`RELEASE ${point.name}`);
      }
      if (point.isSet) this.#kept.forget();
      throw error;
    } finally {
      this.#savepoints.pop();
    }
  }

  /** Runs `work` in one transaction that is durable when this returns. */
  transaction<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE');
    try {
      const value = this.glance(work);
      this.run('COMMIT');
      return value;
    } catch (error) {
      this.#kept.forget();
      if (this.#sqlite.inTransaction) this.run('ROLLBACK');
      throw error;
    }
  }

  /** Runs `work` on one view of the file, whatever others write meanwhile. */
  view<T>(work: () => T): T {
    if (this.#sqlite.inTransaction) return work();
    this.run('BEGIN');
    try {
      return this.glance(work);
    } finally {
      this.#end();
    }
  }

  /** SQLite itself ends a transaction on an I/O error. */
  #end(): void {
    if (this.#sqlite.inTransaction) this.run('COMMIT');
  }

  /** The path of its file; undefined for a database in memory. */
  get file(): string | undefined {
    return this.#sqlite.memory ? undefined : this.#sqlite.name;
  }

  /** Why what is written does not reach the file at its path; undefined where it does. It costs some microseconds. */
  isElsewhere(): string | undefined {
    return this.#identity?.misplaced();
  }

  get inTransaction(): boolean {
    return this.#sqlite.inTransaction;
  }

  /** Runs statements without parameters, as a migration does. */
  exec(sql: string): void {
    try {
      this.#beforeWrite(false);
      this.#sqlite.exec(sql);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** @returns the first column of the first row of a pragma. */
  pragma(text: string): unknown {
    try {
      return this.#sqlite.pragma(text, { simple: true });
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Leaves the checkpoint of the write-ahead log to another connection. */
  leaveLog(): void {
    this.pragma('wal_autocheckpoint = 0');
  }

  /** Number of pages in the write-ahead log, and of those already moved to the file. */
  logState(): { readonly pages: number; readonly moved: number } {
    const { log = 0, checkpointed = 0 } =
      this.get<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)') ?? {};
    return { pages: log, moved: checkpointed };
  }

  /**
   * Moves the write-ahead log's pages to the file and empties the log. If a reader still uses it, a later
   * call empties it.
   */
  emptyLog(): void {
    this.#moveAll('TRUNCATE');
  }

  /** As `emptyLog`, and leaves its room to the next writes: to sync a file that does not grow takes half as long. */
  restartLog(): void {
    this.#moveAll('RESTART');
  }

  #moveAll(how: 'TRUNCATE' | 'RESTART'): void {
    this.pragma('busy_timeout = 0');
    try {
      this.pragma(`wal_checkpoint(${how})`);
    } finally {
      this.pragma(`busy_timeout = ${String(busyTimeout)}`);
    }
  }

  /**
   * Copies the database as it is now into a file that is there and holds nothing yet, while others go on writing (SQLite's online
   * backup). The copy needs no write-ahead log beside it.
   * @param onProgress Told how many pages are copied, and of how many.
   */
  async copyTo(file: string, onProgress: (done: number, total: number) => void): Promise<void> {
    // The read transaction holds the copied state: without it every other write would restart the copy.
    this.run('BEGIN');
    const copied = openSync(file, 'r+');
    try {
      this.get('SELECT 1 FROM sqlite_schema');
      let steps = 0;
      await this.#sqlite.backup(file, {
        progress: ({ totalPages, remainingPages }) => {
          // All of it at once, at the end, would keep the COMMITs of others waiting on most file systems.
          if (++steps % syncedAtOnce === 0) fdatasyncSync(copied);
          onProgress(totalPages - remainingPages, totalPages);
          return pagesAtOnce;
        },
      });
    } catch (error) {
      throw namingShortage(error);
    } finally {
      this.#end();
      closeSync(copied);
    }
    const copy = openSqlite(file);
    try {
      copy.pragma('journal_mode = DELETE');
    } finally {
      copy.close();
    }
  }

  /** The whole database as the bytes of a file. */
  serialize(): Buffer {
    return this.#sqlite.serialize();
  }

  /** Replaces the whole database by what `serialize` answered; for a database in memory. */
  restore(bytes: Buffer): void {
    this.close();
    this.#sqlite = new Sqlite(bytes);
    this.#configure();
  }

  /**
   * Closes the file and opens the one that is there after `replace`, with what `equip` was given done again. If
   * `replace` throws, the old one is opened.
   */
  reopen(file: string, replace: () => void): void {
    this.close();
    try {
      replace();
    } finally {
      this.#sqlite = new Sqlite(file);
      this.#configure();
    }
  }

  close(): void {
    this.#statements.clear();
    this.#kept.forget();
    this.#version = undefined;
    this.#sqlite.close();
  }

  /** @returns the statement, before which all is done that comes before a write. */
  #ready(sql: string): Sqlite.Statement {
    const prepared = this.#prepare(sql);
    if (prepared.writes) this.#beforeWrite(prepared.leavesKept);
    return prepared.statement;
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      const statement = this.#sqlite.prepare(withKeptPlan(sql));
      prepared = { statement, writes: !statement.readonly, leavesKept: leavesKept(sql) };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  #beforeWrite(leavesKept: boolean): void {
    if (!leavesKept) this.#kept.forget();
    for (const point of this.#savepoints) {
      if (point.isSet) continue;
      this.run(`SAVEPOINT ${point.name}`);
      point.isSet = true;
    }
  }
}

/**
 * SQLite compares a bare parameter while it plans, and then plans the statement again for each value: ten
 * times the time of the statement itself. No statistics are kept, so plans do not depend on values. The plus
 * hides the parameter from the planner.
 */
const withKeptPlan = (sql: string): string => sql.replaceAll('= ?', '= +?');
