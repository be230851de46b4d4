/** The activity log, read. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { getActivityRow, listActivityRows } from '../../storage/tables/activities.ts';
import { activityStatuses } from '../../lib/activity-status.ts';
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
  }),
  returns: z.object({ activities: z.array(shownActivity) }),
  run({ tx, organizationId, params, showActivity }) {
    const rows = orNotFound(
      listActivityRows(
        tx,
        organizationId,
        {
          ...(params.filterByStatus?.length ? { statuses: params.filterByStatus } : {}),
          ...(params.filterByType?.length ? { types: params.filterByType } : {}),
        },
        page(params.paginationOptions),
      ),
      'invalid paginationOptions: after and before name an activity of this organization',
    );
    return { activities: rows.map(showActivity) };
  },
});
