/** Webhook endpoints: where an organization has its events sent. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  insertWebhookEndpoint,
  listWebhookEndpoints as listEndpointRows,
  updateWebhookEndpoint as updateEndpointRow,
  type NewWebhookEndpoint,
  type WebhookEndpointRow,
  type WebhookSubscription,
} from '../../storage/tables/webhook-endpoints.ts';
import { refuseFromBefore, removeWebhookEndpoint } from '../../storage/tables/webhook-deliveries.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { readWebhookFilters, webhookFilterNames } from '../../lib/webhook-filters.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, id, name } from '../shared/parameters.ts';
import { shownWebhookEndpoint, uuid } from '../shared/resources.ts';
import { checkWebhookUrl, findWebhookEndpoint, mostUrlCharacters } from './webhook-rules.ts';

/** Event types of the real API; here only activities occur. */
const eventTypes = [
  'ACTIVITY_UPDATES',
  'BALANCE_CONFIRMED_UPDATES',
  'BALANCE_FINALIZED_UPDATES',
  'SEND_TRANSACTION_STATUS_UPDATES',
] as const;

const url = z.string().min(1).max(mostUrlCharacters);
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
  summary: 'Has events sent to a URL from now on.',
  title: 'Add a webhook endpoint',
  type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
  intent: 'createWebhookEndpointIntent',
  result: 'createWebhookEndpointResult',
  params: z.object({ url, name, subscriptions: subscriptions.optional() }),
  returns: z.object({ endpointId: uuid, webhookEndpoint: shownWebhookEndpoint }),
  authority: { resource: 'WEBHOOK_ENDPOINT', action: 'CREATE', changesRights: true },
  run(context) {
    const { tx, organizationId, params, random, now } = context;
    checkWebhookUrl(context, 'parameters.url', params.url);
    const present = listNamed(tx, organizationId).length;
    checkLimit(tx, 'webhook endpoints', present, 1, limits.webhookEndpointsPerOrganization);
    const given = params.subscriptions ?? [];
    // Without any it could get nothing, ever: no operation adds one later.
    const kept: readonly WebhookSubscription[] =
      given.length === 0
        ? [{ eventType: 'ACTIVITY_UPDATES', isActive: true }]
        : given.map(({ isActive = true, ...subscription }) => ({ ...subscription, isActive }));
    const row: NewWebhookEndpoint = {
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
  summary: 'Gives an endpoint another URL or name, or switches it off or on.',
  title: 'Update a webhook endpoint',
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
    changesRights: true,
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run(context) {
    const { tx, organizationId, params, now } = context;
    const row = findNamed(tx, organizationId, params.endpointId);
    if (params.url !== undefined) checkWebhookUrl(context, 'parameters.url', params.url);
    const changed: WebhookEndpointRow = {
      ...row,
      url: params.url ?? row.url,
      name: params.name ?? row.name,
      active: params.isActive === undefined ? row.active : params.isActive ? 1 : 0,
      updatedAt: now,
    };
    if (row.active < changed.active) refuseFromBefore(tx, row, now);
    updateEndpointRow(tx, changed);
    return { endpointId: row.id, webhookEndpoint: toEndpoint(changed) };
  },
});

export const deleteWebhookEndpoint = activity({
  path: 'delete_webhook_endpoint',
  summary: 'Has no more events sent to an endpoint.',
  title: 'Delete a webhook endpoint',
  type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
  intent: 'deleteWebhookEndpointIntent',
  result: 'deleteWebhookEndpointResult',
  params: z.object({ endpointId: id }),
  returns: z.object({ endpointId: uuid }),
  authority: {
    resource: 'WEBHOOK_ENDPOINT',
    action: 'DELETE',
    changesRights: true,
    shows: ({ endpointId }) => ({ endpoint_id: endpointId }),
  },
  run({ tx, organizationId, params: { endpointId }, now }) {
    removeWebhookEndpoint(tx, findNamed(tx, organizationId, endpointId).id, now);
    return { endpointId };
  },
});

export const listWebhookEndpoints = query({
  path: 'list_webhook_endpoints',
  summary: 'Lists where events are sent.',
  params: z.object({}),
  returns: z.object({ webhookEndpoints: z.array(shownWebhookEndpoint) }),
  run: ({ tx, organizationId }) => ({
    webhookEndpoints: listNamed(tx, organizationId).map(toEndpoint),
  }),
});

/** Without those of the feature, which has few of its own. */
const listNamed = (tx: Reader, organizationId: string): WebhookEndpointRow[] =>
  listEndpointRows(tx, organizationId).filter(({ feature }) => feature === 0);

/** The feature's endpoint is the feature's to change. */
function findNamed(tx: Reader, organizationId: string, endpointId: string): WebhookEndpointRow {
  const row = findWebhookEndpoint(tx, organizationId, endpointId);
  if (row.feature === 0) return row;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    'invalid parameters.endpointId: this is the endpoint of FEATURE_NAME_WEBHOOK; set or remove that feature',
  );
}

const toEndpoint = (row: NewWebhookEndpoint) => ({
  endpointId: row.id,
  organizationId: row.organizationId,
  url: row.url,
  name: row.name,
  isActive: row.active === 1,
  subscriptions: JSON.parse(row.subscriptions) as WebhookSubscription[],
});
