/**
 * Moves what is in the write-ahead log to the file while a vault is served. SQLite would do so within some COMMIT, of which all who
 * wait then wait for the disk: after a backup, whose copy keeps the log from being emptied, that was seconds. Here a thread moves
 * it, and what is left to the service is to begin the log anew.
 */
import { Worker } from 'node:worker_threads';
import { owned, type OnFault } from '../lib/faults.ts';
import type { Connection } from './connection.ts';

/** Beside this file: as source, or as the bundle that the build makes of it. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js',
  import.meta.url,
);

/** So many pages more in the log have them moved: 4 MiB. */
const enough = 1024;

/** With so many pages the log is begun anew at the next chance, although the service goes on writing: 16 MiB. */
const many = 4 * enough;

export class Checkpoints {
  readonly #connection: Connection;
  readonly #file: string;
  readonly #onFault: OnFault;
  #worker: Worker | undefined;
  #isMoving = false;
  #isClosed = false;
  /** How long the log was when the thread was asked last, in pages. */
  #asked = 0;

  /** @param file The path of the connection's database. */
  constructor(connection: Connection, file: string, onFault: OnFault) {
    this.#connection = connection;
    this.#file = file;
    this.#onFault = onFault;
    connection.leaveLog();
  }

  /** Looks at the log, after each COMMIT. It costs some three microseconds. */
  committed(): void {
    if (this.#isMoving || this.#isClosed) return;
    const { pages, moved } = this.#connection.logState();
    if (pages < this.#asked) this.#asked = 0;
    if (pages - Math.max(this.#asked, moved) < enough) return;
    this.#asked = pages;
    this.#isMoving = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage(this.#file);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(script, { name: 'latchkey checkpoints' });
    // A service that ends waits for nobody.
    worker.unref();
    worker.on(
      'message',
      owned((problem: string | null) => {
        this.#isMoving = false;
        if (this.#isClosed) return;
        if (problem !== null) throw new Error(problem);
        // Hardly anything is left to move. Where a backup reads in the log, nothing happens.
        if (this.#connection.logState().pages >= many) this.#connection.emptyLog();
      }, this.#onFault),
    );
    worker.on('error', owned(this.#onFault, this.#onFault));
    worker.on(
      'exit',
      owned(() => {
        this.#isMoving = false;
        this.#worker = undefined;
      }, this.#onFault),
    );
    return worker;
  }
}
