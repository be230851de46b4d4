/**
 * Webhooks: every revision of an activity goes to the endpoints of its organization and its parent's, signed.
 *
 * The log is the queue: an endpoint has a position in it, and what it wants beyond that position waits. So an activity costs
 * nothing more when endpoints want it; outcomes are written in batches, after the deliveries. At least once: after a crash
 * between a delivery and its outcome, the event is sent again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { isNetworkOn } from '../../storage/tables/settings.ts';
import { getVault } from '../../storage/tables/vault.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import {
  adoptWebhookDeliveries,
  forgetWebhookDeliveries,
  removeWebhookEndpoint,
} from '../../storage/tables/webhook-deliveries.ts';
import {
  getWebhookEndpoint,
  listEndpointQueues,
  listEndpointsFor,
  listFailingEndpoints,
  listWebhookFeatures,
  type WebhookEndpointRow,
} from '../../storage/tables/webhook-endpoints.ts';
import { eventIdOf } from '../../storage/tables/webhook-events.ts';
import type { Reach } from '../../net/outbound.ts';
import { Lru } from '../../lib/lru.ts';
import type { Clock } from '../../lib/clock.ts';
import { isThisMachine } from '../../lib/network.ts';
import { DeliveryQueues, longestSleepMs } from '../queue/queues.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';
import { followFeature, hasEnded, mayMoveFeature } from './feature-endpoint.ts';
import { keepOutcomes, deadLetterBeyond } from './outcomes.ts';
import { EventQueue, batchEvents, type Item, type Taken } from './queue.ts';
import {
  makeWebhookKey,
  openWebhookKey,
  webhookJwks,
  type WebhookJwk,
  type WebhookKeys,
} from './signing-key.ts';
import { PostThread } from './thread.ts';
import { owned } from '../../lib/faults.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

/** It puts endpoints back, or has rows wait again. */
const sendsAgain = 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES';
/** Activities after which other endpoints may get events. */
const changesEndpoints = /_(WEBHOOK_|ORGANIZATION_FEATURE|SUB_ORGANIZATION)/;

export interface WebhookParts {
  readonly units: UnitOfWork;
  readonly keys: WebhookKeys;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  /** Called now and then while deliveries come to an end or fail. */
  readonly onChange: () => void;
  /** An activity as the API shows one, as of a revision. */
  readonly showActivity: (tx: Reader, row: ActivityRow) => object;
  /** Lets sub-organizations send events to this machine: for test vaults. */
  readonly sandbox?: boolean;
  /** Answers false while this machine has no network; `false` is reliable. */
  readonly isOnline?: () => boolean;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** Finished deliveries that are kept of each organization. */
  readonly keep?: number;
}

const reportEveryMs = 500;
/** Bytes of text that the thread receives at once. */
const batchBytes = 1024 * 1024;
/** Between two batches of one endpoint, unless the first was full: small batches cost the vault as much time as large ones. */
const batchEveryMs = 25;
const forgetsAfter = 500;
/** Milliseconds until the network is checked again. */
const recheckMs = 60_000;

/** A batch, and the outcomes of its first events. */
interface Tried {
  readonly taken: Taken;
  readonly outcomes: readonly DeliveryOutcome[];
}

/** True if a batch begins with what was tried. The file may have been replaced meanwhile, by one with another log. */
const isOf = ({ taken, outcomes }: Tried, { from, items }: Taken): boolean =>
  taken.from === from &&
  taken.items.slice(0, outcomes.length).every((item, index) => {
    const other = items[index];
    const isSameAttempt = item.sequence === other?.sequence && item.attempts === other.attempts;
    return isSameAttempt && item.isRow === other.isRow && item.row?.id === other.row?.id;
  });

