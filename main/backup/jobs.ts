/**
 * Runs the long work of backups in threads, one piece at a time. A piece whose disk does not answer is given up, so that other
 * backups and the next of the schedule come to their turn.
 */
import { dirname } from 'node:path';
import { SerialQueue } from '../lib/concurrency/serial.ts';
import { Thread, type JobAnswer, type Progress, type ThreadOptions } from '../lib/concurrency/thread.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import { DiskUse, watchDisk } from './disk-use.ts';
import { silent } from './disks.ts';
import type { BackupJobs, VerifyJob, VerifiedFile, WriteJob, Written } from './backup-worker.ts';

export interface JobLimits {
  /** For how many milliseconds the disk of a backup may give nothing back. A disk that has to begin to turn takes some ten seconds. */
  readonly silentMs: number;
  /** Milliseconds after which a piece of work is stopped, whatever its progress. */
  readonly longestMs: number;
}

const usualLimits: JobLimits = { silentMs: 60_000, longestMs: 6 * 3_600_000 };

/**
 * Threads that hang. Each blocks one of the process's few threads for calls on files, and many would stop the
 * service. At this number, new work is refused.
 */
const mostStuck = 2;

export class Jobs {
  readonly #thread: ThreadOptions;
  readonly #limits: JobLimits;
  readonly #queue = new SerialQueue();
  /** Threads that were given up, by the directory of their backup; those that have ended since are removed. */
  #stuck: { readonly directory: string; readonly thread: Thread<BackupJobs> }[] = [];
  #running: Thread<BackupJobs> | undefined;
  #closed = false;

  /** @param own What tests put in the place of the thread and its limits. */
  constructor({
    thread = { beside: import.meta.url, script: 'backup-worker' },
    limits = usualLimits,
  }: { readonly thread?: ThreadOptions; readonly limits?: JobLimits } = {}) {
    this.#thread = thread;
    this.#limits = limits;
  }

  /**
   * Takes over `job.key`: the caller's copy may be erased at once.
   * @throws KeyhearthError UNAVAILABLE where the disk of the backup does not answer, or takes longer than the limit.
   */
  write(job: WriteJob, onProgress: Progress): Promise<Written> {
    const key = Uint8Array.from(job.key);
    return this.#inTurn('write', { ...job, key }, key.buffer, onProgress);
  }

  /** Takes over `job.masterKey`, as `write` does its key. @throws KeyhearthError as `write` */
  verify(job: VerifyJob, onProgress: Progress): Promise<VerifiedFile> {
    const masterKey = Uint8Array.from(job.masterKey);
    return this.#inTurn('verify', { ...job, masterKey }, masterKey.buffer, onProgress);
  }

  /** Ends what runs; what waits for its turn is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.close(closing());
  }

  #inTurn<Name extends keyof BackupJobs>(
    name: Name,
    job: Parameters<BackupJobs[Name]>[0],
    key: ArrayBuffer,
    onProgress: Progress,
  ): Promise<JobAnswer<BackupJobs, Name>> {
    return this.#queue.run(() => {
      if (this.#closed) throw closing();
      const directory = dirname(job.file);
      this.#stuck = this.#stuck.filter(({ thread }) => !thread.hasEnded);
      const inTheWay =
        this.#stuck.find((each) => each.directory === directory) ??
        (this.#stuck.length < mostStuck ? undefined : this.#stuck[0]);
      if (inTheWay !== undefined) throw silent(inTheWay.directory);
      return this.#run(name, job, key, onProgress);
    });
  }

  /** A thread for each piece: what it needed of memory goes with it. */
  async #run<Name extends keyof BackupJobs>(
    name: Name,
    job: Parameters<BackupJobs[Name]>[0],
    key: ArrayBuffer,
    onProgress: Progress,
  ): Promise<JobAnswer<BackupJobs, Name>> {
    const use = new DiskUse();
    const thread = new Thread<BackupJobs>({ ...this.#thread, data: use.memory });
    const directory = dirname(job.file);
    const giveUp = (reason: KeyhearthError): void => {
      // Nothing can interrupt its call. It ends once that comes back, and does nothing more then.
      this.#stuck.push({ directory, thread });
      void thread.close(reason);
    };
    const { silentMs, longestMs } = this.#limits;
    const stopWatching = watchDisk(use, silentMs, () => {
      giveUp(silent(directory));
    });
    const late = (): void => {
      giveUp(slow(directory, longestMs));
    };
    const limit = setTimeout(owned(late), longestMs).unref();
    this.#running = thread;
    try {
      // The key moves to the thread: no copy stays here.
      return await thread.ask(name, job, { transfer: [key], onProgress });
    } finally {
      stopWatching();
      clearTimeout(limit);
      void thread.close();
      this.#running = undefined;
    }
  }
}

const closing = (): KeyhearthError =>
  new KeyhearthError('UNAVAILABLE', 'Keyhearth is closing: the backup was not finished');

const slow = (directory: string, limitMs: number): KeyhearthError =>
  new KeyhearthError(
    'UNAVAILABLE',
    `the disk of ${directory} is too slow: the backup was not finished within ${String(Math.round(limitMs / 3_600_000))} hours; choose another disk`,
  );
