/**
 * Transactions, grouped: writes that arrive in the same turn of the event loop share one COMMIT, each in a savepoint
 * of its own, and each is answered only after that COMMIT. So every answer is durable (`synchronous = FULL`) and the
 * disk is asked once for many.
 */
import type { Connection, Reader, Writer } from './connection.ts';

/** What stands over the file: `integrity/guard.ts`. */
export interface Guard {
  /**
   * Called in each write's transaction before anything else, and after each read.
   * @throws LatchkeyError VAULT_TAMPERED where somebody else wrote what does not hold.
   */
  check(): void;
  /** Called before each COMMIT. */
  seal(): void;
  /** Called when a COMMIT that was sealed did not come about. */
  undone(): void;
}

interface Job {
  readonly run: (tx: Writer) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  failure?: { readonly error: unknown };
}

export class UnitOfWork {
  readonly #connection: Connection;
  readonly #guard: Guard | undefined;
  #jobs: Job[] = [];
  #scheduled = false;

  constructor(connection: Connection, guard?: Guard) {
    this.#connection = connection;
    this.#guard = guard;
  }

  /**
   * One consistent view: writes happen in turns of their own, so a synchronous function never sees half of one.
   * @throws LatchkeyError VAULT_TAMPERED, instead of what `work` returned, where the file does not hold.
   */
  read<T>(work: (tx: Reader) => T): T {
    try {
      return work(this.#connection);
    } finally {
      // Not before: another process may write between two statements.
      this.#guard?.check();
    }
  }

  /** Reads what must be shown also of a file that does not hold, and what is needed to look at it again. */
  peek<T>(work: (tx: Reader) => T): T {
    return work(this.#connection);
  }

  /**
   * @param work Synchronous. If it throws, what it wrote is undone and the promise rejects with its error; the other
   * writes of the group are not touched.
   * @returns what `work` returned, after the COMMIT.
   */
  write<T>(work: (tx: Writer) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let value: T;
      this.#jobs.push({
        run: (tx) => {
          value = work(tx);
        },
        resolve: () => {
          resolve(value);
        },
        reject,
      });
      if (!this.#scheduled) {
        this.#scheduled = true;
        setImmediate(() => {
          this.flush();
        });
      }
    });
  }

  /**
   * Writes at once, in a transaction of its own, and leaves nothing of what it replaced in the write-ahead log. For when
   * what is written later depends on this having been committed: nothing else runs between.
   * @returns what `work` returned, after the COMMIT.
   */
  replace<T>(work: (tx: Writer) => T): T {
    this.flush();
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    let value: { readonly is: T } | undefined;
    this.#jobs.push({
      run: (tx) => {
        value = { is: work(tx) };
      },
      resolve: () => {
        if (value !== undefined) outcome = { value: value.is };
      },
      reject: (error) => {
        outcome = { error };
      },
    });
    this.flush();
    if (outcome === undefined) throw new Error('a transaction ended without an outcome');
    if ('error' in outcome) throw outcome.error;
    this.#connection.emptyLog();
    return outcome.value;
  }

  /** Commits what waits, now. */
  flush(): void {
    this.#scheduled = false;
    const jobs = this.#jobs;
    this.#jobs = [];
    if (jobs.length === 0) return;
    try {
      this.#connection.transaction(() => {
        this.#guard?.check();
        for (const job of jobs) this.#attempt(job);
        this.#guard?.seal();
      });
    } catch (error) {
      this.#guard?.undone();
      for (const job of jobs) job.reject(job.failure?.error ?? error);
      return;
    }
    for (const job of jobs) {
      if (job.failure) job.reject(job.failure.error);
      else job.resolve();
    }
  }

  #attempt(job: Job): void {
    try {
      this.#connection.savepoint(() => {
        job.run(this.#connection);
      });
    } catch (error) {
      job.failure = { error };
      // The engine gave up the whole transaction: nothing of this group may be answered as done.
      if (!this.#connection.inTransaction) throw error;
    }
  }
}
