/** The log as events: each revision of an activity, by its place. */
import { listEvents, logEnd, organizationAt, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganizationRule } from '../../storage/tables/organizations.ts';
import { fromPublicId, rowIdsOf } from '../../storage/row-ids.ts';
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Engine } from '../request/engine.ts';
import { toEnvelope } from './envelope.ts';
import type { ActivityEnvelope } from '../define.ts';

export interface ActivityEvent {
  /** Its place in the log, as its organization is shown it. */
  readonly id: number;
  readonly activity: ActivityEnvelope;
}

/** As the API shows it to no caller in particular: every receiver gets the same, each time. */
export const showEvent = (operations: Engine['operations'], tx: Reader, row: ActivityRow): ActivityEnvelope =>
  toEnvelope(tx, row, operations);

/** True where the user belongs to a sub-organization. */
export const isOfSubOrganization = (
  tx: Reader,
  { organizationId }: Pick<Caller, 'organizationId'>,
): boolean => getOrganizationRule(tx, organizationId)?.parentId != null;

/**
 * Finds the row of an event by the id that it was sent with; 0 is before the first.
 * @throws KeyhearthError INVALID_ARGUMENT for an id that was not sent to this organization, or by an earlier version.
 */
export function rowOfEvent(tx: Reader, organizationId: string, id: number): number {
  if (id === 0) return 0;
  const sequence = fromPublicId(rowIdsOf(tx, organizationId, 'activities'), id);
  const its = organizationAt(tx, sequence);
  const seesAll = !isOfSubOrganization(tx, { organizationId });
  if (its === organizationId || (its !== undefined && seesAll)) return sequence;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid lastEventId: this vault has sent no event ${String(id)} to this organization; leave it out to begin with what comes next, or send 0 to begin with the first`,
  );
}

/** The row of the newest event; 0 where there is none. */
export const newestEvent = (tx: Reader): number => logEnd(tx).sequence;

export interface EventPage {
  readonly events: readonly ActivityEvent[];
  /** The row up to which the log was looked at. */
  readonly looked: number;
  /** True where the log has rows after `looked`. */
  readonly more: boolean;
}

/**
 * Those of an organization and of its sub-organizations.
 * @param page At most `limit` events, among the next `rows` of the log: another organization's may be many.
 */
export function eventsAfter(
  tx: Reader,
  organizationId: string,
  { after, limit, rows }: { readonly after: number; readonly limit: number; readonly rows: number },
  operations: Engine['operations'],
): EventPage {
  const { rows: found, isEnd } = listEvents(tx, organizationId, { after, until: after + rows, limit });
  const end = newestEvent(tx);
  const last = isEnd ? undefined : found.at(-1)?.sequence;
  const looked = Math.max(after, last ?? Math.min(after + rows, end));
  const ids = rowIdsOf(tx, organizationId, 'activities').show(found.map(({ sequence }) => sequence));
  const events = found.map((row, index) => ({
    id: ids[index] ?? 0,
    activity: showEvent(operations, tx, row),
  }));
  return { events, looked, more: looked < end };
}
