/** Requests that wait for the caller in particular. The real API has nothing of the kind. */
import { z } from 'zod';
import { query, type ActivityEnvelope } from '../../activities/define.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { getActivityRow, listWaitingIn } from '../../storage/tables/activities.ts';
import { shownActivity } from '../shared/resources.ts';

/** As many are shown. Where there are more, their number is not known. */
const mostShown = 100;
/** Of their texts, in characters, unless the first alone has more. */
const mostCharacters = 8_000_000;

/** Rows whose places are read at once, and milliseconds in which they are looked at. */
const placesAtOnce = 500;
const stepMs = 4;

export const listNeededActivities = query({
  path: 'list_needed_activities',
  summary:
    'Lists activities that wait and that an approval of the caller would count for, the newest first: a hundred at most.',
  own: true,
  params: z.object({}),
  returns: z.object({
    activities: z.array(shownActivity),
    areMore: z.boolean().describe('True if others need it too.'),
  }),
  *run({ tx, organizationId, showActivity, needsApproval }): Paced<{
    readonly activities: readonly ActivityEnvelope[];
    readonly areMore: boolean;
  }> {
    const activities: ActivityEnvelope[] = [];
    let characters = 0;
    let end = performance.now() + stepMs;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const places = listWaitingIn(tx, organizationId, before, placesAtOnce);
      for (const { id, sequence } of places) {
        if (performance.now() >= end) {
          yield;
          end = performance.now() + stepMs;
        }
        before = sequence;
        // It may have been decided since.
        const row = getActivityRow(tx, organizationId, id);
        if (row?.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || !needsApproval(row)) continue;
        characters += row.intent.length + row.votes.length;
        const isFull =
          activities.length === mostShown || (activities.length > 0 && characters > mostCharacters);
        if (isFull) return { activities, areMore: true };
        activities.push(showActivity(row));
      }
      if (places.length < placesAtOnce) return { activities, areMore: false };
    }
  },
});
