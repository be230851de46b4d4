/**
 * Outcomes of events for webhook endpoints. An endpoint's position in the log is its progress: its events beyond
 * the position wait, and have no row yet. Failed events, and events that are sent again by themselves, are rows
 * that wait before that position. All other rows are finished.
 */
import { hash } from 'node:crypto';
import { getLogRow, listLogAfter, type LogPage } from './activities.ts';
import type { Reader, Value, Writer } from '../connection.ts';
import { getOrganization } from './organizations.ts';
import { fromPublicId, rowIdsOf, toPublicId } from '../row-ids.ts';
import {
  getWebhookEndpoint,
  listWebhookEndpoints,
  sendBack,
  type WebhookEndpointRow,
} from './webhook-endpoints.ts';
import { eventColumns, idFrom, sorterFor, type EventRow } from './webhook-events.ts';

export type WebhookDeliveryState =
  /** It will be tried, for the first time or again. */
  | 'waiting'
  | 'delivered'
  /** The other side said that it does not want it. */
  | 'refused'
  /** Given up: its endpoint has taken nothing for too long. */
  | 'parked';

export interface WebhookDelivery {
  readonly id: string;
  readonly organizationId: string;
  readonly endpointId: string;
  readonly state: WebhookDeliveryState;
  /** Number of attempts since it arose or was sent again. */
  readonly attempts: number;
  /** When it is tried next, in milliseconds; 0 for at once. */
  readonly nextAt: number;
  readonly finishedAt: number | null;
  /** The note of the last attempt; null before it. */
  readonly note: string | null;
  /** The event: a row of the log. */
  readonly sequence: number;
  readonly activityId: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: number;
}

/** A row that waits to be tried again. */
export interface WaitingDelivery {
  readonly sequence: number;
  readonly attempts: number;
  readonly nextAt: number;
  readonly failingSince: number | null;
}

/** Makes and reads ids of deliveries. They say where in the log the event is, so that what has no row can be asked for too. */
export function deliveryIds(tx: Reader, organizationId: string) {
  const places = rowIdsOf(tx, organizationId, 'activities');
  return {
    of: (endpointId: string, sequence: number): string => {
      const place = toPublicId(places, sequence);
      return idFrom(
        place.toString(16).padStart(12, '0') + hash('sha256', `delivery ${endpointId} ${String(place)}`),
      );
    },
    sequenceIn: (id: string): number => {
      const hex = id.slice(0, 13).replace('-', '');
      return /^[0-9a-f]{12}$/.test(hex) ? fromPublicId(places, Number.parseInt(hex, 16)) : 0;
    },
  };
}

type DeliveryIds = ReturnType<typeof deliveryIds>;

export const listWaitingDeliveries = (tx: Reader, endpointId: string, limit: number): WaitingDelivery[] =>
  tx.all<WaitingDelivery>(
    `SELECT sequence, attempts, next_at AS nextAt, failing_since AS failingSince
     FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
     WHERE endpoint_id = ? AND state = 'waiting' ORDER BY sequence LIMIT ?`,
    endpointId,
    limit,
  );

/** The rows of the log that an endpoint may get, those it has not subscribed to among them. */
export const listLogFor = (tx: Reader, endpoint: WebhookEndpointRow, after: number, limit: number): LogPage =>
  listLogAfter(tx, onlyOrganization(tx, endpoint), after, limit);

/**
 * The vault's own organization receives the events of all organizations, the deleted ones among them; a sub-organization
 * receives its own.
 * @returns the one organization whose events an endpoint may get; undefined where it may get those of all.
 */
const onlyOrganization = (tx: Reader, { organizationId }: WebhookEndpointRow): string | undefined =>
  getOrganization(tx, organizationId)?.parentId == null ? undefined : organizationId;

/** The same rows as the beginning of a query, to be continued with a condition; and the values of its placeholders. */
function logFor(tx: Reader, endpoint: WebhookEndpointRow): readonly [sql: string, ...values: Value[]] {
  const only = onlyOrganization(tx, endpoint);
  return only === undefined
    ? ['activities WHERE']
    : ['activities INDEXED BY activities_places WHERE organization_id = ? AND', only];
}

/** The outcome of several events at once. */
export interface WebhookResult {
  readonly sequences: readonly number[];
  readonly state: WebhookDeliveryState;
  readonly attempts: number;
  readonly nextAt?: number;
  readonly failingSince?: number;
  readonly finishedAt?: number;
  readonly note: string | null;
}

