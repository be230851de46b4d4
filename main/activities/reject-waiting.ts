/** Rejects what waits for votes, all of it and in every organization, in nobody's name. */
import { appendActivity, getLogRow, listAllWaiting, type ActivityRow } from '../db/activities.ts';
import type { Writer } from '../db/connection.ts';
import type { Engine } from './engine.ts';

/** @returns the revisions that say so. */
export function rejectWaiting(
  tx: Writer,
  { onAppended }: Pick<Engine, 'onAppended'>,
  now: number,
): readonly Pick<ActivityRow, 'id' | 'type' | 'status'>[] {
  // One at a time: a row may have megabytes.
  return listAllWaiting(tx).flatMap((sequence) => {
    const target = getLogRow(tx, sequence);
    if (target === undefined) return [];
    const appended = appendActivity(tx, {
      ...target,
      revision: target.revision + 1,
      status: 'ACTIVITY_STATUS_REJECTED',
      result: null,
      failure: null,
      updatedAt: now,
    });
    onAppended(tx, appended);
    const { id, type, status } = appended;
    return { id, type, status };
  });
}
