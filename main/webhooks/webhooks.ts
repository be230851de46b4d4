/**
 * Webhooks: every revision of an activity goes to the endpoints of its organization and its parent's, signed.
 *
 * The log is the queue: an endpoint has a place in it, and what it wants beyond that place waits. So an activity costs
 * nothing more where it goes to somebody; what became of events is written in lots, after they were delivered. At least
 * once: a crash between a delivery and its note has it sent again.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  activityHashAt,
  genesis,
  getLogRow,
  logEnd,
  type ActivityRow,
  type LogPoint,
} from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { getFeature } from '../db/features.ts';
import { getOrganization } from '../db/organizations.ts';
import { isNetworkOn } from '../db/settings.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import {
  adoptWebhookDeliveries,
  forgetWebhookDeliveries,
  keepWebhookResult,
  listLogFor,
  listWaitingDeliveries,
  noteWebhookRecovery,
  parkWebhookRows,
  removeWebhookEndpoint,
  type WebhookResult,
} from '../db/webhook-deliveries.ts';
import {
  getWebhookEndpoint,
  insertWebhookEndpoint,
  listEndpointLanes,
  listEndpointsFor,
  listFailingEndpoints,
  listWebhookEndpoints,
  listWebhookFeatures,
  moveEndpoint,
  noteFailing,
  updateWebhookEndpoint,
  type WebhookEndpointRow,
} from '../db/webhook-endpoints.ts';
import { eventIdOf, sorterFor } from '../db/webhook-events.ts';
import type { Reach } from '../auth/guarded-get.ts';
import { Lru } from '../crypto/lru.ts';
import type { Clock } from '../lib/clock.ts';
import { isThisMachine } from '../lib/network.ts';
import { backoffMs } from '../outbox/backoff.ts';
import { Lanes, longestSleepMs } from '../outbox/lanes.ts';
import type { Outcome } from '../outbox/outbox.ts';
import { makeWebhookKey, openWebhookKey, webhookJwks, type WebhookJwk, type WebhookKeys } from './signing.ts';
import { PostThread } from './thread.ts';

const hour = 60 * 60_000;
const featureName = 'FEATURE_NAME_WEBHOOK';

const changesFeatures = [
  'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
];
/** It puts endpoints back, or has rows wait again. */
const sendsAgain = 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES';
/** Activities after which other endpoints may be told of something. */
const changesEndpoints = /_(WEBHOOK_|ORGANIZATION_FEATURE|SUB_ORGANIZATION)/;

export interface WebhookParts {
  readonly units: UnitOfWork;
  readonly keys: WebhookKeys;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  /** Called now and then while deliveries come to an end or fail. */
  readonly onChange: () => void;
  /** An activity as the API shows one, as of a revision. */
  readonly showActivity: (tx: Reader, row: ActivityRow) => Record<string, unknown>;
  /** Whether this machine is connected; a no is not wrong. */
  readonly isOnline?: () => boolean;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** How many deliveries that came to an end are kept of each organization. */
  readonly keep?: number;
}

/** How long an endpoint that takes nothing is tried. */
const periodMs = 24 * hour;
const tellEveryMs = 500;
/** How much is handed to the thread at once, and how much of the log is looked through for it. */
const lotEvents = 64;
const lotBytes = 1024 * 1024;
/** Between two lots of one endpoint, unless the first was full: small ones cost the vault as much time as large ones. */
const lotEveryMs = 25;
const lookedThrough = 1024;
/** How much of the log may have been looked through in vain before that is written down. */
const rememberedSkips = 1000;
/** How many rows are given up in one transaction. */
const parkedAtOnce = 1000;
const forgetsAfter = 500;
/** How long it is waited for the network, unless somebody tells that it is there. */
const heldMs = 60_000;

/** An event that is to be sent. */
interface Item {
  readonly sequence: number;
  /** Tries before this one. */
  readonly attempts: number;
  /** Whether it is a row that waits, and not one beyond the endpoint's place. */
  readonly isRow: boolean;
  readonly failingSince: number | null;
  readonly row: ActivityRow | undefined;
}

/** What of an endpoint is due, with one fate for all of it. */
interface Taken {
  readonly endpoint: WebhookEndpointRow;
  readonly from: number;
  readonly items: readonly Item[];
  /** Why none of it is sent; what it wants of them is. */
  readonly refusal: string | undefined;
  /** Where the endpoint is once all of it has come to an end. */
  readonly to: number;
}

