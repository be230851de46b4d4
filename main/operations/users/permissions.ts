/** A user's permissions, by activity. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { credentialFactsOf, voterOf, votersOf } from '../../storage/tables/voters.ts';
import { reachOf } from '../../policy/analysis/reach.ts';
import { orNotFound, id } from '../shared/parameters.ts';
import { kindsOf } from '../policies/activity-kinds.ts';
import { rulesInForce } from '../policies/policy-rules.ts';

const reaches = [
  'REACH_ROOT_QUORUM',
  'REACH_ALLOWED',
  'REACH_OWN_CREDENTIALS',
  'REACH_CONSENSUS',
  'REACH_DEPENDS',
  'REACH_DENIED',
] as const;

const shownPermission = z
  .object({
    activityType: z.string(),
    resource: z.string(),
    action: z.string(),
    reach: z.enum(reaches),
    /** Of the policies that say so. */
    policyIds: z.array(z.string()),
  })
  .meta({ id: 'Permission' });

export const listPermissions = query({
  path: 'list_permissions',
  summary: 'Lists what a user could do of each kind of activity: alone, with others, or not at all.',
  own: true,
  params: z.object({ userId: id }),
  returns: z.object({ permissions: z.array(shownPermission) }),
  *run({ tx, organizationId, params: { userId }, operations, now }) {
    const user = orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    const kinds = kindsOf(operations);
    const reached = yield* reachOf(
      {
        rootQuorumThreshold: getOrganization(tx, organizationId)?.rootQuorumThreshold ?? 1,
        policies: rulesInForce(tx, organizationId),
        voters: votersOf(tx, organizationId, now),
        now,
      },
      voterOf(tx, user, credentialFactsOf(tx, user.id, now)),
      kinds,
    );
    return {
      permissions: kinds.map(({ type, resource, action }, index) => ({
        activityType: type,
        resource,
        action,
        ...(reached[index] ?? { reach: 'REACH_DENIED', policyIds: [] }),
      })),
    };
  },
});
