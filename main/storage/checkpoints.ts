/**
 * Moves the write-ahead log's pages to the file while a vault is served. SQLite would do so within some
 * COMMIT, and all that wait would wait for the disk. After a backup, whose copy keeps the log from being
 * emptied, that took seconds. Here a thread moves the pages, and the service only restarts the log.
 */
import { Thread } from '../lib/concurrency/thread.ts';
import { owned, type OnFault } from '../lib/faults.ts';
import type { CheckpointJobs } from './checkpoint-worker.ts';
import type { Connection } from './connection.ts';

/** So many pages more in the log have them moved: 4 MiB. */
const enough = 1024;

/** With so many pages the log is restarted at the next chance, although the service still writes: 16 MiB. */
const many = 4 * enough;

export class Checkpoints {
  readonly #connection: Connection;
  readonly #file: string;
  readonly #thread = new Thread<CheckpointJobs>({ beside: import.meta.url, script: 'checkpoint-worker' });
  readonly #moveAside: () => void;
  #isMoving = false;
  #isClosed = false;
  /** Length of the log at the last request to the thread, in pages. */
  #asked = 0;

  /** @param file The path of the connection's database. */
  constructor(connection: Connection, file: string, onFault: OnFault) {
    this.#connection = connection;
    this.#file = file;
    this.#moveAside = owned(() => this.#move(), onFault);
    connection.leaveLog();
  }

  /** Looks at the log, after each COMMIT. It costs some three microseconds. */
  committed(): void {
    if (this.#isMoving || this.#isClosed) return;
    const { pages, moved } = this.#connection.logState();
    if (pages < this.#asked) this.#asked = 0;
    if (pages - Math.max(this.#asked, moved) < enough) return;
    this.#asked = pages;
    this.#moveAside();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread.close();
  }

  async #move(): Promise<void> {
    this.#isMoving = true;
    try {
      await this.#thread.ask('move', this.#file);
    } catch (error) {
      if (!this.#isClosed) throw error;
    } finally {
      this.#isMoving = false;
    }
    // Hardly anything is left to move. Where a backup reads in the log, nothing happens.
    if (!this.#isClosed && this.#connection.logState().pages >= many) this.#connection.restartLog();
  }
}
