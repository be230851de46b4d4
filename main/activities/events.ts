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

/** Those of an organization and of its sub-organizations. */
export const eventsAfter = (
  tx: Reader,
  organizationId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
  operations: Engine['operations'],
): readonly ActivityEvent[] =>
  listEvents(tx, organizationId, after, limit).map((row) => ({
    id: row.sequence,
    activity: showEvent(operations, tx, row),
  }));
