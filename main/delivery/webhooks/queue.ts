/**
 * The events that wait for an endpoint. The log is the queue: an endpoint has a position in it. Its events
 * beyond the position wait behind its rows that wait.
 */
import {
  activityHashAt,
  genesis,
  getLogRow,
  logEnd,
  type ActivityRow,
  type LogPoint,
} from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { listLogFor, listWaitingDeliveries } from '../../storage/tables/webhook-deliveries.ts';
import { getWebhookEndpoint, type WebhookEndpointRow } from '../../storage/tables/webhook-endpoints.ts';
import { sorterFor } from '../../storage/tables/webhook-events.ts';
import { hasCome } from '../../lib/clock.ts';
import { longestPauseMs } from '../queue/backoff.ts';

/** Events in a batch, and rows of the log that are searched for them. */
export const batchEvents = 64;
const scannedAtOnce = 1024;
/** Rows without an event that may be searched before the position is stored. */
const rememberedSkips = 1000;

/** An event that is to be sent. */
export interface Item {
  readonly sequence: number;
  /** Tries before this one. */
  readonly attempts: number;
  /** True for a waiting row, false for an event beyond the endpoint's position. */
  readonly isRow: boolean;
  readonly failingSince: number | null;
  readonly row: ActivityRow | undefined;
}

/** The next batch of an endpoint. All of it is recorded together. */
export interface Taken {
  readonly endpoint: WebhookEndpointRow;
  readonly from: number;
  readonly items: readonly Item[];
  /** Why none of it is sent; what it wants of them is. */
  readonly refusal: string | undefined;
  /** The endpoint's position once the whole batch has ended. */
  readonly to: number;
}

export class EventQueue {
  /** For each endpoint, how far the log beyond its position was searched without a find. */
  readonly #skipped = new Map<string, { readonly position: number; readonly point: LogPoint }>();

  /**
   * @param from The endpoint's position.
   * @returns what is due; else when something is, or undefined where there is nothing.
   */
  take(tx: Reader, endpoint: WebhookEndpointRow, from: number, now: number): Taken | number | undefined {
    const fateOf = sorterFor(endpoint);
    const items: Item[] = [];
    let fate: 'send' | 'refuse' | undefined;
    /** @returns whether there may be more of it. */
    const put = (item: Item, its: 'send' | 'refuse'): boolean => {
      fate ??= its;
      if (fate !== its) return false;
      return items.push(item) < batchEvents;
    };
    const taken = (to: number): Taken => {
      const refusal = fate === 'refuse' ? 'the endpoint is switched off' : undefined;
      return { endpoint, from, items, refusal, to };
    };
    const waiting = listWaitingDeliveries(tx, endpoint.id, batchEvents);
    const [first] = waiting;
    if (first !== undefined && !hasCome(first.nextAt, now, longestPauseMs)) return first.nextAt;
    for (const { nextAt, ...each } of waiting) {
      const row = getLogRow(tx, each.sequence);
      const isSent = endpoint.active === 1 || (row !== undefined && fateOf(row) === 'send');
      if (!put({ ...each, row, isRow: true }, isSent ? 'send' : 'refuse')) return taken(from);
    }
    let to = this.#startOf(tx, endpoint.id, from);
    let last: ActivityRow | undefined;
    for (let scanned = 0; scanned < scannedAtOnce;) {
      const wanted = batchEvents - items.length;
      const { rows, isEnd } = listLogFor(tx, endpoint, to, wanted);
      for (const row of rows) {
        const its = fateOf(row);
        const item = { sequence: row.sequence, attempts: 0, isRow: false, failingSince: null, row };
        const goesOn = its === 'skip' || put(item, its);
        if (goesOn || items.at(-1) === item) to = row.sequence;
        if (!goesOn) return taken(to);
        last = row;
      }
      scanned += rows.length;
      if (isEnd) break;
    }
    if (items.length > 0 || to - from > rememberedSkips) return taken(to);
    if (last !== undefined) this.#skipped.set(endpoint.id, { position: from, point: last });
    return undefined;
  }

  /** When an endpoint is due; undefined where nothing of the log is left for it. */
  nextAt(tx: Reader, endpointId: string): number | undefined {
    const [first] = listWaitingDeliveries(tx, endpointId, 1);
    if (first !== undefined) return first.nextAt;
    const endpoint = getWebhookEndpoint(tx, endpointId);
    if (endpoint?.position == null) return undefined;
    const start = this.#startOf(tx, endpointId, endpoint.position);
    if (start >= logEnd(tx).sequence) return undefined;
    return listLogFor(tx, endpoint, start, 1).rows.length > 0 ? 0 : undefined;
  }

  /**
   * The point where the search continues: beyond the endpoint's position if none of its events came right
   * after it.
   */
  #startOf(tx: Reader, endpointId: string, position: number): number {
    const skipped = this.#skipped.get(endpointId);
    if (skipped === undefined) return position;
    const { sequence, hash } = skipped.point;
    // The same log still: its file may have been replaced.
    if (
      skipped.position === position &&
      Buffer.compare(activityHashAt(tx, sequence) ?? genesis, hash) === 0
    ) {
      return sequence;
    }
    this.#skipped.delete(endpointId);
    return position;
  }
}
