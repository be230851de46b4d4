/** Runs the long work of backups in a thread of its own, one piece at a time. */
import { Worker } from 'node:worker_threads';
import { LatchkeyError } from '../lib/errors.ts';
import type { Progress } from './file.ts';
import type { Job, Message, ProveJob, Proven, WriteJob, Written } from './worker.ts';
import { owned } from '../lib/faults.ts';

/** Beside this file: as source, or as the bundle that the build makes of it. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './backup-worker.js',
  import.meta.url,
);

export class Jobs {
  #running: Worker | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Takes over `job.key`: the caller's copy may be erased at once. */
  write(job: WriteJob, onProgress: Progress): Promise<Written> {
    const { key, ...rest } = job;
    const own = { ...rest, key: Uint8Array.from(key) };
    return this.#inTurn(() => this.#run(own, [own.key.buffer], onProgress)) as Promise<Written>;
  }

  /** Takes over `job.masterKey`, as `write` does its key. */
  prove(job: ProveJob, onProgress: Progress): Promise<Proven> {
    const { masterKey, ...rest } = job;
    const own = { ...rest, masterKey: Uint8Array.from(masterKey) };
    return this.#inTurn(() => this.#run(own, [own.masterKey.buffer], onProgress)) as Promise<Proven>;
  }

  /** Ends what runs; what waits for its turn is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.terminate();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      if (this.#closed) throw closing();
      return work();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  #run(job: Job, transfer: readonly ArrayBuffer[], onProgress: Progress): Promise<Written | Proven> {
    return new Promise((resolve, reject) => {
      // What keys there are move to the thread: no copy stays here.
      const worker = new Worker(script, {
        workerData: job,
        transferList: [...transfer],
        name: 'latchkey backup',
      });
      this.#running = worker;
      const hear = (message: Message): void => {
        if ('progress' in message) onProgress(...message.progress);
        else if ('result' in message) resolve(message.result);
        else if ('refusal' in message)
          reject(new LatchkeyError(message.refusal.code, message.refusal.message));
        else reject(new Error(message.fault));
      };
      worker.on('message', owned(hear, reject));
      worker.on('error', reject);
      const ended = (): void => {
        this.#running = undefined;
        // Nothing, where it answered before.
        reject(this.#closed ? closing() : new Error('the thread of backups ended without an answer'));
      };
      worker.on('exit', owned(ended, reject));
    });
  }
}

const closing = (): LatchkeyError =>
  new LatchkeyError('UNAVAILABLE', 'Latchkey is closing: the backup was not finished');