export class Webhooks {
  readonly #parts: WebhookParts;
  readonly #keep: number;
  readonly #queues: DeliveryQueues;
  readonly #events = new EventQueue();
  readonly #thread = new PostThread();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  /** Organizations that something happened in, of which it was not yet looked who wants to know. */
  readonly #grown = new Set<string>();
  /** The endpoints that get an organization's events, until one is created or removed. */
  #endpoints = newEndpointCache();
  /** Deliveries of an organization that ended since old ones were deleted. */
  readonly #finished = new Map<string, number>();
  /** The vault's own, as it was read last. A place is given without a look into the file, which may not hold. */
  #ownOrganization: string | undefined;
  /** Endpoints that events wait for while nothing can be sent to them. */
  readonly #waitingForNetwork = new Set<string>();
  #started = false;
  /** Organizations that have events sent again, whose endpoints may be due before their time. */
  readonly #sendingAgain = new Set<string>();
  /** By endpoint, outcomes that the file did not record: what was delivered is not delivered again. */
  readonly #unkept = new Map<string, Tried>();
  #waking: NodeJS.Immediate | undefined;
  #reporting: NodeJS.Timeout | undefined;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#keep = parts.keep ?? 10_000;
    this.#queues = new DeliveryQueues({
      clock: parts.clock,
      mayServe: () => this.#maySend(),
      serve: (endpointId) => this.#serve(endpointId),
      onFault: parts.onFault,
      isBelow: (organizationId) => organizationId !== this.#ownOrganization,
    });
    this.#stopListening = parts.keys.onChange((unlocked) => {
      if (!unlocked) {
        this.#thread.eraseKey();
        return;
      }
      // The unlock has more to do before the file can be written.
      setImmediate(owned(() => this.#prepare(), parts.onFault));
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
    // The activity that switches events on is not an event: the endpoint starts after it.
    if (isDone && mayMoveFeature(type)) followFeature(tx, organizationId, updatedAt);
    if (!this.#started) return;
    this.#grown.add(organizationId);
    if (changesEndpoints.test(type)) {
      // The endpoints of a parent get the events of others too.
      if (getOrganization(tx, organizationId)?.parentId == null) this.#endpoints = newEndpointCache();
      else this.#endpoints.delete(organizationId);
      // A batch under way goes where the rows said before; its rest is taken again.
      this.#thread.end(organizationId);
    }
    if (type === sendsAgain) this.#sendingAgain.add(organizationId);
    // Transactions end in the turn in which they begin.
    this.#waking ??= setImmediate(
      owned(() => {
        this.#waking = undefined;
        this.#wake();
      }, this.#parts.onFault),
    );
  }

  /** Looks for what waits in the file: after it was replaced, a setting was changed, or the clock was moved. */
  look(): void {
    if (!this.#maySend()) return;
    this.#thread.eraseKey();
    this.#waitingForNetwork.clear();
    this.#grown.clear();
    this.#sendingAgain.clear();
    this.#endpoints = newEndpointCache();
    this.#quietly(() => {
      this.#ownOrganization = this.#parts.units.read(getVault)?.organizationId;
      this.#setQueues();
    });
  }

  /** Public keys for receivers, to verify signatures. */
  jwks(): readonly WebhookJwk[] {
    return this.#parts.units.read(webhookJwks);
  }

  /** Number of endpoints with delayed events. */
  countDelayed(tx: Reader): number {
    return new Set([...this.#waitingForNetwork, ...listFailingEndpoints(tx)]).size;
  }

  /** Ends what is under way, and keeps its results. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    clearImmediate(this.#waking);
    clearTimeout(this.#reporting);
    await Promise.all([this.#thread.stop(), this.#queues.stop()]);
    await this.#thread.close();
  }

  /** Locked, no row could be trusted; what waits does so until the vault is unlocked. */
  #maySend(): boolean {
    return this.#started && !this.#closing.signal.aborted && this.#parts.keys.unlocked;
  }

  #wake(): void {
    const grown = [...this.#grown];
    const sendingAgain = [...this.#sendingAgain];
    this.#grown.clear();
    this.#sendingAgain.clear();
    if (!this.#maySend()) return;
    this.#quietly(() => {
      for (const organizationId of sendingAgain) this.#setQueues(organizationId);
      this.#ownOrganization ??= this.#parts.units.read(getVault)?.organizationId;
      for (const organization of grown) {
        let endpoints = this.#endpoints.get(organization);
        if (endpoints === undefined) {
          endpoints = this.#parts.units.read((tx) => listEndpointsFor(tx, organization));
          this.#endpoints.set(organization, endpoints);
        }
        for (const { id, organizationId } of endpoints) {
          this.#queues.add(id, { kind: 'webhook', organizationId });
        }
      }
    });
  }

  /** Has endpoints be due when their rows say: of one organization, or all. */
  #setQueues(only?: string): void {
    for (const { id, organizationId, nextAt } of this.#parts.units.read((tx) =>
      listEndpointQueues(tx, only),
    )) {
      this.#queues.set(id, { kind: 'webhook', organizationId, dueAt: nextAt ?? 0 });
    }
  }

  /** Sends what is first of an endpoint. It does not reject. */
  async #serve(endpointId: string): Promise<number | undefined> {
    const { units, keys, clock, onFault } = this.#parts;
    const { signal } = this.#closing;
    const start = performance.now();
    try {
      const taken = units.read((tx) => this.#take(tx, endpointId));
      if (typeof taken !== 'object') return taken ?? (await this.#nextAt(endpointId));
      const unkept = this.#unkept.get(endpointId);
      this.#unkept.delete(endpointId);
      const tried = unkept && isOf(unkept, taken) ? unkept : await this.#try(taken);
      if (tried.outcomes.length > 0 || taken.items.length === 0) await this.#keepOutcomes(tried);
      // Cut short as the vault closes or is locked: nothing is known of the other side.
      else if (!this.#maySend()) return undefined;
      const rest = start + batchEveryMs - performance.now();
      if (taken.items.length < batchEvents && rest > 1)
        await pause(rest, undefined, { signal }).catch(() => undefined);
      return await this.#nextAt(endpointId);
    } catch (error) {
      // The file does not hold, the disk is full, or the vault was locked meanwhile: what waits stays in the file.
      if (keys.unlocked && !signal.aborted) onFault(error);
      return clock.wall() + longestSleepMs;
    }
  }

  /** When an endpoint is due. That of a feature that was removed goes once nothing is left for it. */
  async #nextAt(endpointId: string): Promise<number | undefined> {
    const { units, clock } = this.#parts;
    const look = (): number | undefined => units.read((tx) => this.#events.nextAt(tx, endpointId));
    if (look() === undefined && units.read((tx) => hasEnded(tx, endpointId))) {
      await units.write((tx) => {
        if (this.#events.nextAt(tx, endpointId) === undefined) {
          removeWebhookEndpoint(tx, endpointId, clock.wall());
        }
      });
    }
    // In the turn in which the queue ends: `add` is called for what comes later.
    return look();
  }

  async #try(taken: Taken): Promise<Tried> {
    const { refusal, items } = taken;
    if (refusal === undefined) return { taken, outcomes: await this.#send(taken) };
    return { taken, outcomes: items.map(() => ({ outcome: 'refused', note: refusal })) };
  }

  /** @returns what is due; else when something is, or undefined where there is nothing. */
  #take(tx: Reader, endpointId: string): Taken | number | undefined {
    const endpoint = getWebhookEndpoint(tx, endpointId);
    if (endpoint?.position == null) return undefined;
    // Nothing is tried, so nothing fails, and nothing is given up for it.
    if (this.#waitsForNetwork(tx, endpoint)) return this.#hold(tx, endpointId);
    this.#waitingForNetwork.delete(endpointId);
    return this.#events.take(tx, endpoint, endpoint.position, this.#parts.clock.wall());
  }

  /** True for an endpoint off this machine while the network is off or disconnected. */
  #waitsForNetwork(tx: Reader, { url }: WebhookEndpointRow): boolean {
    const { isOnline = () => true } = this.#parts;
    return (!isNetworkOn(tx) || !isOnline()) && !isThisMachine(new URL(url).hostname);
  }

  #hold(tx: Reader, endpointId: string): number | undefined {
    // The next event checks again.
    if (this.#events.nextAt(tx, endpointId) === undefined) return undefined;
    if (!this.#waitingForNetwork.has(endpointId)) {
      this.#waitingForNetwork.add(endpointId);
      this.#parts.onChange();
    }
    return this.#parts.clock.wall() + recheckMs;
  }

  async #send({ endpoint, items }: Taken): Promise<readonly DeliveryOutcome[]> {
    const { units, keys, clock, onFault } = this.#parts;
    if (items.length === 0) return [];
    const { batch, seed } = units.read((tx) => {
      const { keyId, seed } = openWebhookKey(tx, keys);
      const isSubOrganization = getOrganization(tx, endpoint.organizationId)?.parentId != null;
      const isHere = isThisMachine(new URL(endpoint.url).hostname);
      // The name of this machine may resolve to another one.
      const reach: Reach =
        isSubOrganization && !(isHere && this.#parts.sandbox === true)
          ? 'the Internet'
          : isNetworkOn(tx) && !isSubOrganization
            ? 'anywhere'
            : 'this machine';
      const events = this.#render(tx, items);
      return { batch: { url: endpoint.url, reach, keyId, timestampMs: clock.wall(), events }, seed };
    });
    if (batch.events.length === 0) return [{ outcome: 'refused', note: 'its activity is not in the log' }];
    try {
      return await this.#thread.post(endpoint.organizationId, batch, seed);
    } catch (error) {
      if (!this.#maySend()) return [];
      // It counts: what ends the thread each time is tried ever more seldom, and what others send meanwhile comes through.
      onFault(error);
      return [{ outcome: 'retry', note: reasonOf(error) }];
    }
  }

  /** Shows the first of some events: as many as are handed over at once. */
  #render(tx: Reader, items: readonly Item[]) {
    const events = [];
    let length = 0;
    for (const { row } of items) {
      if (row === undefined || length > batchBytes) break;
      const text = JSON.stringify(this.#parts.showActivity(tx, row));
      length += text.length;
      events.push({ eventId: eventIdOf(row), organizationId: row.organizationId, text });
    }
    return events;
  }

  async #keepOutcomes({ taken, outcomes }: Tried): Promise<void> {
    const { units, clock, random = Math.random } = this.#parts;
    const { id, organizationId } = taken.endpoint;
    const now = clock.wall();
    this.#unkept.set(id, { taken, outcomes });
    let isDeadLettering = await units.write((tx) => keepOutcomes(tx, taken, outcomes, { now, random }));
    this.#unkept.delete(id);
    while (isDeadLettering) {
      const isMore = await units.write((tx) => deadLetterBeyond(tx, id, now));
      isDeadLettering = isMore && !this.#closing.signal.aborted;
    }
    if (outcomes.length > 0) this.#reportSoon(organizationId, outcomes.length);
  }

  #reportSoon(organizationId: string, count: number): void {
    this.#reporting ??= setTimeout(
      owned(() => {
        this.#reporting = undefined;
        this.#parts.onChange();
      }, this.#parts.onFault),
      reportEveryMs,
    ).unref();
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

  /** Adds the parts that a vault of an earlier version lacks: the key, and endpoints of its features. */
  async #prepare(): Promise<void> {
    const { units, keys, clock, onFault } = this.#parts;
    try {
      await units.write((tx) => {
        if (!keys.unlocked) return;
        makeWebhookKey(tx, keys, clock.now());
        for (const { organizationId } of listWebhookFeatures(tx)) {
          followFeature(tx, organizationId, clock.now());
        }
        adoptWebhookDeliveries(tx);
      });
      this.look();
    } catch (error) {
      if (keys.unlocked) onFault(error);
    }
  }

  #quietly(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#parts.onFault(error);
    }
  }
}

const newEndpointCache = () =>
  new Lru<string, readonly Pick<WebhookEndpointRow, 'id' | 'organizationId'>[]>(256);
