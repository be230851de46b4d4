/** Which events go to which webhook endpoints: rows of the outbox, made from rows of the log. */
import { hash } from 'node:crypto';
import { passesFilters } from '../lib/webhook-filters.ts';
import type { ActivityRow } from './activities.ts';
import type { Reader, Writer } from './connection.ts';
import { insertOutboxRow, type OutboxEntry } from './outbox.ts';
import {
  webhookKind,
  webhookLane,
  type WebhookEndpointRow,
  type WebhookReference,
  type WebhookSubscription,
} from './webhook-endpoints.ts';

export type EventRow = Pick<
  ActivityRow,
  'sequence' | 'id' | 'revision' | 'organizationId' | 'type' | 'status'
>;

/** A name's own id, as UUIDs of version 8 may be made: the same event has the same, whenever it is sent again. */
function idOf(...names: readonly string[]): string {
  const hex = hash('sha256', names.join(' ')).slice(0, 32);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** What receivers know an event by: the same at every endpoint. */
export const eventIdOf = ({ id, revision }: Pick<EventRow, 'id' | 'revision'>): string =>
  idOf('event', id, String(revision));

/** Whether an endpoint wants to know of an event. */
export function isSubscribed(endpoint: WebhookEndpointRow, event: EventRow): boolean {
  if (endpoint.active === 0) return false;
  const subscriptions = JSON.parse(endpoint.subscriptions) as readonly WebhookSubscription[];
  return subscriptions.some(
    ({ eventType, filtersJson, isActive }) =>
      eventType === 'ACTIVITY_UPDATES' && isActive && passesFilters(filtersJson, event),
  );
}

/** The row of the outbox that brings an event to an endpoint. */
export function deliveryOf(endpoint: WebhookEndpointRow, event: EventRow, now: number): OutboxEntry {
  const reference: WebhookReference = {
    endpointId: endpoint.id,
    sequence: event.sequence,
    activityId: event.id,
    type: event.type,
    status: event.status,
  };
  return {
    id: idOf('delivery', endpoint.id, event.id, String(event.revision)),
    organizationId: endpoint.organizationId,
    kind: webhookKind,
    lane: webhookLane(endpoint.id),
    reference: JSON.stringify(reference),
    expiresAt: null,
    createdAt: now,
  };
}

/**
 * Has an endpoint sent again every event since a time, in the order of the log.
 * @returns how many; undefined where there are too many.
 */
export function sendEventsAgain(
  tx: Writer,
  endpoint: WebhookEndpointRow,
  { since, most, now }: { readonly since: number; readonly most: number; readonly now: number },
): number | undefined {
  const events = listEventsSince(tx, endpoint.organizationId, since, most + 1);
  if (events.length > most) return undefined;
  let count = 0;
  for (const event of events) {
    if (!isSubscribed(endpoint, event)) continue;
    const entry = deliveryOf(endpoint, event, now);
    // At the end of its lane: in order with the others that are sent again.
    tx.run('DELETE FROM outbox WHERE id = ?', entry.id);
    insertOutboxRow(tx, entry);
    count++;
  }
  return count;
}

const listEventsSince = (tx: Reader, organizationId: string, since: number, limit: number): EventRow[] =>
  tx.all<EventRow>(
    `SELECT sequence, id, revision, organization_id AS organizationId, type, status FROM activities
     WHERE updated_at >= ? AND (organization_id = ? OR organization_id IN (SELECT id FROM organizations WHERE parent_id = ?))
     ORDER BY sequence LIMIT ?`,
    since,
    organizationId,
    organizationId,
    limit,
  );
