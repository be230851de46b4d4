/** The vault's side of the thread that signs and posts events. */
import { Thread } from '../../lib/concurrency/thread.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';
import { SharedKey } from './shared-key.ts';
import type { Batch, WebhookJobs } from './webhooks-worker.ts';

export class PostThread {
  /** The thread's signing key, from the first batch until the vault is locked. */
  readonly #key = new SharedKey();
  readonly #thread = new Thread<WebhookJobs>({
    beside: import.meta.url,
    script: 'webhooks-worker',
    data: this.#key.memory,
  });

  /**
   * @param seed What the key named in the batch signs with; it is copied, until `eraseKey`.
   * @returns the outcomes of the first events, in order: as many as were tried, which may be none.
   */
  post(batch: Omit<Batch, 'put'>, seed: Uint8Array): Promise<readonly DeliveryOutcome[]> {
    return this.#thread.ask('post', { ...batch, put: this.#key.put(seed) });
  }

  /** A batch that was handed over ends before its next event. */
  eraseKey(): void {
    this.#key.erase();
  }

  /** Ends what is under way, and still reports what was delivered by then. */
  async stop(): Promise<void> {
    // A thread that has ended by itself has nothing under way.
    if (this.#thread.isRunning) await this.#thread.ask('stop', undefined).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.eraseKey();
    await this.#thread.close();
  }
}
