/** Webhook endpoints and deliveries as the window knows them, and what is asked of them. */

import type { Timestamp } from './time.ts';

export interface Endpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly name: string;
  readonly isActive: boolean;
}

export interface Delivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly activityType: string;
  readonly state: 'waiting' | 'delivered' | 'refused' | 'parked' | 'expired';
  readonly attempts: number;
  readonly lastResult?: string;
  readonly nextAttemptAt?: Timestamp;
  readonly createdAt: Timestamp;
}

const submitOf = (operation: string, result: string) =>
  ({ operation, type: `ACTIVITY_TYPE_${operation.toUpperCase()}`, result }) as const;
export const createEndpoint = submitOf('create_webhook_endpoint', 'createWebhookEndpointResult');
export const updateEndpoint = submitOf('update_webhook_endpoint', 'updateWebhookEndpointResult');
export const deleteEndpoint = submitOf('delete_webhook_endpoint', 'deleteWebhookEndpointResult');
export const testEndpoint = submitOf('test_webhook_endpoint', 'testWebhookEndpointResult');
export const replayDeliveries = submitOf('replay_webhook_deliveries', 'replayWebhookDeliveriesResult');
