/**
 * The scope of a session with a profile. The vault asks it before quorum and policies, of each activity and vote of the session. It
 * allows nothing by itself.
 */
import type { Reader } from '../../storage/connection.ts';
import { getSessionProfileRow } from '../../storage/tables/session-profiles.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import type { Caller } from '../../lib/caller.ts';
import { quoted } from '../../lib/errors.ts';
import { decide } from '../../policy/decide/decide.ts';
import type { ConditionFacts } from '../../policy/language/schema.ts';
import { storedPolicy } from '../../policy/decide/policies.ts';
import type { ActivityRow } from '../../storage/tables/activities.ts';
import { voterOf } from '../../storage/tables/voters.ts';
import { stepUpFor, type ActivityOperation, type Operations, type VoteOperation } from '../define.ts';
import { operationOf } from '../request/stored.ts';
import type { Selection } from '../../storage/tables/votes.ts';
import { itemFacts, type Activity } from './facts.ts';
import { noPermission } from './no-permission.ts';

interface Asked<Of> {
  readonly operation: Of;
  readonly activity: Activity;
}

/**
 * @param activity What the session asks for, or what it votes on: a vote lets that happen.
 * @returns why the scope does not allow it, or does not say. Whatever the scope says, the session adds no way in: it would last longer
 * than the session, and have no scope. What the session changes for other users has no scope either. The scope has to name that.
 */
export function scopeRefusal(
  tx: Reader,
  operation: ActivityOperation | VoteOperation,
  activity: Activity,
  { sessionProfileId, organizationId: home, userId }: Caller,
  now: number,
): string | undefined {
  if (sessionProfileId === undefined) return undefined;
  const profile = getSessionProfileRow(tx, sessionProfileId);
  if (profile === undefined) return `session profile ${sessionProfileId} is missing`;
  const name = quoted(profile.name);
  const { organizationId, params } = activity;
  if (operation.vote === undefined && stepUpFor(operation, params, { tx, organizationId }) === 'wayIn') {
    return `A session with a profile adds no way in, and this one has ${name}`;
  }
  const user = getUserRow(tx, home, userId);
  if (user === undefined) throw new Error(`user ${userId} is missing`);
  const scope = storedPolicy({
    policyId: profile.id,
    effect: 'EFFECT_ALLOW',
    condition: profile.scope,
  });
  const allows = (items: readonly ConditionFacts[]): boolean =>
    decide({
      items,
      // Of the root quorum or not: the scope alone decides.
      approvers: [{ ...voterOf(tx, user, []), root: false }],
      rootQuorumThreshold: 1,
      policies: [scope],
      now,
    }).outcome === 'allow';
  const items = itemFacts(tx, operation, activity);
  if (!allows(items)) return `The scope of session profile ${name} does not allow this action`;
  if (changesRights(operation, params) && allows(items.map(withoutItsNames))) {
    return `The scope of session profile ${name} does not name what changes the rights of others`;
  }
  return undefined;
}

const changesRights = ({ authority }: ActivityOperation | VoteOperation, params: unknown): boolean =>
  typeof authority.changesRights === 'function'
    ? authority.changesRights(params)
    : authority.changesRights === true;

/** The facts of an activity that a scope has no name for. One that allows it just leaves such activities out. */
const withoutItsNames = ({ activity, ...facts }: ConditionFacts): ConditionFacts => ({
  ...facts,
  activity: () => {
    const fact = activity?.();
    return fact === undefined || !('type' in fact) ? fact : { ...fact, type: '', kind: '', resource: '' };
  },
});

/** Lists for a scope what a vote asks for: itself, and what an approval lets happen. */
export function askedByVote(
  operations: Operations,
  target: ActivityRow,
  selection: Selection,
  own: Asked<VoteOperation> | undefined,
): readonly Asked<ActivityOperation | VoteOperation>[] {
  const approved = selection === 'VOTE_SELECTION_APPROVED' ? [operationOf(operations, target)] : [];
  return own === undefined ? approved : [own, ...approved];
}

/** @throws KeyhearthError PERMISSION_DENIED where there is a `scopeRefusal`. */
export function checkScope(...asked: Parameters<typeof scopeRefusal>): void {
  const refusal = scopeRefusal(...asked);
  if (refusal !== undefined) throw noPermission(refusal);
}
