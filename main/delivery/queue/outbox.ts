/**
 * Delivers what transactions put into the outbox: after their commit, at least once each, over restarts and crashes.
 *
 * Deliveries that keep their order form a queue (`queues.ts`): it delivers one at a time, and waits while its first waits to be
 * tried again.
 */
import { randomUUID } from 'node:crypto';
import type { Reader, Writer } from '../../storage/connection.ts';
import {
  countFinished,
  deleteOutboxPayload,
  deleteUselessPayloads,
  finishDelivery,
  forgetOldDeliveries,
  getFirstWaiting,
  getOutboxPayload,
  hasUselessPayloads,
  insertOutboxPayload,
  insertOutboxRow,
  listWaitingQueues,
  noteRecovery,
  outboxPayloadsTable,
  deadLetterDeliveries,
  postponeDelivery,
  type OutboxEntry,
  type OutboxRow,
} from '../../storage/tables/outbox.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import { isOver, type Clock } from '../../lib/clock.ts';
import { backoffMs, longestPauseMs } from './backoff.ts';
import { DeliveryQueues, longestSleepMs, type DeliveryQueue } from './queues.ts';
import { every } from '../../lib/concurrency/every.ts';
import { SerialQueue } from '../../lib/concurrency/serial.ts';
import { owned } from '../../lib/faults.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

/** A delivery to enqueue. Its payload is sealed in the file until it is delivered. */
export interface NewDelivery extends Omit<OutboxEntry, 'id' | 'createdAt' | 'expiresAt' | 'queue'> {
  readonly id?: string;
  /** Of its own unless given: what is in no order to others. */
  readonly queue?: string;
  readonly expiresAt?: number;
  readonly payload?: Uint8Array;
}

/** A row that is being delivered, with its opened payload, which is erased after it. */
export interface Delivery extends OutboxRow {
  readonly payload: Uint8Array | undefined;
}

/** The outcome of an attempt; the note is kept in the log, and holds no secret. */
export type DeliveryOutcome =
  | { readonly outcome: 'delivered'; readonly note?: string }
  | {
      readonly outcome: 'retry';
      readonly note: string;
      /** Milliseconds; not earlier, up to the longest pause. */ readonly afterMs?: number;
    }
  | { readonly outcome: 'refused'; readonly note: string };

