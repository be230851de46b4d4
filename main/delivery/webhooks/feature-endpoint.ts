/**
 * The endpoint of `FEATURE_NAME_WEBHOOK`: a row beside the named ones, which follows the feature. Once the feature is removed, it
 * is switched off, and stays until all that came about before is delivered, the removal included. Of those there are few: each
 * is tried for a day, and costs the vault time with each event.
 */
import { randomUUID } from 'node:crypto';
import type { Reader, Writer } from '../../storage/connection.ts';
import { getFeature } from '../../storage/tables/features.ts';
import {
  getWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
} from '../../storage/tables/webhook-endpoints.ts';
import { removeWebhookEndpoint } from '../../storage/tables/webhook-deliveries.ts';

const featureName = 'FEATURE_NAME_WEBHOOK';

/** Of one organization: the newest, and those that still deliver what came about before the feature was removed. */
const mostOfOne = 3;

const changesFeatures = [
  'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
];

/** True for types of activities that may leave the endpoint different from the feature. */
export const mayMoveFeature = (activityType: string): boolean => changesFeatures.includes(activityType);

/** True for an endpoint whose feature was removed. */
export function hasEnded(tx: Reader, endpointId: string): boolean {
  const endpoint = getWebhookEndpoint(tx, endpointId);
  return endpoint?.feature === 1 && endpoint.active === 0;
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
  const ended = listWebhookEndpoints(tx, organizationId).filter(({ feature }) => feature === 1);
  for (const { id } of ended.slice(0, Math.max(0, ended.length + 1 - mostOfOne))) {
    removeWebhookEndpoint(tx, id, now);
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