/** Keeps it, in the place of what was known of the same events. */
export function keepWebhookResult(
  tx: Writer,
  { id, organizationId }: Pick<WebhookEndpointRow, 'id' | 'organizationId'>,
  { sequences, state, attempts, nextAt = 0, failingSince, finishedAt, note }: WebhookResult,
): void {
  tx.run(
    `INSERT INTO webhook_deliveries
       (organization_id, sequence, endpoint_id, state, attempts, next_at, failing_since, finished_at, note)
     SELECT ?, value, ?, ?, ?, ?, ?, ?, ? FROM json_each(?) WHERE TRUE
     ON CONFLICT (organization_id, sequence, endpoint_id) DO UPDATE SET state = excluded.state,
       attempts = excluded.attempts, next_at = excluded.next_at, failing_since = excluded.failing_since,
       finished_at = excluded.finished_at, note = excluded.note`,
    organizationId,
    id,
    state,
    attempts,
    nextAt,
    failingSince ?? null,
    finishedAt ?? null,
    note,
    `[${sequences.join(',')}]`,
  );
}

/** Keeps it of events that have a row: an endpoint that was removed meanwhile left one for each, and its organization none. */
export function correctWebhookResult(
  tx: Writer,
  { id, organizationId }: Pick<WebhookEndpointRow, 'id' | 'organizationId'>,
  { sequences, state, attempts, finishedAt, note }: WebhookResult,
): void {
  tx.run(
    `UPDATE webhook_deliveries SET state = ?, attempts = ?, finished_at = ?, note = ?
     WHERE organization_id = ? AND endpoint_id = ? AND sequence IN (SELECT value FROM json_each(?))`,
    ...[state, attempts, finishedAt ?? null, note],
    ...[organizationId, id, `[${sequences.join(',')}]`],
  );
}

/** The endpoint takes events again: what waits has all its time. */
export function noteWebhookRecovery(tx: Writer, endpointId: string): void {
  tx.run(
    `UPDATE webhook_deliveries SET failing_since = NULL
     WHERE endpoint_id = ? AND state = 'waiting' AND failing_since IS NOT NULL`,
    endpointId,
  );
}

/** Has what waits for its next try be tried at once. */
export function retryWebhooksNow(tx: Writer): void {
  tx.run("UPDATE webhook_deliveries SET next_at = 0 WHERE state = 'waiting' AND next_at > 0");
}

/** Gives up what has failed, or waited behind what failed, since a time. */
export function deadLetterWebhookRows(
  tx: Writer,
  endpointId: string,
  { failingSince, now }: { readonly failingSince: number; readonly now: number },
): void {
  tx.run(
    `UPDATE webhook_deliveries SET state = 'parked', finished_at = ?, note = coalesce(note, 'not tried: what was before it could not be delivered')
     WHERE endpoint_id = ? AND state = 'waiting' AND failing_since <= ?`,
    now,
    endpointId,
    failingSince,
  );
}

/** Removes it, and refuses all that waits for it. */
export function removeWebhookEndpoint(tx: Writer, id: string, now: number): void {
  const endpoint = getWebhookEndpoint(tx, id);
  if (endpoint === undefined) return;
  refuseWaiting(tx, endpoint, { until: atTheTop.sequence, note: 'the endpoint was removed', now });
  tx.run('DELETE FROM webhook_endpoints WHERE id = ?', id);
}

/** Before an endpoint is switched on again: refuses what still waits from before it was switched off. */
export function refuseFromBefore(tx: Writer, endpoint: WebhookEndpointRow, now: number): void {
  const until = endpoint.switchedOffAt ?? 0;
  refuseWaiting(tx, endpoint, { until, note: 'the endpoint was switched off', now });
}

/** The events beyond its position get rows; where they are more than a list would look through, the newest do. */
function refuseWaiting(
  tx: Writer,
  endpoint: WebhookEndpointRow,
  { until, note, now }: { readonly until: number; readonly note: string; readonly now: number },
): void {
  tx.run(
    `UPDATE webhook_deliveries SET state = 'refused', finished_at = ?, note = ?
     WHERE endpoint_id = ? AND state = 'waiting' AND sequence <= ?`,
    now,
    note,
    endpoint.id,
    until,
  );
  const sequences = pendingRows(tx, endpoint, until + 1, Infinity).map(({ sequence }) => sequence);
  const result = { sequences, state: 'refused', attempts: 0, finishedAt: now, note } as const;
  if (sequences.length > 0) keepWebhookResult(tx, endpoint, result);
}

/** Filters for a list of deliveries; an absent filter matches all. */
export interface WebhookDeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly state?: WebhookDeliveryState | undefined;
}

/** Before this in a list, which has the newest first. */
export type WebhookDeliveryCursor = Pick<WebhookDelivery, 'sequence' | 'endpointId'>;

const atTheTop: WebhookDeliveryCursor = { sequence: Number.MAX_SAFE_INTEGER, endpointId: '' };