/** Delivers one at a time. What it throws is a fault of the program's own, and the delivery is tried again. */
export interface Transport {
  readonly kind: string;
  /** Milliseconds of retries after the first failure; without end unless given (or until it expires). */
  readonly periodMs?: number;
  /** @param signal Aborted when the vault closes. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** The unlocked vault, as far as the outbox needs it. */
interface OutboxKeys {
  readonly unlocked: boolean;
  seal(context: PayloadContext, secret: Uint8Array): Uint8Array;
  open(context: PayloadContext, sealed: Uint8Array): Uint8Array;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

interface PayloadContext {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

export interface OutboxParts {
  readonly units: UnitOfWork;
  readonly keys: OutboxKeys;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  /** Called after deliveries of a kind have come to an end, or failed. */
  readonly onResults?: (kind: string) => void;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** Queues that are served at once, in all and of one organization and kind. */
  readonly mostQueues?: number;
  readonly mostQueuesOfOne?: number;
  /** Finished deliveries that are kept. */
  readonly keep?: number;
}

const sweepEveryMs = 60_000;
const prunedAtOnce = 500;

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #keep: number;
  readonly #transports = new Map<string, Transport>();
  readonly #queues: DeliveryQueues;
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  /** By queue, a result that the file did not record: what was delivered is not delivered again. */
  readonly #unkept = new Map<string, Result>();
  #started = false;
  #stopSweeping: (() => void) | undefined;
  readonly #sweeps = new SerialQueue();
  #finished = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#keep = parts.keep ?? 10_000;
    this.#queues = new DeliveryQueues({
      clock: parts.clock,
      mayServe: () => this.#mayDeliver(),
      serve: (name, queue) => this.#serve(name, queue),
      onFault: parts.onFault,
      mostQueues: parts.mostQueues,
      mostQueuesOfOne: parts.mostQueuesOfOne,
    });
    this.#stopListening = parts.keys.onChange((unlocked) => {
      // The unlock has more to do before the file can be read.
      if (unlocked) {
        setImmediate(
          owned(() => {
            this.look();
          }, parts.onFault),
        );
      }
    });
  }

  /** Registers the transport of a kind. */
  register(transport: Transport): void {
    this.#transports.set(transport.kind, transport);
    this.look();
  }

  /** Begins to deliver, once the vault is unlocked. */
  start(): void {
    this.#started = true;
    this.#stopSweeping ??= every(sweepEveryMs, () => this.sweep(), this.#parts.onFault);
    this.look();
  }

  /**
   * Has something delivered once this transaction is committed.
   * @returns its id.
   * @throws KeyhearthError VAULT_LOCKED where it has a payload and the vault is locked.
   */
  enqueue(tx: Writer, delivery: NewDelivery): string {
    const { keys, clock } = this.#parts;
    const { id = randomUUID(), payload, expiresAt = null, organizationId, kind, reference } = delivery;
    const queue = delivery.queue ?? id;
    const entry = { id, organizationId, kind, queue, reference, expiresAt, createdAt: clock.wall() };
    insertOutboxRow(tx, entry);
    if (payload !== undefined) {
      const context = { table: outboxPayloadsTable, rowId: id, organizationId };
      insertOutboxPayload(tx, entry, keys.seal(context, payload));
    }
    // If the transaction is undone, the queue turns out empty.
    if (this.#transports.has(kind)) this.#queues.add(queue, { kind, organizationId });
    return id;
  }

  /** Looks for what waits in the file: after something was written past `enqueue`, or when the clock was moved. */
  look(): void {
    if (!this.#mayDeliver()) return;
    try {
      const queues = this.#parts.units.read(listWaitingQueues);
      for (const { queue, kind, organizationId, nextAt } of queues) {
        if (this.#transports.has(kind)) this.#queues.set(queue, { kind, organizationId, dueAt: nextAt });
      }
    } catch (error) {
      this.#parts.onFault(error);
    }
  }

  /** Lets go of what is kept no longer: old deliveries, and payloads of no use. */
  sweep(): Promise<void> {
    return this.#sweeps.run(() => this.#sweep());
  }

  /** Ends what is under way, and keeps its results. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    this.#stopSweeping?.();
    await this.#queues.stop();
    await this.#sweeps.ended();
  }

  /** Locked, no row could be trusted; what waits does so until the vault is unlocked. */
  #mayDeliver(): boolean {
    return this.#started && !this.#closing.signal.aborted && this.#parts.keys.unlocked;
  }

  /** Delivers the first of a queue. It does not reject. */
  async #serve(name: string, { kind }: DeliveryQueue): Promise<number | undefined> {
    const { units, clock, keys, onFault } = this.#parts;
    try {
      const transport = this.#transports.get(kind);
      const delivery = this.#take(name);
      if (transport === undefined || delivery === undefined) {
        this.#unkept.delete(name);
        return undefined;
      }
      try {
        const unkept = this.#unkept.get(name);
        const isKnown = unkept?.delivery.id === delivery.id && unkept.delivery.attempts === delivery.attempts;
        const outcome = isKnown ? unkept.outcome : await this.#try(transport, delivery);
        if (outcome !== undefined) {
          this.#unkept.set(name, { delivery, outcome });
          await this.#keepResult(name, transport, { delivery, outcome });
        }
        this.#unkept.delete(name);
      } finally {
        delivery.payload?.fill(0);
      }
      return units.read((tx) => getFirstWaiting(tx, name))?.nextAt;
    } catch (error) {
      // The file does not hold, the disk is full, or the vault was locked meanwhile: what waits stays in the file.
      if (keys.unlocked && !this.#closing.signal.aborted) onFault(error);
      return clock.wall() + longestSleepMs;
    }
  }

  #take(queue: string): Delivery | undefined {
    const { units, keys } = this.#parts;
    const found = units.read((tx) => {
      const row = getFirstWaiting(tx, queue);
      return row && { row, sealed: getOutboxPayload(tx, row.id) };
    });
    if (found === undefined) return undefined;
    const { row, sealed } = found;
    const context = { table: outboxPayloadsTable, rowId: row.id, organizationId: row.organizationId };
    return { ...row, payload: sealed && keys.open(context, sealed) };
  }

  /** @returns undefined where nothing is known of it. */
  async #try(transport: Transport, delivery: Delivery): Promise<Result['outcome'] | undefined> {
    if (isOver(delivery, this.#parts.clock.wall())) return { outcome: 'expired' };
    const { signal } = this.#closing;
    try {
      return await transport.deliver(delivery, signal);
    } catch (error) {
      // A delivery that was cut short by closing says nothing about the other side.
      if (signal.aborted) return undefined;
      this.#parts.onFault(error);
      return {
        outcome: 'retry',
        note: `${reasonOf(error)}: keyhearth.log in the vault’s directory says more`,
      };
    }
  }

  async #keepResult(queue: string, transport: Transport, { delivery, outcome }: Result): Promise<void> {
    const { units, keys, clock, random = Math.random, onResults } = this.#parts;
    const now = clock.wall();
    await units.write((tx) => {
      if (outcome.outcome === 'retry') {
        const wanted = Math.max(backoffMs(delivery.attempts + 1, random()), outcome.afterMs ?? 0);
        const pause = Math.min(wanted, longestPauseMs);
        postponeDelivery(tx, delivery, { note: outcome.note, nextAt: now + pause, now });
        if (transport.periodMs !== undefined) {
          deadLetterDeliveries(tx, queue, { failingSince: now - transport.periodMs, now });
        }
        return;
      }
      const tried = outcome.outcome !== 'expired';
      const note = tried ? (outcome.note ?? null) : 'its time was over';
      finishDelivery(tx, delivery.id, { state: outcome.outcome, note, tried, now });
      if (tried && delivery.failingSince !== null) noteRecovery(tx, queue);
      // A payload that stays behind because the vault was locked meanwhile goes with a later sweep.
      if (delivery.payload !== undefined && outcome.outcome !== 'refused' && keys.unlocked) {
        deleteOutboxPayload(tx, delivery.id);
      }
    });
    this.#finished++;
    onResults?.(transport.kind);
    if (this.#finished >= prunedAtOnce && this.#queues.idle) void this.sweep().catch(this.#parts.onFault);
  }

  async #sweep(): Promise<void> {
    const { units, keys, clock } = this.#parts;
    const isDue = (tx: Reader): boolean =>
      hasUselessPayloads(tx, clock.wall()) || countFinished(tx) > this.#keep;
    while (keys.unlocked && !this.#closing.signal.aborted && units.read(isDue)) {
      await units.write((tx) => {
        // Locked meanwhile, nothing could be authenticated.
        if (!keys.unlocked) return;
        deleteUselessPayloads(tx, clock.wall());
        forgetOldDeliveries(tx, this.#keep, prunedAtOnce);
      });
    }
    this.#finished = 0;
  }
}

interface Result {
  readonly delivery: Delivery;
  readonly outcome: DeliveryOutcome | { readonly outcome: 'expired' };
}
