/**
 * Runs the long work of backups in a thread of its own, one piece at a time. A piece whose disk does not answer is given up, so
 * that other backups and the next of the schedule come to their turn.
 */
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LatchkeyError } from '../lib/errors.ts';
import { silent } from './disks.ts';
import type { Progress } from './file.ts';
import type { DiskInUse, Job, WorkerReport, VerifyJob, VerifiedFile, WriteJob, Written } from './worker.ts';
import { owned } from '../lib/faults.ts';

/** Beside this file: as source, or as the bundle that the build makes of it. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './backup-worker.js',
  import.meta.url,
);

export interface JobLimits {
  /** For how many milliseconds the disk of a backup may give nothing back. A disk that has to begin to turn takes some ten seconds. */
  readonly silentMs: number;
  /** How many milliseconds a piece of work takes at most, however it proceeds. */
  readonly longestMs: number;
}

const usualLimits: JobLimits = { silentMs: 60_000, longestMs: 6 * 3_600_000 };

/** A silence has so many parts, each seen by a timer of its own: a computer that slept was silent in one of them. */
const partsOfSilence = 6;

/**
 * Threads that hang keep the process's few threads for calls on files, so that many would stop the service. With so many, no more
 * work is begun.
 */
const mostStuck = 2;

/** Milliseconds for which closing waits for a thread to end. */
const closesWithin = 5_000;

export class Jobs {
  readonly #script: URL;
  readonly #limits: JobLimits;
  /** By the directory of their backup: threads that were given up and have not ended, as nothing can interrupt their call. */
  readonly #stuck = new Map<string, Worker>();
  #running: Worker | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @param own What tests put in the place of the thread and its limits. */
  constructor(own: { readonly script?: URL; readonly limits?: JobLimits } = {}) {
    this.#script = own.script ?? script;
    this.#limits = own.limits ?? usualLimits;
  }

  /**
   * Takes over `job.key`: the caller's copy may be erased at once.
   * @throws LatchkeyError UNAVAILABLE where the disk of the backup does not answer, or takes longer than the limit.
   */
  write(job: WriteJob, onProgress: Progress): Promise<Written> {
    const { key, ...rest } = job;
    const own = { ...rest, key: Uint8Array.from(key) };
    return this.#inTurn(own, [own.key.buffer], onProgress) as Promise<Written>;
  }

  /** Takes over `job.masterKey`, as `write` does its key. @throws LatchkeyError as `write` */
  verify(job: VerifyJob, onProgress: Progress): Promise<VerifiedFile> {
    const { masterKey, ...rest } = job;
    const own = { ...rest, masterKey: Uint8Array.from(masterKey) };
    return this.#inTurn(own, [own.masterKey.buffer], onProgress) as Promise<VerifiedFile>;
  }

  /** Ends what runs; what waits for its turn is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    const late = new AbortController();
    await Promise.race([
      this.#running?.terminate(),
      wait(closesWithin, undefined, { ref: false, signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
  }

  #inTurn(job: Job, transfer: readonly ArrayBuffer[], onProgress: Progress): Promise<Written | VerifiedFile> {
    const turn = this.#turn.then(() => {
      if (this.#closed) throw closing();
      const directory = dirname(job.file);
      const inTheWay = this.#stuck.size < mostStuck ? [directory] : [directory, ...this.#stuck.keys()];
      const stuck = inTheWay.find((each) => this.#stuck.has(each));
      if (stuck !== undefined) throw silent(stuck);
      return this.#run(job, transfer, onProgress);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #run(
    job: Job,
    transfer: readonly ArrayBuffer[],
    onProgress: Progress,
  ): Promise<Written | VerifiedFile> {
    const { promise, resolve, reject } = Promise.withResolvers<Written | VerifiedFile>();
    // What keys there are move to the thread: no copy stays here.
    const worker = new Worker(this.#script, {
      workerData: job,
      transferList: [...transfer],
      name: 'latchkey backup',
    });
    this.#running = worker;
    const directory = dirname(job.file);
    const giveUp = (reason: LatchkeyError): void => {
      this.#stuck.set(directory, worker);
      // It ends once its call comes back, and does nothing more then.
      void worker.terminate();
      worker.unref();
      reject(reason);
    };
    const watch = new Watch(this.#limits, {
      onSilent: () => {
        giveUp(silent(directory));
      },
      onLate: () => {
        giveUp(slow(directory, this.#limits.longestMs));
      },
    });
    const hear = (message: WorkerReport): void => {
      if ('uses' in message) watch.heard(message.uses);
      else if ('progress' in message) {
        watch.heard();
        onProgress(...message.progress);
      } else if ('result' in message) resolve(message.result);
      else if ('refusal' in message) reject(new LatchkeyError(message.refusal.code, message.refusal.message));
      else reject(new Error(message.fault));
    };
    worker.on('message', owned(hear, reject));
    worker.on('error', reject);
    const ended = (): void => {
      if (this.#stuck.get(directory) === worker) this.#stuck.delete(directory);
      // Nothing, where it answered before.
      reject(this.#closed ? closing() : new Error('the thread of backups ended without an answer'));
    };
    worker.on('exit', owned(ended, reject));
    try {
      return await promise;
    } finally {
      watch.stop();
      if (this.#running === worker) this.#running = undefined;
    }
  }
}

/** Sees whether a thread goes on. */
class Watch {
  readonly #late: NodeJS.Timeout;
  #next: NodeJS.Timeout;
  #silentParts = 0;
  #uses: DiskInUse = 'own';

  constructor(
    { silentMs, longestMs }: JobLimits,
    { onSilent, onLate }: { readonly onSilent: () => void; readonly onLate: () => void },
  ) {
    // Each part begins when the one before it was looked at, so that parts never pile up behind a long turn.
    const next = (): NodeJS.Timeout => setTimeout(owned(look), silentMs / partsOfSilence).unref();
    const look = (): void => {
      this.#next = next();
      if (this.#uses === 'own') return;
      this.#silentParts++;
      // One more than there are: the first part began before the thread was heard.
      if (this.#silentParts > partsOfSilence) onSilent();
    };
    this.#next = next();
    this.#late = setTimeout(owned(onLate), longestMs).unref();
  }

  heard(uses = this.#uses): void {
    this.#uses = uses;
    this.#silentParts = 0;
  }

  stop(): void {
    clearTimeout(this.#next);
    clearTimeout(this.#late);
  }
}

const closing = (): LatchkeyError =>
  new LatchkeyError('UNAVAILABLE', 'Latchkey is closing: the backup was not finished');

const slow = (directory: string, limitMs: number): LatchkeyError =>
  new LatchkeyError(
    'UNAVAILABLE',
    `the disk of ${directory} is too slow: the backup was not finished within ${String(Math.round(limitMs / 3_600_000))} hours; choose another disk`,
  );
