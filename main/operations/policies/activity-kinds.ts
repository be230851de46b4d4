/** Kinds of activities and users, as questions about permissions take them. */
import { randomUUID } from 'node:crypto';
import type { Operations } from '../../activities/define.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import type { ActivityKind } from '../../policy/analysis/reach.ts';
import type { CredentialFact } from '../../policy/language/schema.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import type { Reader } from '../../storage/connection.ts';
import type { UserRow } from '../../storage/tables/users.ts';
import { credentialFactsOf, voterOf } from '../../storage/tables/voters.ts';

/** An API key that a spender may be given, beside those that it has. */
export const spenderKey = (userId: string): CredentialFact => ({
  ...{ id: randomUUID(), user_id: userId, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
  public_key: randomUUID(),
});

/** A user as the spender of a wallet: with that key, and with all that it has, expired or not. */
export const spenderOf = (tx: Reader, user: UserRow): Voter =>
  voterOf(tx, user, [spenderKey(user.id), ...credentialFactsOf(tx, user.id)]);

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
