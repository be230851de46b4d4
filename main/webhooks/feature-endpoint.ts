/**
 * The endpoint of `FEATURE_NAME_WEBHOOK`: a row beside the named ones, which follows the feature. Once the feature is removed, it
 * is switched off, and stays until all that came about before is delivered, the removal included.
 */
import { randomUUID } from 'node:crypto';
import type { Writer } from '../db/connection.ts';
import { getFeature } from '../db/features.ts';
import { removeWebhookEndpoint } from '../db/webhook-deliveries.ts';
import {
  getWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
  type WebhookEndpointRow,
} from '../db/webhook-endpoints.ts';

const featureName = 'FEATURE_NAME_WEBHOOK';

const changesFeatures = [
  'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
];

/** Whether activities of a type may leave the endpoint where the feature is not. */
export const mayMoveFeature = (activityType: string): boolean => changesFeatures.includes(activityType);

/** Whether an endpoint of a feature that was removed may still have events to deliver. */
export const isEnding = ({ feature, active }: Pick<WebhookEndpointRow, 'feature' | 'active'>): boolean =>
  feature === 1 && active === 0;

/** Removes an endpoint that has delivered all that it was to. */
export function endFeature(tx: Writer, endpointId: string, now: number): void {
  const endpoint = getWebhookEndpoint(tx, endpointId);
  if (endpoint !== undefined && isEnding(endpoint)) removeWebhookEndpoint(tx, endpointId, now);
}

/** Has the feature's endpoint be where the feature says. */
export function followFeature(tx: Writer, organizationId: string, now: number): void {
  const url = getFeature(tx, organizationId, featureName)?.value;
  const endpoint = listWebhookEndpoints(tx, organizationId).find(
    ({ feature, active }) => feature === 1 && active === 1,
  );
  if (endpoint?.url === url) return;
  if (url === undefined) {
    if (endpoint) updateWebhookEndpoint(tx, { ...endpoint, active: 0, updatedAt: now });
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
