/** The vault's side of the thread that signs and posts events. */
import { Thread } from '../../lib/concurrency/thread.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';
import { SharedKey } from './shared-key.ts';
import type { Batch, WebhookJobs } from './webhooks-worker.ts';

/** A batch that the thread has, and the byte by which it is ended. */
interface UnderWay {
  readonly organizationId: string;
  readonly ended: Uint8Array;
}

export class PostThread {
  readonly #underWay = new Set<UnderWay>();
  /** The thread's signing key, from the first batch until the vault is locked. */
  readonly #key = new SharedKey();
  readonly #thread = new Thread<WebhookJobs>({
    beside: import.meta.url,
    script: 'webhooks-worker',
    data: this.#key.memory,
  });

  /**
   * @param organizationId Whose endpoint it goes to.
   * @param seed What the key named in the batch signs with; it is copied, until `eraseKey`.
   * @returns the outcomes of the first events, in order: as many as were tried, which may be none.
   */
  async post(
    organizationId: string,
    batch: Omit<Batch, 'put' | 'ended'>,
    seed: Uint8Array,
  ): Promise<readonly DeliveryOutcome[]> {
    const ended = new Uint8Array(new SharedArrayBuffer(1));
    const underWay = { organizationId, ended };
    this.#underWay.add(underWay);
    try {
      return await this.#thread.ask('post', { ...batch, put: this.#key.put(seed), ended });
    } finally {
      this.#underWay.delete(underWay);
    }
  }

  /** An organization's batches that were handed over end before their next event. */
  end(organizationId: string): void {
    for (const each of this.#underWay) {
      if (each.organizationId === organizationId) Atomics.store(each.ended, 0, 1);
    }
  }

  /** Every batch that was handed over ends before its next event. */
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
