/** Outcomes of events for webhook endpoints, and sending them again: Keyhearth's own operations. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { getLogRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  getWebhookDelivery as getDelivery,
  listWebhookDeliveries as listDeliveries,
  sendEventsAgain,
  sendWebhookAgain,
  type WebhookDelivery,
} from '../../storage/tables/webhook-deliveries.ts';
import { timestamp } from '../../lib/clock.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';
import { orNotFound, id, page, pagination } from '../shared/parameters.ts';
import { shownActivity, shownDelivery, uuid } from '../shared/resources.ts';
import { findWebhookEndpoint } from './webhook-rules.ts';

/** Sends an event to one endpoint, whatever it has subscribed to: this activity itself. */
export const testWebhookEndpoint = activity({
  path: 'test_webhook_endpoint',
  summary: 'Sends this very activity to one endpoint, whatever it has subscribed to.',
  title: 'Test a webhook endpoint',
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
    endpointId: findWebhookEndpoint(tx, organizationId, endpointId).id,
  }),
});

export const replayWebhookDeliveries = activity({
  path: 'replay_webhook_deliveries',
  summary: 'Sends one event again, or all since a time.',
  title: 'Resend webhook events',
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
  run({ tx, organizationId, params: { endpointId, deliveryId, sinceMs = '' } }) {
    const endpoint = findWebhookEndpoint(tx, organizationId, endpointId);
    if (deliveryId !== undefined) {
      sendWebhookAgain(tx, findDelivery(tx, organizationId, endpoint.id, deliveryId));
      return { count: 1 };
    }
    const count = sendEventsAgain(tx, endpoint, { since: Number(sinceMs), most: limits.replayedEvents });
    if (count === undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.sinceMs: expected a time since which at most ${String(limits.replayedEvents)} events came about, got ${quoted(sinceMs)}`,
      );
    }
    return { count };
  },
});

/** Rows come on top while the list is read: it goes from the newest to the older ones. */
const onwards = pagination.refine((options) => (options?.before ?? '') === '', {
  error: 'Expected none: this list goes on after a delivery alone',
  path: ['before'],
});

const deliveryStates = ['waiting', 'delivered', 'refused', 'parked'] as const;

export const listWebhookDeliveries = query({
  path: 'list_webhook_deliveries',
  summary: 'Lists what became of events on their way, newest first.',
  own: true,
  params: z.object({
    endpointId: id.optional(),
    state: z.enum(deliveryStates).optional(),
    paginationOptions: onwards,
  }),
  returns: z.object({ deliveries: z.array(shownDelivery) }),
  run({ tx, organizationId, params }) {
    const { limit, after } = page(params.paginationOptions);
    const before =
      after === undefined
        ? undefined
        : orNotFound(getDelivery(tx, organizationId, after), `unable to find delivery ${after}`);
    const rows = listDeliveries(tx, organizationId, params, { limit, before });
    return { deliveries: rows.map(toDelivery) };
  },
});

export const getWebhookDelivery = query({
  path: 'get_webhook_delivery',
  summary: 'Shows one delivery, and what it brings.',
  own: true,
  params: z.object({ deliveryId: id }),
  returns: z.object({ delivery: shownDelivery, payload: shownActivity }),
  run({ tx, organizationId, params: { deliveryId }, showActivity }) {
    const row = orNotFound(
      getDelivery(tx, organizationId, deliveryId),
      `unable to find delivery ${deliveryId}`,
    );
    const event = orNotFound(
      getLogRow(tx, row.sequence),
      `unable to find the activity of delivery ${deliveryId}`,
    );
    return { delivery: toDelivery(row), payload: showActivity(event) };
  },
});

function findDelivery(
  tx: Reader,
  organizationId: string,
  endpointId: string,
  deliveryId: string,
): WebhookDelivery {
  const row = getDelivery(tx, organizationId, deliveryId);
  return orNotFound(
    row?.endpointId === endpointId ? row : undefined,
    `unable to find delivery ${deliveryId} of webhook endpoint ${endpointId}`,
  );
}

function toDelivery(row: WebhookDelivery) {
  return {
    deliveryId: row.id,
    endpointId: row.endpointId,
    activityId: row.activityId,
    activityType: row.type,
    activityStatus: row.status,
    state: row.state,
    attempts: row.attempts,
    ...(row.note === null ? {} : { lastResult: row.note }),
    ...(row.state === 'waiting' && row.nextAt > 0 ? { nextAttemptAt: timestamp(row.nextAt) } : {}),
    ...(row.finishedAt === null ? {} : { finishedAt: timestamp(row.finishedAt) }),
    createdAt: timestamp(row.createdAt),
  };
}
