/**
 * Transactions, grouped: writes that arrive in the same turn of the event loop share one COMMIT, each in a savepoint
 * of its own, and each is answered only after that COMMIT. So every answer is durable (`synchronous = FULL`) and the
 * disk is asked once for many.
 */
import type { Connection, Reader, Writer } from './connection.ts';
import { isOfStorage } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import { logFault } from '../lib/log.ts';
import type { Stage, Storage } from './file/disk-state.ts';

/** Verifies the file's integrity around every transaction: `integrity/guard.ts`. */
export interface Guard {
  /**
   * Called in each write's transaction before anything else. Looks for what another process wrote.
   * @throws KeyhearthError VAULT_TAMPERED where its rows do not verify.
   */
  check(): void;
  /** As `check`, after each read, which has looked. */
  checkSeen(): void;
  /** Called before each COMMIT. */
  seal(): void;
  /**
   * Called after each COMMIT, before its answers are given.
   * @throws KeyhearthError VAULT_TAMPERED where what was written did not come to the vault's file.
   */
  committed(): void;
  /** Called when a COMMIT that was sealed did not come about. */
  undone(): void;
}

/** The state of the disk under the file: `storage/file/disk-state.ts`. */
type Disk = Pick<Storage, 'isTrouble' | 'refusalOf' | 'committed' | 'giveUpReserve'>;

export interface WriteOptions {
  /** On a full disk it is written into the room that was held back. */
  readonly mustFit?: boolean;
  /** Called with the milliseconds that the work took. */
  readonly meter?: ((ms: number) => void) | undefined;
}

interface PendingWrite extends WriteOptions {
  readonly run: (tx: Writer) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  failure?: { readonly error: unknown };
}

/** Milliseconds after which no other write joins a transaction: sockets and signals come first then. */
const longestGroup = 10;

/**
 * Milliseconds for which a transaction is held at most while requests come to their writes beside it: those of 16 connections do
 * within it, also on a busy machine.
 */
const longestGathering = 8;

/** So many writes wait at most before more work is begun that leads to writes. */
const enoughWaiting = 64;

export interface UnitOptions {
  /** Called with the milliseconds that each transaction took, until it was durable. */
  readonly onGroup?: (ms: number) => void;
  /** True while requests are under way that may come to a write at once. A transaction is held for them. */
  readonly isMoreComing?: () => boolean;
}

export class UnitOfWork {
  readonly #connection: Connection;
  readonly #guard: Guard | undefined;
  readonly #disk: Disk | undefined;
  readonly #options: UnitOptions;
  #writes: PendingWrite[] = [];
  #scheduled = false;
  /** When the transaction of those that wait is held no longer. */
  #heldUntil = 0;
  /** Comes before all else in the next transaction, and in each until one is committed. */
  readonly #owed = new Set<(tx: Writer) => void>();
  /** True where the write-ahead log may still have what was replaced. */
  #isLogToEmpty = false;

  constructor(connection: Connection, guard?: Guard, disk?: Disk, options: UnitOptions = {}) {
    this.#options = options;
    this.#connection = connection;
    this.#guard = guard;
    this.#disk = disk;
  }

  /**
   * One consistent view: writes happen in turns of their own, so a synchronous function never sees half of one.
   * @throws KeyhearthError VAULT_TAMPERED, instead of what `work` returned, where the file does not hold, and
   * STORAGE_UNAVAILABLE where the disk does not give it back.
   */
  read<T>(work: (tx: Reader) => T): T {
    try {
      try {
        return this.#connection.read(() => work(this.#connection));
      } finally {
        // Not before: another process may write between two statements.
        this.#guard?.checkSeen();
      }
    } catch (error) {
      throw this.#disk?.refusalOf(error, 'reading') ?? error;
    }
  }

