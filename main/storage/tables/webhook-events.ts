/** Which rows of the log are events of which webhook endpoints. */
import { hash } from 'node:crypto';
import { passesFilters } from '../../lib/webhook-filters.ts';
import type { ActivityRow } from './activities.ts';
import type { WebhookEndpointRow, WebhookSubscription } from './webhook-endpoints.ts';

export type EventRow = Pick<ActivityRow, 'sequence' | 'organizationId' | 'type' | 'status' | 'result'>;

/** Activities that are about endpoints themselves. */
const creates = 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT';
const tests = 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT';

/** What of a row says whose event it is. A result may be long, and counts for activities about endpoints alone. */
export const eventColumns = `sequence, organization_id AS organizationId, type, status,
  CASE WHEN type IN ('${creates}', '${tests}') THEN result END AS result`;

/** A name's own id, as UUIDs of version 8 may be made. */
export const idFrom = (hex: string): string => {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** What receivers know an event by: the same at every endpoint, and whenever it is sent again. */
export const eventIdOf = ({ id, revision }: Pick<ActivityRow, 'id' | 'revision'>): string =>
  idFrom(hash('sha256', `event ${id} ${String(revision)}`));

/** What is to be done with a row of the log; 'refuse' is what came before the endpoint was switched off. */
export type Fate = 'send' | 'refuse' | 'skip';

/**
 * Sorts rows of the log for one endpoint: what makes it is no event of it yet; what tests it is one, whatever it has
 * subscribed to. The rows are of organizations that it is told of.
 */
export function sorterFor(endpoint: WebhookEndpointRow): (event: EventRow) => Fate {
  const subscriptions = (JSON.parse(endpoint.subscriptions) as readonly WebhookSubscription[]).filter(
    ({ eventType, isActive }) => eventType === 'ACTIVITY_UPDATES' && isActive,
  );
  const until = endpoint.switchedOffAt ?? 0;
  return (event) => {
    if (event.status === 'ACTIVITY_STATUS_COMPLETED' && event.result !== null) {
      if (event.type === creates && event.result.includes(endpoint.id)) return 'skip';
      if (event.type === tests && event.result.includes(endpoint.id)) return 'send';
    }
    if (endpoint.active === 0 && event.sequence > until) return 'skip';
    if (!subscriptions.some(({ filtersJson }) => passesFilters(filtersJson, event))) return 'skip';
    // A feature that was removed is told of what came before it.
    return endpoint.active === 0 && endpoint.feature === 0 ? 'refuse' : 'send';
  };
}
