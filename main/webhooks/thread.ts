/** The vault's side of the thread that signs and posts events. */
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../outbox/outbox.ts';
import { SharedKey } from './shared-key.ts';
import type { Lot, Order, Report } from './worker.ts';
import { owned } from '../lib/faults.ts';

/** Beside this file: as source, or as the bundle that the build makes of it. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './webhooks-worker.js',
  import.meta.url,
);

interface Waiting {
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export class PostThread {
  readonly #waiting = new Map<number, Waiting>();
  /** What the thread signs with, from the first lot until the vault is locked. */
  readonly #key = new SharedKey();
  #worker: Worker | undefined;
  #next = 0;

  /**
   * @param seed What the key named in the lot signs with; it is copied, until `eraseKey`.
   * @returns the outcomes of the first events, in order: as many as were tried.
   */
  post(lot: Lot, seed: Uint8Array): Promise<readonly Outcome[]> {
    this.#key.put(seed);
    this.#worker ??= this.#start();
    const id = this.#next++;
    this.#worker.postMessage({ id, lot } satisfies Order);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
  }

  eraseKey(): void {
    this.#key.erase();
  }

  /** Ends what is under way; what was delivered by then is still told. */
  stop(): void {
    this.#worker?.postMessage({ stop: true } satisfies Order);
  }

  async close(): Promise<void> {
    this.eraseKey();
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(script, { name: 'latchkey webhooks', workerData: this.#key.memory });
    // A service that ends waits for nobody.
    worker.unref();
    const hear = (report: Report): void => {
      const lot = this.#waiting.get(report.id);
      this.#waiting.delete(report.id);
      if ('outcomes' in report) lot?.resolve(report.outcomes);
      else lot?.reject(report.fault);
    };
    worker.on('message', owned(hear));
    const fail = (error: unknown): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    worker.on('error', owned(fail));
    const ended = (): void => {
      fail(new Error('the thread of webhooks has ended'));
    };
    worker.on('exit', owned(ended));
    return worker;
  }
}
