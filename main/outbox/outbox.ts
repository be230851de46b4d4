/**
 * Delivers what transactions put into the outbox: after their commit, at least once each, over restarts and crashes.
 *
 * What is delivered in order is a lane: one at a time, and while its first waits to be tried again the lane waits. Lanes
 * do not wait for one another. Which lanes are being served is known in memory alone, so a delivery costs one row written in
 * the transaction that causes it, and a share in one write of results.
 */
import { randomUUID } from 'node:crypto';
import type { Reader, Writer } from '../db/connection.ts';
import {
  countFinished,
  deleteOutboxPayload,
  deleteUselessPayloads,
  finishDelivery,
  forgetOldDeliveries,
  getOutboxPayload,
  hasUselessPayloads,
  insertOutboxPayload,
  insertOutboxRow,
  listWaiting,
  listWaitingLanes,
  noteRecovery,
  outboxPayloadsTable,
  parkDeliveries,
  postponeDelivery,
  type OutboxEntry,
  type OutboxRow,
} from '../db/outbox.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import type { Clock } from '../lib/clock.ts';
import { backoffMs } from './backoff.ts';

/** What is to be delivered; a payload is sealed in the file until it was. */
export interface NewDelivery extends Omit<OutboxEntry, 'id' | 'createdAt' | 'expiresAt' | 'lane'> {
  readonly id?: string;
  /** Of its own unless given: what is in no order to others. */
  readonly lane?: string;
  readonly expiresAt?: number;
  readonly payload?: Uint8Array;
}

/** A row that is being delivered, with its opened payload, which is erased after it. */
export interface Delivery extends OutboxRow {
  readonly payload: Uint8Array | undefined;
}

/** What came of a try; the note is kept in the log, and has nothing secret in it. */
export type Outcome =
  | { readonly outcome: 'delivered'; readonly note?: string }
  | {
      readonly outcome: 'retry';
      readonly note: string;
      /** Milliseconds; not earlier. */ readonly afterMs?: number;
    }
  | { readonly outcome: 'refused'; readonly note: string };

interface CarrierBase {
  readonly kind: string;
  /** How long it is tried after the first failure, in milliseconds; for ever unless given (or until it expires). */
  readonly periodMs?: number;
}