  /**
   * Reads what must be shown also of a file that does not hold, and what is needed to look at it again.
   * @throws KeyhearthError STORAGE_UNAVAILABLE where the disk does not give it back.
   */
  readUnverified<T>(work: (tx: Reader) => T): T {
    try {
      return work(this.#connection);
    } catch (error) {
      throw this.#disk?.refusalOf(error, 'reading') ?? error;
    }
  }

  /**
   * @param work Synchronous. If it throws, what it wrote is undone and the promise rejects with its error; the other
   * writes of the group are not touched.
   * @returns what `work` returned, after the COMMIT.
   * @throws KeyhearthError STORAGE_UNAVAILABLE where the disk does not take it; the message says whether it may be there.
   */
  write<T>(work: (tx: Writer) => T, { mustFit = false, meter }: WriteOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let value: T;
      this.#writes.push({
        run: (tx) => {
          value = work(tx);
        },
        resolve: () => {
          resolve(value);
        },
        reject,
        mustFit,
        meter,
      });
      this.#schedule();
    });
  }

  /** True if as many writes wait as one transaction accepts. */
  get isBusy(): boolean {
    return this.#writes.length >= enoughWaiting;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#heldUntil = performance.now() + longestGathering;
    this.#takeTurn();
  }

  #takeTurn(): void {
    setImmediate(
      owned(() => {
        if (this.#isHeld()) {
          this.#takeTurn();
          return;
        }
        this.#scheduled = false;
        if (this.#writes.length > 0) this.#commit(this.#writes);
        if (this.#writes.length > 0) this.#schedule();
      }),
    );
  }

  /** Nothing is waited for: what is held for runs meanwhile, here or in a thread. */
  #isHeld(): boolean {
    const isMoreComing = this.#options.isMoreComing?.() === true;
    return isMoreComing && !this.isBusy && performance.now() < this.#heldUntil;
  }

  /**
   * Writes at once, before all that waits, in a transaction of its own.
   * @returns what `work` returned, after the COMMIT.
   * @throws KeyhearthError as `write`.
   */
  first<T>(work: (tx: Writer) => T, options: WriteOptions = {}): T {
    let ended: { readonly value: T } | { readonly error: unknown } | undefined;
    let value: { readonly is: T } | undefined;
    const write: PendingWrite = {
      ...options,
      run: (tx) => {
        value = { is: work(tx) };
      },
      resolve: () => {
        if (value !== undefined) ended = { value: value.is };
      },
      reject: (error) => {
        ended = { error };
      },
    };
    this.#commit([write]);
    if (ended === undefined) throw new Error('a transaction neither committed nor failed');
    if ('error' in ended) throw ended.error;
    return ended.value;
  }

  /**
   * Writes at once, in a transaction of its own, and leaves nothing of what it replaced in the write-ahead log. For when
   * what is written later depends on this having been committed: nothing else runs between. Where the disk does not let the log be
   * emptied, what is committed is done all the same, and the log is emptied after a later COMMIT.
   * @returns what `work` returned, after the COMMIT.
   */
  replace<T>(work: (tx: Writer) => T): T {
    this.flush();
    const value = this.first(work);
    this.#isLogToEmpty = true;
    this.#emptyLog();
    return value;
  }

  #emptyLog(): void {
    if (!this.#isLogToEmpty) return;
    this.#isLogToEmpty = false;
    try {
      this.#connection.emptyLog();
    } catch (error) {
      this.#isLogToEmpty = this.#isOfDisk(error);
      // The disk's state says it once, and to all.
      if (this.#isLogToEmpty) this.#disk?.refusalOf(error, 'committing');
      else logFault(error);
    }
  }

  /**
   * Has work done now. Where SQLite does not take it, for its disk or for another process that holds the file, it is done before
   * anything else in the next transaction: nothing that is decided later comes before it.
   * @returns what gives it up, where it is not done yet.
   */
  owe(work: (tx: Writer) => void): () => void {
    const giveUp = (): void => {
      this.#owed.delete(work);
    };
    this.#owed.add(work);
    try {
      this.first(() => undefined);
    } catch (error) {
      // The disk's state says it.
      if (isOfStorage(error)) return giveUp;
      if (!isOfSqlite(error)) {
        giveUp();
        throw error;
      }
      logFault(error);
    }
    return giveUp;
  }

  /** Commits all that waits, now. */
  flush(): void {
    while (this.#writes.length > 0) this.#commit(this.#writes);
  }

  /** Commits in one transaction as much of what waits as fits into a turn; the rest waits for the next. */
  #commit(waiting: PendingWrite[]): void {
    const began = performance.now();
    const end = began + longestGroup;
    let most = waiting.length;
    const writes: PendingWrite[] = [];
    let stage: Stage = 'writing';
    try {
      this.#connection.transaction(() => {
        this.#guard?.check();
        for (const work of this.#owed) work(this.#connection);
        do {
          const [write] = waiting.splice(0, 1);
          if (write === undefined) break;
          writes.push(write);
          this.#attempt(write);
          most -= 1;
        } while (most > 0 && performance.now() < end);
        this.#guard?.seal();
        stage = 'committing';
      });
      this.#guard?.committed();
    } catch (error) {
      this.#guard?.undone();
      // The writes that waited beside it would fail the same way.
      writes.push(...waiting.splice(0, most));
      this.#reject(writes, this.#disk?.refusalOf(error, stage) ?? error);
      return;
    }
    this.#owed.clear();
    this.#options.onGroup?.(performance.now() - began);
    this.#disk?.committed();
    this.#emptyLog();
    for (const write of writes) {
      if (write.failure) write.reject(write.failure.error);
      else write.resolve();
    }
  }

  /** Rejects what was not committed, but for what must be: that is written once more where room was held back for it. */
  #reject(writes: readonly PendingWrite[], error: unknown): void {
    const again = writes.filter(({ mustFit }) => mustFit === true);
    const isRetried = again.length > 0 && this.#disk?.giveUpReserve() === true;
    for (const write of writes) {
      if (isRetried && again.includes(write)) delete write.failure;
      else write.reject(this.#isOfDisk(write.failure?.error) ? error : (write.failure?.error ?? error));
    }
    if (!isRetried) return;
    this.#commit(again);
  }

  #isOfDisk(error: unknown): boolean {
    return this.#disk?.isTrouble(error) === true;
  }

  #attempt(write: PendingWrite): void {
    const began = performance.now();
    try {
      this.#connection.savepoint(() => {
        write.run(this.#connection);
      });
    } catch (error) {
      write.failure = { error };
      // The engine gave up the whole transaction, or will not commit it: nothing of this group may be answered as done.
      if (!this.#connection.inTransaction || this.#isOfDisk(error)) throw error;
    } finally {
      write.meter?.(performance.now() - began);
    }
  }
}

const isOfSqlite = (error: unknown): boolean =>
  String((error as { readonly code?: unknown }).code).startsWith('SQLITE_');