export class Webhooks {
  readonly #parts: WebhookParts;
  readonly #keep: number;
  readonly #lanes: Lanes;
  readonly #thread = new PostThread();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  /** Organizations that something happened in, of which it was not yet looked who wants to know. */
  readonly #grown = new Set<string>();
  /** The endpoints that are told of an organization, until one is made or removed. */
  #told = newTold();
  /** How many deliveries of an organization came to an end since old ones were let go of. */
  readonly #finished = new Map<string, number>();
  /** How far each endpoint's log was looked through in vain, beyond its place. */
  readonly #skipped = new Map<string, { readonly place: number; readonly point: LogPoint }>();
  /** Endpoints that events wait for while nothing can be sent to them. */
  readonly #held = new Set<string>();
  #started = false;
  /** Whether rows of endpoints were changed past what is known here. */
  #isStale = false;
  #waking: NodeJS.Immediate | undefined;
  #telling: NodeJS.Timeout | undefined;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#keep = parts.keep ?? 10_000;
    this.#lanes = new Lanes({
      clock: parts.clock,
      mayServe: () => this.#maySend(),
      serve: (endpointId) => this.#serve(endpointId),
    });
    this.#stopListening = parts.keys.onChange((unlocked) => {
      if (!unlocked) {
        this.#thread.eraseKey();
        return;
      }
      // Whoever unlocks has more to do before the file can be written.
      setImmediate(() => void this.#prepare());
    });
  }

  /** Begins to send, once the vault is unlocked. */
  start(): void {
    this.#started = true;
    if (this.#parts.keys.unlocked) void this.#prepare();
  }

  /** Called in the transaction that appends a row to the log. */
  onAppended(tx: Writer, { type, status, organizationId, updatedAt }: ActivityRow): void {
    const isDone = status === 'ACTIVITY_STATUS_COMPLETED';
    // What switches events on is not itself one: the endpoint begins after it.
    if (isDone && changesFeatures.includes(type)) this.#followFeature(tx, organizationId, updatedAt);
    if (!this.#started) return;
    this.#grown.add(organizationId);
    if (changesEndpoints.test(type)) this.#told = newTold();
    this.#isStale ||= type === sendsAgain;
    // Transactions end in the turn in which they begin.
    this.#waking ??= setImmediate(() => {
      this.#waking = undefined;
      if (this.#isStale) this.look();
      else this.#wake();
    });
  }

  /** Looks for what waits in the file: after it was replaced, or when the clock was moved. */
  look(): void {
    if (!this.#maySend()) return;
    this.#isStale = false;
    this.#held.clear();
    this.#grown.clear();
    this.#told = newTold();
    this.#quietly(() => {
      for (const { id, organizationId, nextAt } of this.#parts.units.read(listEndpointLanes)) {
        this.#lanes.set(id, { kind: 'webhook', organizationId, dueAt: nextAt ?? 0 });
      }
    });
  }

  /** What receivers check signatures with. */
  jwks(): readonly WebhookJwk[] {
    return this.#parts.units.read(webhookJwks);
  }

  /** How many endpoints have events that could not be delivered yet. */
  countDelayed(tx: Reader): number {
    return new Set([...this.#held, ...listFailingEndpoints(tx)]).size;
  }

  /** Ends what is under way, and keeps its results. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    clearImmediate(this.#waking);
    clearTimeout(this.#telling);
    this.#thread.stop();
    await this.#lanes.stop();
    await this.#thread.close();
  }

  /** Locked, no row could be trusted; what waits does so until the vault is unlocked. */
  #maySend(): boolean {
    return this.#started && !this.#closing.signal.aborted && this.#parts.keys.unlocked;
  }

  #wake(): void {
    const grown = [...this.#grown];
    this.#grown.clear();
    if (!this.#maySend()) return;
    this.#quietly(() => {
      for (const organization of grown) {
        let endpoints = this.#told.get(organization);
        if (endpoints === undefined) {
          endpoints = this.#parts.units.read((tx) => listEndpointsFor(tx, organization));
          this.#told.set(organization, endpoints);
        }
        for (const { id, organizationId } of endpoints) {
          this.#lanes.add(id, { kind: 'webhook', organizationId });
        }
      }
    });
  }

  /** Sends what is first of an endpoint. It does not reject. */
  async #serve(endpointId: string): Promise<number | undefined> {
    const { units, keys, clock, onFault } = this.#parts;
    const { signal } = this.#closing;
    const start = performance.now();
    try {
      const taken = units.read((tx) => this.#take(tx, endpointId));
      if (typeof taken !== 'object') return taken;
      const outcomes =
        taken.refusal === undefined
          ? await this.#send(taken)
          : taken.items.map((): Outcome => ({ outcome: 'refused', note: taken.refusal ?? '' }));
      if (outcomes.length > 0 || taken.items.length === 0) await this.#keepOutcomes(taken, outcomes);
      // Cut short as the vault closes or is locked: nothing is known of the other side.
      else if (!this.#maySend()) return undefined;
      else throw new Error('nothing came of a lot of webhooks');
      const rest = start + lotEveryMs - performance.now();
      if (taken.items.length < lotEvents && rest > 1)
        await pause(rest, undefined, { signal }).catch(() => undefined);
      return units.read((tx) => this.#nextAt(tx, endpointId));
    } catch (error) {
      // The file does not hold, the disk is full, or the vault was locked meanwhile: what waits stays in the file.
      if (keys.unlocked && !signal.aborted) onFault(error);
      return clock.wall() + longestSleepMs;
    }
  }

  /** When an endpoint is due; undefined where nothing of the log is left for it. */
  #nextAt(tx: Reader, endpointId: string): number | undefined {
    const [first] = listWaitingDeliveries(tx, endpointId, 1);
    if (first !== undefined) return first.nextAt;
    const endpoint = getWebhookEndpoint(tx, endpointId);
    if (endpoint?.place == null) return undefined;
    const start = this.#startOf(tx, endpoint, endpoint.place);
    if (start >= logEnd(tx).sequence) return undefined;
    return listLogFor(tx, endpoint, start, 1).length > 0 ? 0 : undefined;
  }

  /** Where to look on: further than the endpoint's place where nothing that it wants came right after it. */
  #startOf(tx: Reader, { id }: WebhookEndpointRow, place: number): number {
    const skipped = this.#skipped.get(id);
    if (skipped === undefined) return place;
    const { sequence, hash } = skipped.point;
    // The same log still: its file may have been replaced.
    if (skipped.place === place && Buffer.compare(activityHashAt(tx, sequence) ?? genesis, hash) === 0) {
      return sequence;
    }
    this.#skipped.delete(id);
    return place;
  }

  /** @returns what is due; else when something is, or undefined where there is nothing. */
  #take(tx: Reader, endpointId: string): Taken | number | undefined {
    const endpoint = getWebhookEndpoint(tx, endpointId);
    if (endpoint?.place == null) return undefined;
    // Nothing is tried, so nothing fails, and nothing is given up for it.
    if (this.#isHeld(tx, endpoint)) return this.#hold(tx, endpointId);
    this.#held.delete(endpointId);
    const from = endpoint.place;
    const fateOf = sorterFor(endpoint);
    const items: Item[] = [];
    let fate: 'send' | 'refuse' | undefined;
    /** @returns whether there may be more of it. */
    const put = (item: Item, its: 'send' | 'refuse'): boolean => {
      fate ??= its;
      if (fate !== its) return false;
      return items.push(item) < lotEvents;
    };
    const taken = (to: number): Taken => {
      const refusal = fate === 'refuse' ? 'the endpoint is switched off' : undefined;
      return { endpoint, from, items, refusal, to };
    };
    const waiting = listWaitingDeliveries(tx, endpointId, lotEvents);
    const [first] = waiting;
    if (first !== undefined && first.nextAt > this.#parts.clock.wall()) return first.nextAt;
    for (const { nextAt, ...each } of waiting) {
      const row = getLogRow(tx, each.sequence);
      const isSent = endpoint.active === 1 || (row !== undefined && fateOf(row) === 'send');
      if (!put({ ...each, row, isRow: true }, isSent ? 'send' : 'refuse')) return taken(from);
    }
    let to = this.#startOf(tx, endpoint, from);
    let last: ActivityRow | undefined;
    for (let looked = 0; looked < lookedThrough;) {
      const wanted = lotEvents - items.length;
      const rows = listLogFor(tx, endpoint, to, wanted);
      for (const row of rows) {
        const its = fateOf(row);
        const item = { sequence: row.sequence, attempts: 0, isRow: false, failingSince: null, row };
        const goesOn = its === 'skip' || put(item, its);
        if (goesOn || items.at(-1) === item) to = row.sequence;
        if (!goesOn) return taken(to);
        last = row;
      }
      looked += rows.length;
      if (rows.length < wanted) break;
    }
    if (items.length > 0 || to - from > rememberedSkips) return taken(to);
    if (last !== undefined) this.#skipped.set(endpointId, { place: from, point: last });
    return undefined;
  }

  /** Whether an endpoint is off this machine while nothing may or can leave it. */
  #isHeld(tx: Reader, { url }: WebhookEndpointRow): boolean {
    const { isOnline = () => true } = this.#parts;
    return (!isNetworkOn(tx) || !isOnline()) && !isThisMachine(new URL(url).hostname);
  }

  #hold(tx: Reader, endpointId: string): number | undefined {
    // The next event asks again.
    if (this.#nextAt(tx, endpointId) === undefined) return undefined;
    if (!this.#held.has(endpointId)) {
      this.#held.add(endpointId);
      this.#parts.onChange();
    }
    return this.#parts.clock.wall() + heldMs;
  }

  async #send({ endpoint, items }: Taken): Promise<readonly Outcome[]> {
    const { units, keys, clock } = this.#parts;
    if (items.length === 0) return [];
    const { lot, seed } = units.read((tx) => {
      const { keyId, seed } = openWebhookKey(tx, keys);
      const isSubOrganization = getOrganization(tx, endpoint.organizationId)?.parentId != null;
      // What this machine is called may lead elsewhere.
      const reach: Reach = isSubOrganization ? 'the Internet' : isNetworkOn(tx) ? 'anywhere' : 'this machine';
      const events = this.#render(tx, items);
      return { lot: { url: endpoint.url, reach, keyId, timestampMs: clock.wall(), events }, seed };
    });
    if (lot.events.length === 0) return [{ outcome: 'refused', note: 'its activity is not in the log' }];
    return this.#thread.post(lot, seed);
  }

  /** Shows the first of some events: as many as are handed over at once. */
  #render(tx: Reader, items: readonly Item[]) {
    const events = [];
    let length = 0;
    for (const { row } of items) {
      if (row === undefined || length > lotBytes) break;
      const text = JSON.stringify(this.#parts.showActivity(tx, row));
      length += text.length;
      events.push({ eventId: eventIdOf(row), organizationId: row.organizationId, text });
    }
    return events;
  }

  async #keepOutcomes({ endpoint, from, items, to }: Taken, outcomes: readonly Outcome[]): Promise<void> {
    const { units, clock } = this.#parts;
    const now = clock.wall();
    const tried = items.slice(0, outcomes.length);
    const failed = outcomes.at(-1)?.outcome === 'retry';
    // What was looked through beyond the last that was tried is behind it only where all were.
    const reached =
      outcomes.length === items.length ? to : (tried.findLast(({ isRow }) => !isRow)?.sequence ?? from);
    const isParking = await units.write((tx) => {
      const current = getWebhookEndpoint(tx, endpoint.id);
      if (current?.place == null) return false;
      // Sent back meanwhile, or further on: what is beyond its place now waits, whatever became of it.
      const isMoved =
        reached === from ? current.place !== from : !moveEndpoint(tx, endpoint.id, { from, to: reached });
      const place = isMoved ? current.place : reached;
      const known = outcomes
        .map((outcome, index) => ({ outcome, item: tried[index] }))
        .filter((each): each is Known => each.item !== undefined && each.item.sequence <= place);
      const recovered = outcomes.some(({ outcome }) => outcome !== 'retry');
      const failingSince = recovered ? null : current.failingSince;
      for (const result of this.#resultsOf(known, failingSince, now)) keepWebhookResult(tx, endpoint, result);
      if (recovered && current.failingSince !== null) noteWebhookRecovery(tx, endpoint.id);
      const since = failed ? (failingSince ?? now) : failingSince;
      if (since !== current.failingSince) noteFailing(tx, endpoint.id, since);
      if (!failed) return false;
      parkWebhookRows(tx, endpoint.id, { failingSince: now - periodMs, now });
      return since !== null && since <= now - periodMs;
    });
    if (isParking) await this.#parkBeyond(endpoint.id, now);
    if (outcomes.length > 0) this.#noticed(endpoint.organizationId, outcomes.length);
  }

  /** What is to be written, several events in one where the same became of them. */
  #resultsOf(known: readonly Known[], failingSince: number | null, now: number): WebhookResult[] {
    const { random = Math.random } = this.#parts;
    const results: (WebhookResult & { readonly sequences: number[] })[] = [];
    for (const { outcome, item } of known) {
      const attempts = item.attempts + 1;
      const { sequence } = item;
      if (outcome.outcome === 'retry') {
        const pause = Math.max(backoffMs(attempts, random()), outcome.afterMs ?? 0);
        // It waited behind what failed from when it came about.
        const waited = Math.max(failingSince ?? now, item.row?.updatedAt ?? 0);
        const since = item.isRow ? (item.failingSince ?? now) : Math.min(now, waited);
        const note = outcome.note;
        results.push({
          sequences: [sequence],
          state: 'waiting',
          attempts,
          nextAt: now + pause,
          failingSince: since,
          note,
        });
        continue;
      }
      const { outcome: state, note = null } = outcome;
      const last = results.at(-1);
      if (last?.state === state && last.attempts === attempts && last.note === note)
        last.sequences.push(sequence);
      else results.push({ sequences: [sequence], state, attempts, finishedAt: now, note });
    }
    return results;
  }

  /** Gives up what has waited behind what failed for as long, as if each had a row. */
  async #parkBeyond(endpointId: string, now: number): Promise<void> {
    const note = 'not tried: what was before it could not be delivered';
    const isMore = await this.#parts.units.write((tx) => {
      const endpoint = getWebhookEndpoint(tx, endpointId);
      if (endpoint?.place == null || endpoint.failingSince === null) return false;
      const rows = listLogFor(tx, endpoint, endpoint.place, parkedAtOnce);
      const young = rows.findIndex(({ updatedAt }) => updatedAt > now - periodMs);
      const old = young === -1 ? rows : rows.slice(0, young);
      const last = old.at(-1);
      if (last === undefined) return false;
      const fateOf = sorterFor(endpoint);
      const sequences = old.filter((row) => fateOf(row) !== 'skip').map(({ sequence }) => sequence);
      keepWebhookResult(tx, endpoint, { sequences, state: 'parked', attempts: 0, finishedAt: now, note });
      moveEndpoint(tx, endpointId, { from: endpoint.place, to: last.sequence });
      return old.length === parkedAtOnce;
    });
    if (isMore && !this.#closing.signal.aborted) await this.#parkBeyond(endpointId, now);
  }

  #noticed(organizationId: string, count: number): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#parts.onChange();
    }, tellEveryMs).unref();
    const finished = (this.#finished.get(organizationId) ?? 0) + count;
    this.#finished.set(organizationId, finished);
    if (finished < forgetsAfter) return;
    this.#finished.delete(organizationId);
    void this.#parts.units
      .write((tx) => forgetWebhookDeliveries(tx, organizationId, this.#keep))
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#parts.onFault(error);
      });
  }

  /** What a vault of an earlier version has not: the key, and endpoints of features that were set. */
  async #prepare(): Promise<void> {
    const { units, keys, clock, onFault } = this.#parts;
    try {
      await units.write((tx) => {
        if (!keys.unlocked) return;
        makeWebhookKey(tx, keys, clock.now());
        for (const { organizationId } of listWebhookFeatures(tx)) {
          this.#followFeature(tx, organizationId, clock.now());
        }
        adoptWebhookDeliveries(tx);
      });
      this.look();
    } catch (error) {
      if (keys.unlocked) onFault(error);
    }
  }

  /** Has the feature's endpoint be where the feature says. */
  #followFeature(tx: Writer, organizationId: string, now: number): void {
    const url = getFeature(tx, organizationId, featureName)?.value;
    const endpoint = listWebhookEndpoints(tx, organizationId).find(({ feature }) => feature === 1);
    if (endpoint?.url === url) return;
    if (url === undefined) {
      if (endpoint) removeWebhookEndpoint(tx, endpoint.id, now);
      return;
    }
    if (endpoint) {
      updateWebhookEndpoint(tx, { ...endpoint, url, updatedAt: now });
      return;
    }
    insertWebhookEndpoint(tx, {
      id: randomUUID(),
      organizationId,
      feature: 1,
      url,
      name: featureName,
      active: 1,
      subscriptions: JSON.stringify([{ eventType: 'ACTIVITY_UPDATES', isActive: true }]),
      createdAt: now,
      updatedAt: now,
    });
  }

  #quietly(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#parts.onFault(error);
    }
  }
}

const newTold = () => new Lru<string, readonly Pick<WebhookEndpointRow, 'id' | 'organizationId'>[]>(256);

interface Known {
  readonly outcome: Outcome;
  readonly item: Item;
}