export function listWebhookDeliveries(
  tx: Reader,
  organizationId: string,
  { endpointId, state }: WebhookDeliveryFilter,
  {
    before = atTheTop,
    limit,
  }: { readonly before?: WebhookDeliveryCursor | undefined; readonly limit: number },
): WebhookDelivery[] {
  const ids = deliveryIds(tx, organizationId);
  const endpoints = listWebhookEndpoints(tx, organizationId).filter(
    ({ id }) => endpointId === undefined || id === endpointId,
  );
  const pending =
    state === undefined || state === 'waiting'
      ? endpoints.flatMap((endpoint) => listPending(tx, ids, endpoint, before, limit))
      : [];
  const kept = tx
    .all<KeptDelivery>(
      `${keptDeliveries} WHERE d.organization_id = ? AND (d.sequence, d.endpoint_id) < (?, ?)
         AND d.sequence <= coalesce(e.place, d.sequence) AND (? IS NULL OR d.endpoint_id = ?) AND (? IS NULL OR d.state = ?)
       ORDER BY d.sequence DESC, d.endpoint_id DESC LIMIT ?`,
      ...[organizationId, before.sequence, before.endpointId],
      ...[endpointId ?? null, endpointId ?? null, state ?? null, state ?? null, limit],
    )
    .map(withId(ids));
  return [...pending, ...kept]
    .sort((a, b) => b.sequence - a.sequence || (a.endpointId < b.endpointId ? 1 : -1))
    .slice(0, limit);
}

/** @returns undefined where the organization has no such delivery. */
export function getWebhookDelivery(
  tx: Reader,
  organizationId: string,
  id: string,
): WebhookDelivery | undefined {
  const ids = deliveryIds(tx, organizationId);
  const sequence = ids.sequenceIn(id);
  const kept = tx
    .all<KeptDelivery>(
      `${keptDeliveries} WHERE d.organization_id = ? AND d.sequence = ?`,
      organizationId,
      sequence,
    )
    .map(withId(ids))
    .find((delivery) => delivery.id === id);
  const endpoint =
    kept === undefined
      ? listWebhookEndpoints(tx, organizationId).find((each) => ids.of(each.id, sequence) === id)
      : getWebhookEndpoint(tx, kept.endpointId);
  if (endpoint?.position == null || sequence <= endpoint.position) return kept;
  // Beyond its position all waits, also what was delivered once.
  const row = getLogRow(tx, sequence);
  if (row === undefined || sorterFor(endpoint)(row) === 'skip') return kept;
  const [listed] = listLogFor(tx, endpoint, sequence - 1, 1).rows;
  return listed?.sequence === sequence ? pendingDelivery(ids, endpoint, row) : kept;
}

/** Sends one again at once, in any state; the others continue in their order. */
export function sendWebhookAgain(
  tx: Writer,
  { organizationId, endpointId, sequence }: WebhookDelivery,
): void {
  tx.run(
    `UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, next_at = 0, failing_since = NULL, finished_at = NULL
     WHERE organization_id = ? AND sequence = ? AND endpoint_id = ?`,
    organizationId,
    sequence,
    endpointId,
  );
}

/**
 * Has an endpoint sent again every event since a time, in the order of the log.
 * @returns how many; undefined where there are too many.
 */
export function sendEventsAgain(
  tx: Writer,
  endpoint: WebhookEndpointRow,
  { since, most }: { readonly since: number; readonly most: number },
): number | undefined {
  if (endpoint.active === 0) return 0;
  const fateOf = sorterFor(endpoint);
  const rows = listEventsSince(tx, endpoint, since, most + 1);
  if (rows.length > most) return undefined;
  const events = rows.filter((row) => fateOf(row) === 'send');
  const [first] = events;
  if (first === undefined) return 0;
  // They come by the position; a row that waited would come twice.
  tx.run(
    `DELETE FROM webhook_deliveries WHERE endpoint_id = ? AND state = 'waiting' AND sequence >= ?`,
    endpoint.id,
    first.sequence,
  );
  sendBack(tx, endpoint.id, first.sequence - 1);
  return events.length;
}

/** Deletes the oldest of what came to its end, beyond what is kept of an organization. @returns how many went. */
export const forgetWebhookDeliveries = (tx: Writer, organizationId: string, keep: number): number =>
  tx.run(
    `DELETE FROM webhook_deliveries WHERE organization_id = ? AND state <> 'waiting' AND sequence <= (
       SELECT sequence FROM webhook_deliveries WHERE organization_id = ? AND state <> 'waiting'
       ORDER BY sequence DESC, endpoint_id DESC LIMIT 1 OFFSET ?)`,
    organizationId,
    organizationId,
    keep,
  );

