/** Webhook endpoints and deliveries as the window knows them. */

import type { Answer } from '../../../main/operations/api.ts';

export type Endpoint = Answer<'list_webhook_endpoints'>['webhookEndpoints'][number];
export type Delivery = Answer<'list_webhook_deliveries'>['deliveries'][number];
