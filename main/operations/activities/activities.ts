/** The activity log, read. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { getActivityRow, listActivityPart, listActivityRows } from '../../storage/tables/activities.ts';
import { activityStatuses } from '../../lib/activity-status.ts';
import { defined } from '../../lib/defined.ts';
import { activityType } from './activity-parameters.ts';
import { limits } from '../shared/limits.ts';
import { orNotFound, id, page, pagination } from '../shared/parameters.ts';
import { shownActivity } from '../shared/resources.ts';

export const getActivity = query({
  path: 'get_activity',
  summary: 'Shows one activity.',
  params: z.object({ activityId: id }),
  returns: z.object({ activity: shownActivity }),
  run: ({ tx, organizationId, params, showActivity }) => ({
    activity: showActivity(
      orNotFound(
        getActivityRow(tx, organizationId, params.activityId),
        `unable to find activity ${params.activityId}`,
      ),
    ),
  }),
});

export const listActivities = query({
  path: 'list_activities',
  summary: 'Lists activities, the newest first.',
  params: z.object({
    filterByStatus: z.array(z.enum(activityStatuses)).max(limits.batch).optional(),
    filterByType: z.array(activityType).max(limits.batch).optional(),
    paginationOptions: pagination,
    inParts: z
      .boolean()
      .describe(
        'Answers fewer where they are long for one answer, instead of an error, and `next` where more follow.',
      )
      .optional(),
  }),
  returns: z.object({
    activities: z.array(shownActivity),
    next: z
      .string()
      .describe(
        'With `inParts`: the cursor for those that follow, which goes into `after`, or into `before` where that was given.',
      )
      .optional(),
  }),
  run({ tx, organizationId, params, showActivity }) {
    const filter = {
      ...(params.filterByStatus?.length ? { statuses: params.filterByStatus } : {}),
      ...(params.filterByType?.length ? { types: params.filterByType } : {}),
    };
    const wanted = page(params.paginationOptions);
    const noSuch = 'invalid paginationOptions: after and before name an activity of this organization';
    if (params.inParts !== true) {
      const rows = orNotFound(listActivityRows(tx, organizationId, filter, wanted), noSuch);
      return { activities: rows.map(showActivity) };
    }
    const { rows, next } = orNotFound(listActivityPart(tx, organizationId, filter, wanted), noSuch);
    return { activities: rows.map(showActivity), ...defined({ next }) };
  },
});
