/** A user's permissions, by activity. The real API has nothing of the kind. */
import { z } from 'zod';
import { query, type Operations } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { listTagIdsOf } from '../../storage/tables/tags.ts';
import { getUserRow, listUserRows, type UserRow } from '../../storage/tables/users.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import { reachOf, type ActivityKind } from '../../policy/analysis/reach.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import { orNotFound, id } from '../shared/parameters.ts';
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
        voters: listUserRows(tx, organizationId).map((row) => voter(tx, row)),
        now,
      },
      voter(tx, user),
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

const voter = (tx: Reader, { id: userId, name, email, root }: UserRow): Voter => ({
  userId,
  root: root === 1,
  tags: listTagIdsOf(tx, 'TAG_TYPE_USER', userId),
  email: email ?? undefined,
  alias: name,
});

/** One for each activity, as its newest type; votes are not decided about. */
function kindsOf(operations: Operations): readonly (ActivityKind & {
  readonly resource: string;
  readonly action: string;
})[] {
  return [...operations.byType.values()].flatMap(
    ({ operation: { authority, versions }, version: { type } }) => {
      const { resource, action, rootQuorumOnly = false, ownCredentials } = authority;
      if (type !== versions[0]?.type) return [];
      return [
        {
          type,
          kind: rootQuorumOnly ? undefined : kindOf(type),
          resource,
          action,
          rootQuorumOnly,
          credentials: ownCredentials !== undefined,
        },
      ];
    },
  );
}
