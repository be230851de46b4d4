/** Kinds of activities and users, as questions about permissions take them. */
import type { Operations } from '../../activities/define.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import type { ActivityKind } from '../../policy/analysis/reach.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import type { Reader } from '../../storage/connection.ts';
import { listTagIdsOf } from '../../storage/tables/tags.ts';
import type { UserRow } from '../../storage/tables/users.ts';

export const voterOf = (tx: Reader, { id: userId, name, email, root }: UserRow): Voter => ({
  userId,
  root: root === 1,
  tags: listTagIdsOf(tx, 'TAG_TYPE_USER', userId),
  email: email ?? undefined,
  alias: name,
});

/** One for each activity, as its newest type; votes are not decided about. */
export function kindsOf(operations: Operations): readonly (ActivityKind & {
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
