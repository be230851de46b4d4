/**
 * Threads that do jobs for the service. A worker serves functions by name, and the service calls them as if they were its own:
 * the types are the worker's.
 *
 * A thread ends by itself: the service asks it to, and its jobs are given up at their next report of progress. They run their
 * `finally`, so files are closed and keys erased. A thread that is terminated while it loads a native addon ends the whole
 * process, so `Run.end` is the one place that terminates: as its last resort, and never while the thread loads.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { KeyhearthError, type ErrorCodeName } from '../errors.ts';
import { owned } from '../faults.ts';
import { shortageOf } from './shortages.ts';

export type Progress = (done: number, total: number) => void;

/**
 * A worker's jobs by name. Arguments and answers move between threads, so they are plain data. A long job
 * reports its progress after each piece of work. The report throws once the thread must end.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- each job has its own types, which `Thread` reads from it
type Jobs = Readonly<Record<string, (given: any, onProgress: Progress) => unknown>>;

export type JobAnswer<Served extends Jobs, Name extends keyof Served> = Awaited<ReturnType<Served[Name]>>;

interface Order {
  readonly id: number;
  readonly job: string;
  readonly given: unknown;
  /** Shared memory: not 0 once the thread is to end. A thread in the middle of a job reads no messages. */
  readonly ending: Int32Array;
}

/** The last message to a thread. */
const end = 'end';
/** The first message of a thread: its modules are loaded. */
const loaded = 'loaded';

type Report = { readonly id: number } & (
  | { readonly answer: unknown }
  | { readonly refusal: { readonly code: ErrorCodeName; readonly message: string } }
  | { readonly fault: unknown }
  | { readonly progress: Parameters<Progress> }
);

/** Milliseconds between two reports of a job's progress. */
const reportEvery = 100;

/** Milliseconds that a thread has to end by itself. */
const usuallyEndsWithin = 5_000;

/**
 * On the thread's side: does what is asked for. A fault ends its own job, and not the thread with all others.
 * @param onEnd Called once the thread is to end: interrupts jobs that wait for something outside.
 */
export function serveJobs(jobs: Jobs, onEnd: () => void = () => undefined): void {
  const port = parentPort;
  if (port === null) throw new Error('jobs are done in a thread');
  const tell = (report: Report): void => {
    port.postMessage(report);
  };
  const serve = async ({ id, job, given, ending }: Order): Promise<void> => {
    const goOn = (): void => {
      if (Atomics.load(ending, 0) !== 0) throw new Error('the thread is to end');
    };
    let reported = -Infinity;
    const onProgress: Progress = (...progress) => {
      goOn();
      const now = performance.now();
      if (now - reported < reportEvery) return;
      reported = now;
      tell({ id, progress });
    };
    try {
      const run = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
      if (run === undefined) throw new Error(`the thread has no job ${job}`);
      goOn();
      tell({ id, answer: await run(given, onProgress) });
    } catch (error) {
      // The code of another error does not go with it to the other thread.
      const refusal = error instanceof KeyhearthError ? error : shortageOf(error);
      if (refusal === undefined) tell({ id, fault: error });
      else tell({ id, refusal: { code: refusal.code, message: refusal.message } });
    }
  };
  const hear = (message: Order | typeof end): unknown => {
    if (message !== end) return serve(message);
    // Without its port, the thread ends as soon as no job has anything to wait for.
    port.close();
    onEnd();
  };
  port.on('message', owned(hear));
  port.postMessage(loaded);
}

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: Progress | undefined;
}

export interface ThreadOptions {
  /** The URL of the module beside which the worker is: its source, or the bundle that the build makes of it. */
  readonly beside: string;
  /** The name of the worker's file, without its extension. */
  readonly script: string;
  /** The worker's `workerData`. */
  readonly data?: unknown;
  /** Milliseconds that it has to end by itself. */
  readonly endsWithinMs?: number;
}

export interface AskOptions {
  /** Buffers that move to the thread: no copy stays here. */
  readonly transfer?: readonly ArrayBuffer[];
  readonly onProgress?: Progress | undefined;
}

/**
 * The service's side of a thread. It starts with the first job, and again with the first job after it has
 * ended.
 */
