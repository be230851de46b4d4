/** An activity as the API shows it to one caller, who may have a vote to give. */
import { getActivityRow, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Engine } from '../request/engine.ts';
import { openForAsker } from './askers-secrets.ts';
import { rightsOfNobody, toEnvelope, type VoteRights } from './envelope.ts';
import { askedByVote, scopeRefusal } from '../decision/scope.ts';
import { readWaiting, type Waiting } from '../decision/waiting.ts';

/** An activity as its newest row has it. @param row An earlier revision of it, or the same. */
export const asItIs = (tx: Reader, row: ActivityRow): ActivityRow =>
  getActivityRow(tx, row.organizationId, row.id) ?? row;

type Parts = Pick<Engine, 'operations' | 'clock' | 'keys'>;

/** @param identify Asked of an activity that waits: who made another may have deleted its own key with it. */
export function envelopeFor(
  parts: Parts,
  tx: Reader,
  row: ActivityRow,
  identify: () => Caller,
): ReturnType<typeof toEnvelope> {
  return toEnvelope(tx, row, parts.operations, rightsOf(parts, tx, row, identify), (operation, result) =>
    openForAsker(parts.keys, operation, identify, result),
  );
}

/** @param identify As `envelopeFor`. */
function rightsOf(parts: Parts, tx: Reader, row: ActivityRow, identify: () => Caller): VoteRights {
  if (row.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return rightsOfNobody(row);
  const caller = identify();
  const waiting = readWaiting(tx, parts.operations, row, parts.clock.now());
  const mayVote = waiting.mayVote(caller);
  return {
    canApprove:
      mayVote &&
      waiting.isReadable() &&
      !hasApproved(waiting, caller) &&
      isInScope(parts, tx, row, 'APPROVE', caller),
    canReject: mayVote && isInScope(parts, tx, row, 'REJECT', caller),
  };
}

/** As `canApprove` of the envelope, of an activity that waits. */
export function needsApproval(parts: Parts, tx: Reader, row: ActivityRow, caller: Caller): boolean {
  const waiting = readWaiting(tx, parts.operations, row, parts.clock.now());
  // The votes are looked at first: they need no policies.
  return (
    !hasApproved(waiting, caller) &&
    waiting.isReadable() &&
    waiting.mayVote(caller) &&
    isInScope(parts, tx, row, 'APPROVE', caller)
  );
}

const hasApproved = ({ approvals }: Waiting, caller: Caller): boolean =>
  approvals.some(({ userId }) => userId === caller.userId);

/** False for a vote that the profile of the caller's session does not allow. */
function isInScope(
  { operations, clock }: Parts,
  tx: Reader,
  row: ActivityRow,
  vote: 'APPROVE' | 'REJECT',
  caller: Caller,
): boolean {
  if (caller.sessionProfileId === undefined) return true;
  const operation = operations.byPath.get(`submit/${vote.toLowerCase()}_activity`);
  if (operation?.kind !== 'activity' || operation.vote === undefined) {
    throw new Error(`no operation is the vote ${vote}`);
  }
  const { organizationId, fingerprint } = row;
  const type = `ACTIVITY_TYPE_${vote}_ACTIVITY`;
  const own = { operation, activity: { type, organizationId, params: { fingerprint } } };
  return askedByVote(operations, row, operation.vote, own).every(
    (asked) => scopeRefusal(tx, asked.operation, asked.activity, caller, clock.now()) === undefined,
  );
}
