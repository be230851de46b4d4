/** The log as events: each revision of an activity, by its place. */
import { listEvents, logEnd, type ActivityRow } from '../db/activities.ts';
import type { Reader } from '../db/connection.ts';
import type { Engine } from './engine.ts';
import { showActivity } from './show.ts';
import { versionOf } from './stored.ts';

export interface ActivityEvent {
  /** Its place in the log. */
  readonly id: number;
  readonly activity: Record<string, unknown>;
}

/** As the API shows it to nobody in particular: the same to whoever it is sent, however often. */
export const showEvent = (
  operations: Engine['operations'],
  tx: Reader,
  row: ActivityRow,
): Record<string, unknown> => showActivity(tx, row, versionOf(operations, row.type));

/** The place of the newest event; 0 where there is none. */
export const newestEvent = (tx: Reader): number => logEnd(tx).sequence;

export interface EventPage {
  readonly events: readonly ActivityEvent[];
  /** The place up to which the log was looked at. */
  readonly looked: number;
  /** Whether the log goes on beyond it. */
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
  const found = listEvents(tx, organizationId, { after, until: after + rows, limit });
  const end = newestEvent(tx);
  const last = found.length === limit ? found.at(-1)?.sequence : undefined;
  const looked = Math.max(after, last ?? Math.min(after + rows, end));
  const events = found.map((row) => ({ id: row.sequence, activity: showEvent(operations, tx, row) }));
  return { events, looked, more: looked < end };
}
