/** Decides which rows of the log are events of which webhook endpoints. */
import { hash } from 'node:crypto';
import { storedObject } from '../../lib/text/stored-json.ts';
import { passesFilters } from '../../lib/webhook-filters.ts';
import type { ActivityRow } from './activities.ts';
import type { WebhookEndpointRow, WebhookSubscription } from './webhook-endpoints.ts';

export type EventRow = Pick<ActivityRow, 'sequence' | 'organizationId' | 'type' | 'status' | 'result'>;

/** Activities that are about endpoints themselves. */
const creates = 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT';
const tests = 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT';

/**
 * The columns that decide about an event. A result may be long, and matters only for activities about
 * endpoints.
 */
export const eventColumns = `sequence, organization_id AS organizationId, type, status,
  CASE WHEN type IN ('${creates}', '${tests}') THEN result END AS result`;

/** The id of a name: a UUID of version 8. */
export const idFrom = (hex: string): string => {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The id by which receivers recognize an event: the same at every endpoint, and in every attempt. */
export const eventIdOf = ({ id, revision }: Pick<ActivityRow, 'id' | 'revision'>): string =>
  idFrom(hash('sha256', `event ${id} ${String(revision)}`));

/** The fate of a row of the log; 'refuse' is for events from before the endpoint was switched off. */
export type Fate = 'send' | 'refuse' | 'skip';

/**
 * Sorts rows of the log for one endpoint. The activity that creates it is not yet an event; one that tests it
 * is, whatever its subscriptions. The rows are of organizations whose events it receives.
 */
export function sorterFor(endpoint: WebhookEndpointRow): (event: EventRow) => Fate {
  const subscriptions = (JSON.parse(endpoint.subscriptions) as readonly WebhookSubscription[]).filter(
    ({ eventType, isActive }) => eventType === 'ACTIVITY_UPDATES' && isActive,
  );
  const until = endpoint.switchedOffAt ?? 0;
  return (event) => {
    if ((event.type === creates || event.type === tests) && endpointOf(event) === endpoint.id) {
      return event.type === creates ? 'skip' : 'send';
    }
    if (endpoint.active === 0 && event.sequence > until) return 'skip';
    if (!subscriptions.some(({ filtersJson }) => passesFilters(filtersJson, event))) return 'skip';
    // The endpoint of a removed feature still receives the events from before.
    return endpoint.active === 0 && endpoint.feature === 0 ? 'refuse' : 'send';
  };
}

/**
 * The endpoint that an activity created or tests. Other parts of the result are a user's own words, in which the id of any
 * endpoint may stand.
 */
const endpointOf = ({ status, result }: EventRow): unknown =>
  status === 'ACTIVITY_STATUS_COMPLETED' && result !== null
    ? storedObject(result)?.['endpointId']
    : undefined;