/**
 * Takes over the deliveries of a vault of an earlier version, which were rows of the outbox, and has every endpoint begin
 * at the log's end: nothing was appended since without being put there.
 */
export function adoptWebhookDeliveries(tx: Writer): void {
  if (tx.get('SELECT 1 FROM webhook_endpoints WHERE place IS NULL LIMIT 1') !== undefined) {
    tx.run(
      'UPDATE webhook_endpoints SET place = (SELECT coalesce(max(sequence), 0) FROM activities) WHERE place IS NULL',
    );
  }
  if (tx.get(`SELECT 1 FROM outbox WHERE kind = 'webhook' LIMIT 1`) === undefined) return;
  tx.run(
    `INSERT OR IGNORE INTO webhook_deliveries
       (organization_id, sequence, endpoint_id, state, attempts, next_at, failing_since, finished_at, note)
     SELECT organization_id, reference ->> 'sequence', reference ->> 'endpointId', state, attempts, next_at,
       failing_since, finished_at, note
     FROM outbox WHERE kind = 'webhook' AND state <> 'expired'`,
  );
  tx.run(`DELETE FROM outbox WHERE kind = 'webhook'`);
}

type KeptDelivery = Omit<WebhookDelivery, 'id'>;

const keptDeliveries = `SELECT d.organization_id AS organizationId, d.endpoint_id AS endpointId, d.state, d.attempts,
    d.next_at AS nextAt, d.finished_at AS finishedAt, d.note, d.sequence, a.id AS activityId, a.type, a.status,
    a.updated_at AS createdAt
  FROM webhook_deliveries AS d
  JOIN activities AS a ON a.sequence = d.sequence
  LEFT JOIN webhook_endpoints AS e ON e.id = d.endpoint_id`;

const withId =
  (ids: DeliveryIds) =>
  (row: KeptDelivery): WebhookDelivery => ({ ...row, id: ids.of(row.endpointId, row.sequence) });

interface PendingRow extends EventRow {
  readonly id: string;
  readonly updatedAt: number;
}

const pendingDelivery = (
  ids: DeliveryIds,
  { id: endpointId, organizationId }: WebhookEndpointRow,
  { sequence, id, type, status, updatedAt }: PendingRow,
): WebhookDelivery => ({
  id: ids.of(endpointId, sequence),
  organizationId,
  endpointId,
  state: 'waiting',
  attempts: 0,
  nextAt: 0,
  finishedAt: null,
  note: null,
  sequence,
  activityId: id,
  type,
  status,
  createdAt: updatedAt,
});

const pendingColumns = `${eventColumns}, id, updated_at AS updatedAt`;

/**
 * Rows of the log that are searched for waiting events: an endpoint that wants few and refuses all may have
 * many.
 */
const mostLookedThrough = 20_000;
const lookedThroughAtOnce = 500;

/** Lists the events beyond an endpoint's position, newest first. */
function listPending(
  tx: Reader,
  ids: DeliveryIds,
  endpoint: WebhookEndpointRow,
  before: WebhookDeliveryCursor,
  limit: number,
): WebhookDelivery[] {
  const below = endpoint.id < before.endpointId ? before.sequence + 1 : before.sequence;
  return pendingRows(tx, endpoint, below, limit).map((row) => pendingDelivery(ids, endpoint, row));
}

/** Rows of the log that are events beyond an endpoint's position and below a row, newest first. */
function pendingRows(
  tx: Reader,
  endpoint: WebhookEndpointRow,
  below: number,
  limit: number,
): readonly PendingRow[] {
  const { position } = endpoint;
  if (position === null) return [];
  const fateOf = sorterFor(endpoint);
  const [source, ...values] = logFor(tx, endpoint);
  const found: PendingRow[] = [];
  let end = below;
  for (let looked = 0; looked < mostLookedThrough; looked += lookedThroughAtOnce) {
    const rows = tx.all<PendingRow>(
      `SELECT ${pendingColumns} FROM ${source} sequence > ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
      ...[...values, position, end, lookedThroughAtOnce],
    );
    for (const row of rows) {
      if (fateOf(row) !== 'skip') found.push(row);
      if (found.length === limit) return found;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < lookedThroughAtOnce) break;
    end = last.sequence;
  }
  return found;
}

/** The rows of the log from the first since a time on: what an endpoint that is sent back goes through. */
function listEventsSince(tx: Reader, endpoint: WebhookEndpointRow, since: number, limit: number): EventRow[] {
  const [source, ...values] = logFor(tx, endpoint);
  return tx.all<EventRow>(
    `SELECT ${eventColumns} FROM ${source} sequence >= (SELECT min(sequence) FROM ${source} updated_at >= ?)
     ORDER BY sequence LIMIT ?`,
    ...[...values, ...values, since, limit],
  );
}
