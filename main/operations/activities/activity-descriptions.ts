/** Describes activities in sentences, with the names of things. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { getActivityRow } from '../../storage/tables/activities.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { id } from '../shared/parameters.ts';
import { shownPart } from './spoken.ts';
import { describe } from './spoken-activity.ts';

const mostAtOnce = 100;

const shownDescription = z
  .object({
    activityId: z.string(),
    /** For a list, under the title of the activity's kind: its objects. */
    about: z.array(shownPart),
    /** The effect of carrying it out, in one sentence. */
    effect: z.array(shownPart),
    /** The request, field by field, with names in the place of ids. Empty for a signature: `describe_payload` describes those. */
    fields: z.array(z.object({ label: z.string(), value: z.array(shownPart) })),
    /** True if the request has more fields, or longer ones, than these. */
    shortened: z.boolean(),
  })
  .meta({ id: 'ActivityDescription' });

export const describeActivities = query({
  path: 'describe_activities',
  summary: 'Tells what activities are about and what carrying them out does, with the names of things.',
  own: true,
  params: z.object({ activityIds: z.array(id).min(1).max(mostAtOnce) }),
  /** Without those that the organization does not have. */
  returns: z.object({ descriptions: z.array(shownDescription) }),
  *run({ tx, organizationId, params, operations }): Paced<{ readonly descriptions: readonly Description[] }> {
    const descriptions: Description[] = [];
    for (const activityId of params.activityIds) {
      const row = getActivityRow(tx, organizationId, activityId);
      if (row !== undefined) descriptions.push({ activityId, ...describe(tx, operations, row) });
      yield;
    }
    return { descriptions };
  },
});

interface Description extends ReturnType<typeof describe> {
  readonly activityId: string;
}
