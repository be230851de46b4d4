/** The vault's side of the thread that posts events. */
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../outbox/outbox.ts';
import type { Lot } from './post.ts';
import type { Order, Report } from './worker.ts';

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
  #worker: Worker | undefined;
  #next = 0;

  /** @returns the outcomes of the first events, in order: as many as were tried. */
  post(lot: Lot): Promise<readonly Outcome[]> {
    this.#worker ??= this.#start();
    const id = this.#next++;
    // The bodies move: they were made for this alone.
    const bodies = lot.events
      .map(({ body }) => body.buffer)
      .filter((buffer) => buffer instanceof ArrayBuffer);
    this.#worker.postMessage({ id, lot } satisfies Order, bodies);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** Ends what is under way; what was delivered by then is still told. */
  stop(): void {
    this.#worker?.postMessage({ stop: true } satisfies Order);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(script, { name: 'latchkey webhooks' });
    // A service that ends waits for nobody.
    worker.unref();
    worker.on('message', ({ id, outcomes }: Report) => {
      this.#waiting.get(id)?.resolve(outcomes);
      this.#waiting.delete(id);
    });
    const fail = (error: unknown): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    worker.on('error', fail);
    worker.on('exit', () => {
      fail(new Error('the thread of webhooks has ended'));
    });
    return worker;
  }
}
