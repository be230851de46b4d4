/** Webhook endpoints: where an organization has its events sent, what became of them, and having them sent again. */
import { z } from 'zod';
import { activity, query } from '../activities/define.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import { getLogRow } from '../db/activities.ts';
import type { Reader } from '../db/connection.ts';
import { getOutboxRow, listDeliveries, sendAgain, type OutboxRow } from '../db/outbox.ts';
import {
  deleteWebhookEndpoint as deleteEndpointRow,
  getWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints as listEndpointRows,
  readWebhookReference,
  updateWebhookEndpoint as updateEndpointRow,
  webhookKind,
  webhookLane,
  type WebhookEndpointRow,
  type WebhookSubscription,
} from '../db/webhook-endpoints.ts';
import { sendEventsAgain } from '../db/webhook-events.ts';
import { LatchkeyError, seen } from '../lib/errors.ts';
import { readWebhookFilters, webhookFilterNames } from '../lib/webhook-filters.ts';
import { timestamp } from '../lib/clock.ts';
import { limits } from './limits.ts';
import { checkLimit, found, id, name, page, pagination } from './parameters.ts';
import { shownActivity, shownDelivery, shownWebhookEndpoint, uuid } from './resources.ts';
import { checkWebhookUrl } from './webhook-urls.ts';

/** What the real API can subscribe to; here only activities come about. */
const eventTypes = [
  'ACTIVITY_UPDATES',
  'BALANCE_CONFIRMED_UPDATES',
  'BALANCE_FINALIZED_UPDATES',
  'SEND_TRANSACTION_STATUS_UPDATES',
] as const;

const url = z.string().min(1);
const subscriptions = z
  .array(
    z.object({
      eventType: z.enum(eventTypes),
      filtersJson: z
        .string()
        .max(4000)
        .refine(
          (text) => text === '' || readWebhookFilters(text) !== undefined,
          `Expected JSON of an object with lists of texts: ${webhookFilterNames.join(', ')}`,
        )
        .optional(),
      isActive: z.boolean().optional(),
    }),
  )
  .max(eventTypes.length);

export const createWebhookEndpoint = activity({
  path: 'create_webhook_endpoint',
  type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
  intent: 'createWebhookEndpointIntent',
  result: 'createWebhookEndpointResult',
  params: z.object({ url, name, subscriptions: subscriptions.optional() }),
  returns: z.object({ endpointId: uuid, webhookEndpoint: shownWebhookEndpoint }),
  authority: { resource: 'WEBHOOK_ENDPOINT', action: 'CREATE' },
  run({ tx, organizationId, params, random, now }) {
    checkWebhookUrl(tx, organizationId, 'parameters.url', params.url);
    const present = listEndpointRows(tx, organizationId).length;
    checkLimit('webhook endpoints', present, 1, limits.webhookEndpointsPerOrganization);
    const given = params.subscriptions ?? [];
    // Without any it could get nothing, ever: no operation adds one later.
    const kept: readonly WebhookSubscription[] =
      given.length === 0
        ? [{ eventType: 'ACTIVITY_UPDATES', isActive: true }]
        : given.map(({ isActive = true, ...subscription }) => ({ ...subscription, isActive }));
    const row: WebhookEndpointRow = {
      id: uuidV4(random('webhook endpoint', 16)),
      organizationId,
      feature: 0,
      url: params.url,
      name: params.name,
      active: 1,
      subscriptions: JSON.stringify(kept),
      createdAt: now,
      updatedAt: now,
    };
    insertWebhookEndpoint(tx, row);
    return { endpointId: row.id, webhookEndpoint: toEndpoint(row) };
  },
});