export class Thread<Served extends Jobs> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #run: Run | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  #next = 0;
  /** Number of runs that have not ended. */
  #left = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** True once it has started, until it is asked to end. */
  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** True if no run is left. A thread may hang in a call after it was asked to end. */
  get hasEnded(): boolean {
    return this.#left === 0;
  }

  /**
   * Has a job done, beside those that are under way.
   * @throws KeyhearthError and any Error as the worker does; KeyhearthError UNAVAILABLE where the thread does not begin, or ends
   * before it answers.
   */
  ask<Name extends keyof Served & string>(
    job: Name,
    given: Parameters<Served[Name]>[0],
    { transfer = [], onProgress }: AskOptions = {},
  ): Promise<JobAnswer<Served, Name>> {
    const { worker, ending } = (this.#run ??= this.#start());
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, job, given, ending } satisfies Order, [...transfer]);
      this.#waiting.set(id, { resolve, reject, onProgress });
      // The process stays alive for an answer that a caller awaits, and not for an idle thread.
      worker.ref();
    });
  }

  /**
   * Ends the thread in the middle of whatever it does. Resolves once it has ended, or did not within its limit.
   * @param reason What those hear who wait; they hear it at once.
   */
  async close(reason: unknown = this.#ended()): Promise<void> {
    const run = this.#run;
    this.#fail(reason);
    const { endsWithinMs = usuallyEndsWithin } = this.#options;
    this.#closed = Promise.all([this.#closed, run?.end(endsWithinMs)]);
    await this.#closed;
  }

  #start(): Run {
    const { beside, script, data } = this.#options;
    const file = new URL(`./${script}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside);
    const run = new Run(begin(file, { name: script, workerData: data }));
    this.#left++;
    run.worker.unref();
    run.worker.on(
      'message',
      owned((report: Report | typeof loaded) => {
        if (report === loaded) run.hasLoaded = true;
        else this.#hear(report);
      }),
    );
    const fail = (error: unknown): void => {
      if (this.#run === run) this.#fail(shortageOf(error) ?? lost(error));
    };
    run.worker.on('error', owned(fail));
    const ended = (): void => {
      this.#left--;
      fail(this.#ended());
    };
    run.worker.on('exit', owned(ended));
    return run;
  }

  #hear(report: Report): void {
    const waiting = this.#waiting.get(report.id);
    if (waiting === undefined) return;
    if ('progress' in report) {
      const { onProgress = () => undefined, reject } = waiting;
      owned(onProgress, reject)(...report.progress);
      return;
    }
    this.#waiting.delete(report.id);
    if (this.#waiting.size === 0) this.#run?.worker.unref();
    if ('answer' in report) waiting.resolve(report.answer as never);
    else if ('refusal' in report) {
      waiting.reject(new KeyhearthError(report.refusal.code, report.refusal.message));
    } else waiting.reject(report.fault);
  }

  #fail(error: unknown): void {
    this.#run = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  readonly #ended = (): Error => new Error(`the thread ${this.#options.script} has ended`);
}

/** The refusal of a job whose thread ended by itself. */
const lost = (cause: unknown): KeyhearthError =>
  new KeyhearthError(
    'UNAVAILABLE',
    'a thread of Keyhearth has ended before its work was done (try again; the log has the cause)',
    { cause },
  );

function begin(...given: ConstructorParameters<typeof Worker>): Worker {
  try {
    return new Worker(...given);
  } catch (error) {
    throw shortageOf(error) ?? error;
  }
}

/** A worker from its start to its end. */
class Run {
  readonly worker: Worker;
  readonly ending = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  hasLoaded = false;

  constructor(worker: Worker) {
    this.worker = worker;
  }

  /** Asks the worker to end. Resolves once it has, or the limit has passed. */
  end(withinMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const giveUp = (): void => {
      // A worker that loads still reads its message once it has loaded. In a call of the system it ends with that call.
      if (this.hasLoaded) void this.worker.terminate();
      this.worker.unref();
      resolve(undefined);
    };
    const limit = setTimeout(owned(giveUp, reject), withinMs);
    const ended = (): void => {
      clearTimeout(limit);
      resolve(undefined);
    };
    this.worker.on('exit', owned(ended, reject));
    Atomics.store(this.ending, 0, 1);
    this.worker.postMessage(end);
    this.worker.ref();
    return promise;
  }
}
