/** Queries about refused requests, which are not activities. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { listRefusalRows } from '../../storage/tables/refusals.ts';
import { timestamp } from '../../lib/clock.ts';
import { limits } from '../shared/limits.ts';

const shownRefusal = z
  .object({
    refusalId: z.uuid(),
    userId: z.uuid(),
    type: z.string(),
    /** The JSON of its parameters. */
    intent: z.string(),
    reason: z.string(),
    createdAt: z.object({ seconds: z.string(), nanos: z.string() }),
  })
  .meta({ id: 'Refusal' });

export const listRefusals = query({
  path: 'list_refusals',
  summary: 'Lists the requests that were not allowed, the newest first: they are no activities.',
  own: true,
  params: z.object({ limit: z.int().min(1).max(limits.pageSize).optional() }),
  returns: z.object({ refusals: z.array(shownRefusal) }),
  run: ({ tx, organizationId, params: { limit = limits.pageSize } }) => ({
    refusals: listRefusalRows(tx, organizationId, limit).map(
      ({ id: refusalId, userId, type, intent, reason, createdAt }) => ({
        refusalId,
        userId,
        type,
        intent,
        reason,
        createdAt: timestamp(createdAt),
      }),
    ),
  }),
});
