/** Webhooks: every revision of an activity goes to the endpoints of its organization and its parent's, signed. */
import { randomUUID } from 'node:crypto';
import { getLogRow, type ActivityRow } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { getFeature } from '../db/features.ts';
import { getOrganization } from '../db/organizations.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import { isNetworkOn } from '../db/settings.ts';
import { deliveryOf, eventIdOf, isSubscribed } from '../db/webhook-events.ts';
import {
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  insertWebhookEndpoint,
  listEndpointsFor,
  listWebhookEndpoints,
  listWebhookFeatures,
  readWebhookReference,
  updateWebhookEndpoint,
  webhookKind,
  type WebhookEndpointRow,
} from '../db/webhook-endpoints.ts';
import type { Clock } from '../lib/clock.ts';
import { isThisMachine, networkIsOff } from '../lib/network.ts';
import type { Delivery, LotCarrier, Outbox, Outcome } from '../outbox/outbox.ts';
import type { Reach } from '../auth/guarded-get.ts';
import type { SignedEvent } from './post.ts';
import { makeWebhookKey, webhookJwks, webhookSigner, type WebhookJwk, type WebhookKeys } from './signing.ts';
import { PostThread } from './thread.ts';

const hour = 60 * 60_000;
const featureName = 'FEATURE_NAME_WEBHOOK';

/** Activities after which the outbox is looked at again: they write into it past the transaction's own events. */
const sendsAgain = 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES';
const tests = 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT';
const creates = 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT';
const changesFeatures = [
  'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
];

export interface WebhookParts {
  readonly units: UnitOfWork;
  readonly keys: WebhookKeys;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly onFault: (error: unknown) => void;
  /** Called now and then while deliveries come to an end or fail. */
  readonly onChange: () => void;
  /** An activity as the API shows one, as of a revision. */
  readonly showActivity: (tx: Reader, row: ActivityRow) => Record<string, unknown>;
}

const tellEveryMs = 500;
/** How long an event waits for the network to be switched on, unless that is noticed. */
const heldMs = 60_000;
/** How much is handed to the thread at once. */
const lotBytes = 1024 * 1024;

export class Webhooks implements LotCarrier {
  readonly kind = webhookKind;
  readonly periodMs = 24 * hour;
  readonly lot = 64;
  readonly #parts: WebhookParts;
  readonly #thread = new PostThread();
  readonly #stopListening: () => void;
  #telling: NodeJS.Timeout | undefined;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    parts.outbox.carry(this);
    this.#stopListening = parts.keys.onChange((unlocked) => {
      // Whoever unlocks has more to do before the file can be written.
      if (unlocked) setImmediate(() => void this.#prepare());
    });
  }

  /** Called in the transaction that appends a row to the log. */
  onAppended(tx: Writer, row: ActivityRow): void {
    const isDone = row.status === 'ACTIVITY_STATUS_COMPLETED';
    const changesFeature = isDone && changesFeatures.includes(row.type);
    if (changesFeature) this.#dropFeature(tx, row.organizationId);
    for (const endpoint of listEndpointsFor(tx, row.organizationId)) {
      if (wants(endpoint, row)) this.#parts.outbox.put(tx, deliveryOf(endpoint, row, row.updatedAt));
    }
    // After that: what switches events on is not itself one.
    if (changesFeature) this.#followFeature(tx, row.organizationId, row.updatedAt);
    if (isDone && row.type === sendsAgain) {
      setImmediate(() => {
        this.#parts.outbox.look();
      });
    }
  }

  /** Something became of deliveries. */
  noticed(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#parts.onChange();
    }, tellEveryMs).unref();
  }

  /** What receivers check signatures with. */
  jwks(): readonly WebhookJwk[] {
    return this.#parts.units.read(webhookJwks);
  }

  async deliverLot(deliveries: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const [first] = deliveries;
    if (first === undefined) return [];
    const { units } = this.#parts;
    const { endpointId } = readWebhookReference(first.reference);
    const prepared = units.read((tx) => {
      const endpoint = getWebhookEndpoint(tx, endpointId);
      if (endpoint === undefined) return 'the endpoint was removed';
      if (endpoint.active === 0 && readWebhookReference(first.reference).type !== tests) {
        return 'the endpoint is switched off';
      }
      const isOff = !isNetworkOn(tx);
      if (isOff && !isThisMachine(new URL(endpoint.url).hostname)) return null;
      const isSubOrganization = getOrganization(tx, endpoint.organizationId)?.parentId != null;
      const reach: Reach = isSubOrganization ? 'the Internet' : isOff ? 'this machine' : 'anywhere';
      return { url: endpoint.url, reach, events: this.#sign(tx, deliveries) };
    });
    if (typeof prepared === 'string') return deliveries.map(() => ({ outcome: 'refused', note: prepared }));
    if (prepared === null) return [{ outcome: 'retry', note: networkIsOff, afterMs: heldMs }];
    const { url, reach, events } = prepared;
    if (events.length === 0) return [{ outcome: 'refused', note: 'its activity is not in the log' }];
    const stop = (): void => {
      this.#thread.stop();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await this.#thread.post({ url, reach, events });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#stopListening();
    clearTimeout(this.#telling);
    await this.#thread.close();
  }

  /** Signs the first of some deliveries: as many as are handed over at once. */
  #sign(tx: Reader, deliveries: readonly Delivery[]): SignedEvent[] {
    const sign = webhookSigner(tx, this.#parts.keys);
    const timestampMs = this.#parts.clock.wall();
    const events: SignedEvent[] = [];
    let bytes = 0;
    for (const { reference } of deliveries) {
      const row = getLogRow(tx, readWebhookReference(reference).sequence);
      if (row === undefined || bytes > lotBytes) break;
      // A buffer of its own, which moves to the thread: small ones of Node's share theirs.
      const body = new TextEncoder().encode(JSON.stringify(this.#parts.showActivity(tx, row)));
      bytes += body.length;
      const head = { eventId: eventIdOf(row), organizationId: row.organizationId, timestampMs };
      events.push({ headers: sign(head, body), body });
    }
    return events;
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
      });
    } catch (error) {
      if (keys.unlocked) onFault(error);
    }
  }

  #dropFeature(tx: Writer, organizationId: string): void {
    if (getFeature(tx, organizationId, featureName) !== undefined) return;
    const endpoint = featureEndpoint(tx, organizationId);
    if (endpoint) deleteWebhookEndpoint(tx, endpoint.id);
  }

  #followFeature(tx: Writer, organizationId: string, now: number): void {
    const url = getFeature(tx, organizationId, featureName)?.value;
    const endpoint = featureEndpoint(tx, organizationId);
    if (url === undefined || endpoint?.url === url) return;
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
}

const featureEndpoint = (tx: Reader, organizationId: string): WebhookEndpointRow | undefined =>
  listWebhookEndpoints(tx, organizationId).find(({ feature }) => feature === 1);

/** What makes an endpoint is no event of it yet; what tests one is, whatever it has subscribed to. */
function wants(endpoint: WebhookEndpointRow, row: ActivityRow): boolean {
  if (row.status === 'ACTIVITY_STATUS_COMPLETED' && row.result !== null) {
    if (row.type === creates && row.result.includes(endpoint.id)) return false;
    if (row.type === tests && row.result.includes(endpoint.id)) return true;
  }
  return isSubscribed(endpoint, row);
}
