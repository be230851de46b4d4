/** An activity as the API shows it to one caller, who may have a vote to give. */
import { getActivityRow, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Engine } from '../request/engine.ts';
import { rightsOfNobody, toEnvelope, type VoteRights } from './envelope.ts';
import type { ActivityOperation, VoteOperation } from '../define.ts';
import { operationOf, versionOf } from '../request/stored.ts';
import type { Activity } from '../decision/facts.ts';
import { scopeRefusal } from '../decision/scope.ts';
import { readWaiting } from '../decision/waiting.ts';

/** An activity as its newest row has it. @param row An earlier revision of it, or the same. */
export const asItIs = (tx: Reader, row: ActivityRow): ActivityRow =>
  getActivityRow(tx, row.organizationId, row.id) ?? row;

/** @param identify Asked of an activity that waits: who made another may have deleted its own key with it. */
export function envelopeFor(
  { operations, clock }: Pick<Engine, 'operations' | 'clock'>,
  tx: Reader,
  row: ActivityRow,
  identify: () => Caller,
): ReturnType<typeof toEnvelope> {
  return toEnvelope(tx, row, versionOf(operations, row.type), rights());

  function rights(): VoteRights {
    if (row.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return rightsOfNobody(row);
    const caller = identify();
    const waiting = readWaiting(tx, operations, row, clock.now());
    const mayVote = waiting.mayVote(caller);
    const hasVoted = waiting.approvals.some(({ userId }) => userId === caller.userId);
    return {
      canApprove: mayVote && !hasVoted && isInScope('APPROVE', caller),
      canReject: mayVote && isInScope('REJECT', caller),
    };
  }

  /** False for a vote that the profile of the caller's session does not allow. */
  function isInScope(vote: 'APPROVE' | 'REJECT', caller: Caller): boolean {
    if (caller.sessionProfileId === undefined) return true;
    const allows = (operation: ActivityOperation | VoteOperation, activity: Activity): boolean =>
      scopeRefusal(tx, operation, activity, caller, clock.now()) === undefined;
    const operation = operations.byPath.get(`submit/${vote.toLowerCase()}_activity`);
    if (operation?.kind !== 'activity') throw new Error(`no operation is the vote ${vote}`);
    const { organizationId, fingerprint } = row;
    const type = `ACTIVITY_TYPE_${vote}_ACTIVITY`;
    if (!allows(operation, { type, organizationId, params: { fingerprint } })) return false;
    if (vote === 'REJECT') return true;
    // An approval lets the activity happen.
    const approved = operationOf(operations, row);
    return allows(approved.operation, approved.activity);
  }
}