/** Delivers one at a time. What it throws is a fault of the program's own, and the delivery is tried again. */
export interface Carrier extends CarrierBase {
  /** @param signal Aborted when the vault closes. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<Outcome>;
}

/** Delivers several of one lane in their order, up to the first that it could not. */
export interface LotCarrier extends CarrierBase {
  /** How many it is given at once, at most. */
  readonly lot: number;
  /** @returns the outcomes of the first, in order: as many as were tried; after a retry there is none. */
  deliverLot(deliveries: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]>;
}

/** The unlocked vault, as far as the outbox needs it. */
interface OutboxKeys {
  readonly unlocked: boolean;
  seal(place: PayloadPlace, secret: Uint8Array): Uint8Array;
  open(place: PayloadPlace, sealed: Uint8Array): Uint8Array;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

interface PayloadPlace {
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
  /** How many lanes are served at once, in all and of one organization and kind. */
  readonly mostLanes?: number;
  readonly mostLanesOfOne?: number;
  /** How many deliveries that came to an end are kept. */
  readonly keep?: number;
}

interface Lane {
  readonly kind: string;
  readonly organizationId: string;
  /** When its first is tried, on the clock's `wall`. */
  readonly dueAt: number;
}

/** The longest that a timer of Node's can wait is 24 days; a clock that was set is noticed after this. */
const longestSleepMs = 60_000;
const sweepEveryMs = 60_000;
const prunedAtOnce = 500;

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #mostLanes: number;
  readonly #mostLanesOfOne: number;
  readonly #keep: number;
  readonly #carriers = new Map<string, Carrier | LotCarrier>();
  /** Lanes that have something to deliver and are not being served. */
  readonly #waiting = new Map<string, Lane>();
  readonly #serving = new Map<string, { readonly lane: Lane; readonly done: Promise<void> }>();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  #started = false;
  #pumping: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #finished = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#mostLanes = parts.mostLanes ?? 64;
    this.#mostLanesOfOne = parts.mostLanesOfOne ?? 16;
    this.#keep = parts.keep ?? 10_000;
    this.#stopListening = parts.keys.onChange((unlocked) => {
      // Whoever unlocks has more to do before the file can be read.
      if (unlocked) {
        setImmediate(() => {
          this.look();
        });
      }
    });
  }

  /** Takes on whoever delivers a kind. */
  carry(carrier: Carrier | LotCarrier): void {
    this.#carriers.set(carrier.kind, carrier);
    this.#pumpSoon();
  }

  /** Begins to deliver, once the vault is unlocked. */
  start(): void {
    this.#started = true;
    this.#sweeper ??= setInterval(() => {
      this.sweep().catch(this.#parts.onFault);
    }, sweepEveryMs).unref();
    this.look();
  }

  /**
   * Has something delivered once this transaction is committed.
   * @returns its id.
   * @throws LatchkeyError VAULT_LOCKED where it has a payload and the vault is locked.
   */
  enqueue(tx: Writer, delivery: NewDelivery): string {
    const { keys, clock } = this.#parts;
    const { id = randomUUID(), payload, expiresAt = null, organizationId, kind, reference } = delivery;
    const lane = delivery.lane ?? id;
    const entry = { id, organizationId, kind, lane, reference, expiresAt, createdAt: clock.wall() };
    this.put(tx, entry);
    if (payload !== undefined) {
      const place = { table: outboxPayloadsTable, rowId: id, organizationId };
      insertOutboxPayload(tx, entry, keys.seal(place, payload));
    }
    return id;
  }

  /** As `enqueue`, for a row that is complete. */
  put(tx: Writer, entry: OutboxEntry): void {
    const { lane, kind, organizationId } = entry;
    insertOutboxRow(tx, entry);
    // Where the transaction is undone, nothing is found in the lane.
    if (!this.#waiting.has(lane) && !this.#serving.has(lane)) {
      this.#waiting.set(lane, { kind, organizationId, dueAt: 0 });
    }
    this.#pumpSoon();
  }

  /** Looks for what waits in the file: after something was written past `enqueue`, or when the clock was moved. */
  look(): void {
    if (!this.#mayDeliver()) return;
    try {
      const lanes = this.#parts.units.read(listWaitingLanes);
      for (const { lane, kind, organizationId, nextAt } of lanes) {
        if (!this.#serving.has(lane)) this.#waiting.set(lane, { kind, organizationId, dueAt: nextAt });
      }
    } catch (error) {
      this.#parts.onFault(error);
      return;
    }
    this.#pumpSoon();
  }

  /** Lets go of what is kept no longer: old deliveries, and payloads of no use. */
  sweep(): Promise<void> {
    this.#sweeping = this.#sweeping.then(() => this.#sweep());
    return this.#sweeping;
  }

  /** Ends what is under way, and keeps its results. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    clearImmediate(this.#pumping);
    clearTimeout(this.#timer);
    clearInterval(this.#sweeper);
    await Promise.all([...this.#serving.values()].map(({ done }) => done));
    await this.#sweeping.catch(() => undefined);
  }

  /** Locked, no row could be trusted; what waits does so until the vault is unlocked. */
  #mayDeliver(): boolean {
    return this.#started && !this.#closing.signal.aborted && this.#parts.keys.unlocked;
  }

  #pumpSoon(): void {
    if (!this.#mayDeliver()) return;
    this.#pumping ??= setImmediate(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  /** Serves the lanes whose time has come, those that came first first. */
  #pump(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#mayDeliver()) return;
    const now = this.#parts.clock.wall();
    let nextAt = Infinity;
    for (const [name, lane] of this.#waiting) {
      if (this.#serving.size >= this.#mostLanes) return;
      const carrier = this.#carriers.get(lane.kind);
      if (carrier === undefined) continue;
      if (lane.dueAt > now) nextAt = Math.min(nextAt, lane.dueAt);
      else if (this.#servedLike(lane) < this.#mostLanesOfOne) {
        this.#waiting.delete(name);
        this.#serving.set(name, { lane, done: this.#serve(name, lane, carrier) });
      }
    }
    if (nextAt === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#pump();
      },
      Math.min(Math.max(nextAt - now, 1), longestSleepMs),
    ).unref();
  }

  /** A mail server that hangs holds up mail, and no webhook of the same organization. */
  #servedLike({ kind, organizationId }: Lane): number {
    let count = 0;
    for (const { lane } of this.#serving.values()) {
      if (lane.kind === kind && lane.organizationId === organizationId) count++;
    }
    return count;
  }

  /** Delivers the first of a lane, and notes when the next are due. It does not reject. */
  async #serve(name: string, lane: Lane, carrier: Carrier | LotCarrier): Promise<void> {
    const { units, clock, keys, onFault } = this.#parts;
    // In a turn of its own: not within the loop that is about to note that it is served.
    await Promise.resolve();
    let dueAt: number | undefined;
    try {
      const deliveries = this.#take(name, 'lot' in carrier ? carrier.lot : 1);
      try {
        await this.#keepResults(name, carrier, await this.#try(carrier, deliveries));
      } finally {
        for (const { payload } of deliveries) payload?.fill(0);
      }
      dueAt = units.read((tx) => listWaiting(tx, name, 1))[0]?.nextAt;
    } catch (error) {
      // The file does not hold, the disk is full, or the vault was locked meanwhile: what waits stays in the file.
      if (keys.unlocked && !this.#closing.signal.aborted) onFault(error);
      dueAt = clock.wall() + longestSleepMs;
    } finally {
      // At once after the look: what is written later finds the lane in one of the two.
      this.#serving.delete(name);
      if (dueAt !== undefined) this.#waiting.set(name, { ...lane, dueAt });
      this.#pumpSoon();
    }
  }

  #take(lane: string, most: number): Delivery[] {
    const { units, keys } = this.#parts;
    const rows = units.read((tx) =>
      listWaiting(tx, lane, most).map((row) => ({ row, sealed: getOutboxPayload(tx, row.id) })),
    );
    return rows.map(({ row, sealed }) => {
      const place = { table: outboxPayloadsTable, rowId: row.id, organizationId: row.organizationId };
      return { ...row, payload: sealed && keys.open(place, sealed) };
    });
  }

  async #try(carrier: Carrier | LotCarrier, deliveries: readonly Delivery[]): Promise<readonly Result[]> {
    const now = this.#parts.clock.wall();
    const isLate = ({ expiresAt }: OutboxRow): boolean => expiresAt !== null && expiresAt <= now;
    const [first] = deliveries;
    if (first === undefined) return [];
    if (isLate(first)) {
      return deliveries.filter(isLate).map((delivery) => ({ delivery, outcome: { outcome: 'expired' } }));
    }
    const late = deliveries.findIndex(isLate);
    const fresh = late === -1 ? deliveries : deliveries.slice(0, late);
    const { signal } = this.#closing;
    try {
      const outcomes =
        'lot' in carrier ? await carrier.deliverLot(fresh, signal) : [await carrier.deliver(first, signal)];
      if (outcomes.length === 0 && !signal.aborted)
        throw new Error(`nothing came of a ${carrier.kind} delivery`);
      return outcomes.flatMap((outcome, index) => {
        const delivery = fresh[index];
        return delivery ? [{ delivery, outcome }] : [];
      });
    } catch (error) {
      // A delivery that was cut short by closing says nothing about the other side.
      if (signal.aborted) return [];
      this.#parts.onFault(error);
      return [{ delivery: first, outcome: { outcome: 'retry', note: 'internal error: see the log' } }];
    }
  }

  async #keepResults(lane: string, carrier: CarrierBase, results: readonly Result[]): Promise<void> {
    if (results.length === 0) return;
    const { units, keys, clock, random = Math.random, onResults } = this.#parts;
    const now = clock.wall();
    await units.write((tx) => {
      let recovered = false;
      let failed = false;
      for (const { delivery, outcome } of results) {
        if (outcome.outcome === 'retry') {
          const pause = Math.max(backoffMs(delivery.attempts + 1, random()), outcome.afterMs ?? 0);
          postponeDelivery(tx, delivery, { note: outcome.note, nextAt: now + pause, now });
          failed = true;
          continue;
        }
        const tried = outcome.outcome !== 'expired';
        const note = tried ? (outcome.note ?? null) : 'its time was over';
        finishDelivery(tx, delivery.id, { state: outcome.outcome, note, tried, now });
        if (tried && delivery.failingSince !== null && !recovered) {
          noteRecovery(tx, lane);
          recovered = true;
        }
        // A payload that stays behind because the vault was locked meanwhile goes with a later sweep.
        if (delivery.payload !== undefined && outcome.outcome !== 'refused' && keys.unlocked) {
          deleteOutboxPayload(tx, delivery.id);
        }
      }
      if (failed && carrier.periodMs !== undefined) {
        parkDeliveries(tx, lane, { failingSince: now - carrier.periodMs, now });
      }
    });
    this.#finished += results.length;
    onResults?.(carrier.kind);
    if (this.#finished >= prunedAtOnce && this.#waiting.size === 0)
      void this.sweep().catch(this.#parts.onFault);
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
  readonly outcome: Outcome | { readonly outcome: 'expired' };
}
