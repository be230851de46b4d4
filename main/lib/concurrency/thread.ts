/**
 * Threads that do jobs for the service. A worker serves functions by name, and the service calls them as if they were its own:
 * the types are the worker's.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { LatchkeyError, type ErrorCodeName } from '../errors.ts';
import { owned } from '../faults.ts';

export type Progress = (done: number, total: number) => void;

/** What a worker does, by name. What is given and answered moves between threads, so it is plain data. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each job has its own types, which `Thread` reads from it
type Jobs = Readonly<Record<string, (given: any, onProgress: Progress) => unknown>>;

export type JobAnswer<Served extends Jobs, Name extends keyof Served> = Awaited<ReturnType<Served[Name]>>;

interface Order {
  readonly id: number;
  readonly job: string;
  readonly given: unknown;
}

type Report = { readonly id: number } & (
  | { readonly answer: unknown }
  | { readonly refusal: { readonly code: ErrorCodeName; readonly message: string } }
  | { readonly fault: unknown }
  | { readonly progress: Parameters<Progress> }
);

/** Milliseconds between two reports of a job's progress. */
const reportEvery = 100;

/** On the thread's side: does what is asked for. A fault ends its own job, and not the thread with all others. */
export function serveJobs(jobs: Jobs): void {
  const port = parentPort;
  if (port === null) throw new Error('jobs are done in a thread');
  const tell = (report: Report): void => {
    port.postMessage(report);
  };
  const serve = async ({ id, job, given }: Order): Promise<void> => {
    let reported = -Infinity;
    const onProgress: Progress = (...progress) => {
      const now = performance.now();
      if (now - reported < reportEvery) return;
      reported = now;
      tell({ id, progress });
    };
    try {
      const run = Object.hasOwn(jobs, job) ? jobs[job] : undefined;
      if (run === undefined) throw new Error(`the thread has no job ${job}`);
      tell({ id, answer: await run(given, onProgress) });
    } catch (error) {
      if (error instanceof LatchkeyError) tell({ id, refusal: { code: error.code, message: error.message } });
      else tell({ id, fault: error });
    }
  };
  port.on('message', owned(serve));
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
  /** What the worker finds as its `workerData`. */
  readonly data?: unknown;
}

export interface AskOptions {
  /** Buffers that move to the thread: no copy stays here. */
  readonly transfer?: readonly ArrayBuffer[];
  readonly onProgress?: Progress | undefined;
}

/** The service's side of a thread. It begins with the first job, and anew with the first after it has ended. */
export class Thread<Served extends Jobs> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #next = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /**
   * Has a job done, beside those that are under way.
   * @throws LatchkeyError and any Error as the worker does; Error where the thread ends before it answers.
   */
  ask<Name extends keyof Served & string>(
    job: Name,
    given: Parameters<Served[Name]>[0],
    { transfer = [], onProgress }: AskOptions = {},
  ): Promise<JobAnswer<Served, Name>> {
    const worker = (this.#worker ??= this.#start());
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, job, given } satisfies Order, [...transfer]);
      this.#waiting.set(id, { resolve, reject, onProgress });
    });
  }

  /** Ends the thread in the middle of whatever it does. @param reason What those hear who wait. */
  async close(reason: unknown = this.#ended()): Promise<void> {
    const worker = this.#worker;
    this.#fail(reason);
    await worker?.terminate();
  }

  #start(): Worker {
    const { beside, script, data } = this.#options;
    const file = new URL(`./${script}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside);
    const worker = new Worker(file, { name: script, workerData: data });
    // A service that ends waits for nobody.
    worker.unref();
    worker.on(
      'message',
      owned((report: Report) => {
        this.#hear(report);
      }),
    );
    const fail = (error: unknown): void => {
      if (this.#worker === worker) this.#fail(error);
    };
    worker.on('error', owned(fail));
    const ended = (): void => {
      fail(this.#ended());
    };
    worker.on('exit', owned(ended));
    return worker;
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
    if ('answer' in report) waiting.resolve(report.answer as never);
    else if ('refusal' in report) {
      waiting.reject(new LatchkeyError(report.refusal.code, report.refusal.message));
    } else waiting.reject(report.fault);
  }

  #fail(error: unknown): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  readonly #ended = (): Error => new Error(`the thread ${this.#options.script} has ended`);
}