export const updateWebhookEndpoint = activity({
  path: 'update_webhook_endpoint',
  type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
  intent: 'updateWebhookEndpointIntent',
  result: 'updateWebhookEndpointResult',
  params: z.object({
    endpointId: id,
    url: url.optional(),
    name: name.optional(),
    isActive: z.boolean().optional(),
  }),
  returns: z.object({ endpointId: uuid, webhookEndpoint: shownWebhookEndpoint }),
  authority: {
    resource: 'WEBHOOK_ENDPOINT',
    action: 'UPDATE',
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run({ tx, organizationId, params, now }) {
    const row = findNamed(tx, organizationId, params.endpointId);
    if (params.url !== undefined) checkWebhookUrl(tx, organizationId, 'parameters.url', params.url);
    const changed: WebhookEndpointRow = {
      ...row,
      url: params.url ?? row.url,
      name: params.name ?? row.name,
      active: params.isActive === undefined ? row.active : params.isActive ? 1 : 0,
      updatedAt: now,
    };
    updateEndpointRow(tx, changed);
    return { endpointId: row.id, webhookEndpoint: toEndpoint(changed) };
  },
});

export const deleteWebhookEndpoint = activity({
  path: 'delete_webhook_endpoint',
  type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
  intent: 'deleteWebhookEndpointIntent',
  result: 'deleteWebhookEndpointResult',
  params: z.object({ endpointId: id }),
  returns: z.object({ endpointId: uuid }),
  authority: {
    resource: 'WEBHOOK_ENDPOINT',
    action: 'DELETE',
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run({ tx, organizationId, params: { endpointId } }) {
    deleteEndpointRow(tx, findNamed(tx, organizationId, endpointId).id);
    return { endpointId };
  },
});

export const listWebhookEndpoints = query({
  path: 'list_webhook_endpoints',
  params: z.object({}),
  returns: z.object({ webhookEndpoints: z.array(shownWebhookEndpoint) }),
  run: ({ tx, organizationId }) => ({
    webhookEndpoints: listEndpointRows(tx, organizationId)
      .filter(({ feature }) => feature === 0)
      .map(toEndpoint),
  }),
});

/** Sends an event to one endpoint, whatever it has subscribed to: this activity itself. */
export const testWebhookEndpoint = activity({
  path: 'test_webhook_endpoint',
  own: true,
  type: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT',
  intent: 'testWebhookEndpointIntent',
  result: 'testWebhookEndpointResult',
  params: z.object({ endpointId: id }),
  returns: z.object({ endpointId: uuid }),
  authority: {
    resource: 'WEBHOOK_ENDPOINT',
    action: 'UPDATE',
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run: ({ tx, organizationId, params: { endpointId } }) => ({
    endpointId: findEndpoint(tx, organizationId, endpointId).id,
  }),
});

export const replayWebhookDeliveries = activity({
  path: 'replay_webhook_deliveries',
  own: true,
  type: 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES',
  intent: 'replayWebhookDeliveriesIntent',
  result: 'replayWebhookDeliveriesResult',
  params: z
    .object({
      endpointId: id,
      /** One delivery. */
      deliveryId: id.optional(),
      /** Every event since then, in milliseconds; those too whose deliveries are forgotten. */
      sinceMs: z
        .string()
        .regex(/^[0-9]{1,15}$/, 'Expected a time in milliseconds, in digits')
        .optional(),
    })
    .refine(
      ({ deliveryId, sinceMs }) => (deliveryId === undefined) !== (sinceMs === undefined),
      'Expected either deliveryId or sinceMs',
    ),
  returns: z.object({ count: z.int() }),
  authority: {
    resource: 'WEBHOOK_ENDPOINT',
    action: 'UPDATE',
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run({ tx, organizationId, params: { endpointId, deliveryId, sinceMs = '' }, now }) {
    const endpoint = findEndpoint(tx, organizationId, endpointId);
    if (deliveryId !== undefined) {
      findDelivery(tx, organizationId, endpoint.id, deliveryId);
      sendAgain(tx, organizationId, deliveryId);
      return { count: 1 };
    }
    const count = sendEventsAgain(tx, endpoint, { since: Number(sinceMs), most: limits.replayedEvents, now });
    if (count === undefined) {
      throw new LatchkeyError(
        'INVALID_ARGUMENT',
        `invalid parameters.sinceMs: expected a time since which at most ${String(limits.replayedEvents)} events came about, got ${seen(sinceMs)}`,
      );
    }
    return { count };
  },
});

const deliveryStates = ['waiting', 'delivered', 'refused', 'parked', 'expired'] as const;

export const listWebhookDeliveries = query({
  path: 'list_webhook_deliveries',
  own: true,
  params: z.object({
    endpointId: id.optional(),
    state: z.enum(deliveryStates).optional(),
    paginationOptions: pagination,
  }),
  returns: z.object({ deliveries: z.array(shownDelivery) }),
  run({ tx, organizationId, params }) {
    const { limit, after } = page(params.paginationOptions);
    const cursor =
      after === undefined
        ? undefined
        : found(getOutboxRow(tx, organizationId, after), `unable to find delivery ${after}`).sequence;
    const filter = {
      kind: webhookKind,
      ...(params.endpointId === undefined ? {} : { lane: webhookLane(params.endpointId) }),
      ...(params.state === undefined ? {} : { state: params.state }),
    };
    const rows = listDeliveries(tx, organizationId, filter, {
      limit,
      ...(cursor === undefined ? {} : { before: cursor }),
    });
    return { deliveries: rows.map(toDelivery) };
  },
});

export const getWebhookDelivery = query({
  path: 'get_webhook_delivery',
  own: true,
  params: z.object({ deliveryId: id }),
  returns: z.object({ delivery: shownDelivery, payload: shownActivity }),
  run({ tx, organizationId, params: { deliveryId }, showActivity }) {
    const row = found(
      getOutboxRow(tx, organizationId, deliveryId),
      `unable to find delivery ${deliveryId}`,
    );
    const event = getLogRow(tx, readWebhookReference(row.reference).sequence);
    return { delivery: toDelivery(row), payload: event === undefined ? {} : showActivity(event) };
  },
});

const findEndpoint = (tx: Reader, organizationId: string, endpointId: string): WebhookEndpointRow => {
  const row = getWebhookEndpoint(tx, endpointId);
  return found(
    row?.organizationId === organizationId ? row : undefined,
    `unable to find webhook endpoint ${endpointId}`,
  );
};

/** The feature's endpoint is the feature's to change. */
function findNamed(tx: Reader, organizationId: string, endpointId: string): WebhookEndpointRow {
  const row = findEndpoint(tx, organizationId, endpointId);
  if (row.feature === 0) return row;
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    'invalid parameters.endpointId: this is the endpoint of FEATURE_NAME_WEBHOOK; set or remove that feature',
  );
}

function findDelivery(tx: Reader, organizationId: string, endpointId: string, deliveryId: string): OutboxRow {
  const row = getOutboxRow(tx, organizationId, deliveryId);
  return found(
    row?.lane === webhookLane(endpointId) ? row : undefined,
    `unable to find delivery ${deliveryId} of webhook endpoint ${endpointId}`,
  );
}

const toEndpoint = (row: WebhookEndpointRow) => ({
  endpointId: row.id,
  organizationId: row.organizationId,
  url: row.url,
  name: row.name,
  isActive: row.active === 1,
  subscriptions: JSON.parse(row.subscriptions) as WebhookSubscription[],
});

function toDelivery(row: OutboxRow) {
  const { endpointId, activityId, type, status } = readWebhookReference(row.reference);
  return {
    deliveryId: row.id,
    endpointId,
    activityId,
    activityType: type,
    activityStatus: status,
    state: row.state,
    attempts: row.attempts,
    ...(row.note === null ? {} : { lastResult: row.note }),
    ...(row.state === 'waiting' && row.nextAt > 0 ? { nextAttemptAt: timestamp(row.nextAt) } : {}),
    ...(row.finishedAt === null ? {} : { finishedAt: timestamp(row.finishedAt) }),
    createdAt: timestamp(row.createdAt),
  };
}
