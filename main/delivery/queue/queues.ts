/**
 * Serves queues: each in its order, several at once, and none waits for another. Only memory knows which queues have work; their
 * owner can always list them again from the file.
 */
import { hasCome, type Clock } from '../../lib/clock.ts';
import { owned, type OnFault } from '../../lib/faults.ts';
import { longestPauseMs } from './backoff.ts';

export interface DeliveryQueue {
  readonly kind: string;
  readonly organizationId: string;
  /** When its first is tried, on the clock's `wall`; 0 for at once. */
  readonly dueAt: number;
}

export interface DeliveryQueuesParts {
  readonly clock: Clock;
  /** True while deliveries may start. Call `pumpSoon` when this turns true. */
  readonly mayServe: () => boolean;
  /**
   * Serves a queue once. If it rejects, the queue is tried again after a while. It awaits nothing between its last look at the
   * queue and its return.
   * @returns when the queue is due again; undefined when it is empty.
   */
  readonly serve: (name: string, queue: DeliveryQueue) => Promise<number | undefined>;
  readonly onFault: OnFault;
  /** True for a sub-organization: together they leave some places to the vault's own organization. None is one unless given. */
  readonly isBelow?: ((organizationId: string) => boolean) | undefined;
  /** Queues that are served at once, in all and of one organization and kind. */
  readonly mostQueues?: number | undefined;
  readonly mostQueuesOfOne?: number | undefined;
}

/** The part of all places that sub-organizations may have together. */
const shareBelow = 0.75;

interface Serving {
  readonly queue: DeliveryQueue;
  readonly isBelow: boolean;
  readonly done: Promise<void>;
}

/** The longest that a timer of Node's can wait is 24 days; a clock that was set is noticed after this. */
export const longestSleepMs = 60_000;

export class DeliveryQueues {
  readonly #parts: DeliveryQueuesParts;
  readonly #mostQueues: number;
  readonly #mostQueuesOfOne: number;
  /** Queues that have work and are not being served. */
  readonly #waiting = new Map<string, DeliveryQueue>();
  readonly #serving = new Map<string, Serving>();
  #pumping: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DeliveryQueuesParts) {
    this.#parts = parts;
    this.#mostQueues = parts.mostQueues ?? 64;
    this.#mostQueuesOfOne = parts.mostQueuesOfOne ?? 16;
  }

  /** True while no queue has work. */
  get idle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Serves a queue that may have got work; one that waits for its time goes on waiting. */
  add(name: string, queue: Omit<DeliveryQueue, 'dueAt'>): void {
    if (!this.#waiting.has(name) && !this.#serving.has(name)) this.#waiting.set(name, { ...queue, dueAt: 0 });
    this.pumpSoon();
  }

  /** Sets when a queue is due, as the file has it. */
  set(name: string, queue: DeliveryQueue): void {
    if (!this.#serving.has(name)) this.#waiting.set(name, queue);
    this.pumpSoon();
  }

  pumpSoon(): void {
    if (!this.#parts.mayServe()) return;
    this.#pumping ??= setImmediate(
      owned(() => {
        this.#pumping = undefined;
        this.#pump();
      }, this.#onFault),
    );
  }

  /** Begins nothing more. @returns when all that is under way has ended. */
  async stop(): Promise<void> {
    clearImmediate(this.#pumping);
    clearTimeout(this.#timer);
    await Promise.all([...this.#serving.values()].map(({ done }) => done));
  }

  /**
   * Serves the queues whose time has come: those of the organization with the fewest under way first, and of one organization the
   * oldest first.
   */
  #pump(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#parts.mayServe() || this.#serving.size >= this.#mostQueues) return;
    const now = this.#parts.clock.wall();
    let nextAt = Infinity;
    const due = new Map<string, string[]>();
    for (const [name, queue] of this.#waiting) {
      if (!hasCome(queue.dueAt, now, longestPauseMs)) {
        nextAt = Math.min(nextAt, queue.dueAt);
        continue;
      }
      const names = due.get(shareOf(queue));
      if (names === undefined) due.set(shareOf(queue), [name]);
      else names.push(name);
    }
    this.#begin([...due.values()]);
    if (nextAt !== Infinity) this.#sleep(Math.min(Math.max(nextAt - now, 1), longestSleepMs));
  }

  /** @param due Names of queues, of one organization and kind each list. A mail server that hangs holds up no webhook. */
  #begin(due: readonly (readonly string[])[]): void {
    const { isBelow = () => false } = this.#parts;
    const mostBelow = Math.ceil(this.#mostQueues * shareBelow);
    const underWay = [...this.#serving.values()];
    let below = underWay.filter((serving) => serving.isBelow).length;
    const shares = due.flatMap((names) => {
      const queue = this.#waiting.get(names[0] ?? '');
      if (queue === undefined) return [];
      const served = underWay.filter((other) => shareOf(other.queue) === shareOf(queue)).length;
      return [{ names: names.values(), served, isBelow: isBelow(queue.organizationId) }];
    });
    while (this.#serving.size < this.#mostQueues) {
      let share: (typeof shares)[number] | undefined;
      for (const each of shares) {
        const isOpen = each.served < this.#mostQueuesOfOne && !(each.isBelow && below >= mostBelow);
        if (isOpen && each.served < (share?.served ?? Infinity)) share = each;
      }
      if (share === undefined) return;
      const name = share.names.next().value;
      const queue = name === undefined ? undefined : this.#waiting.get(name);
      if (name === undefined || queue === undefined) {
        shares.splice(shares.indexOf(share), 1);
        continue;
      }
      share.served += 1;
      if (share.isBelow) below += 1;
      this.#waiting.delete(name);
      this.#serving.set(name, { queue, isBelow: share.isBelow, done: this.#serve(name, queue) });
    }
  }

  #sleep(milliseconds: number): void {
    this.#timer = setTimeout(
      owned(() => {
        this.#pump();
      }, this.#onFault),
      milliseconds,
    ).unref();
  }

  /** Reports a fault in choosing what to serve, and tries again after a while. */
  readonly #onFault = (error: unknown): void => {
    this.#parts.onFault(error);
    clearTimeout(this.#timer);
    this.#sleep(longestSleepMs);
  };

  async #serve(name: string, queue: DeliveryQueue): Promise<void> {
    // In a turn of its own: not within the loop that is about to note that it is served.
    await Promise.resolve();
    let dueAt: number | undefined;
    try {
      dueAt = await this.#parts.serve(name, queue);
    } catch (error) {
      this.#parts.onFault(error);
      dueAt = this.#parts.clock.wall() + longestSleepMs;
    } finally {
      // In the turn of the last look: what is written later finds the queue in one of the two.
      this.#serving.delete(name);
      if (dueAt !== undefined) this.#waiting.set(name, { ...queue, dueAt });
      this.pumpSoon();
    }
  }
}

const shareOf = ({ kind, organizationId }: DeliveryQueue): string => `${kind} ${organizationId}`;
