/** An activity as the API shows it to somebody, who may have a vote to give. */
import type { ActivityRow } from '../db/activities.ts';
import type { Reader } from '../db/connection.ts';
import type { Caller } from '../lib/caller.ts';
import type { Engine } from './engine.ts';
import { rightsOfNobody, showActivity, type VoteRights } from './show.ts';
import { versionOf } from './stored.ts';
import { readWaiting } from './waiting.ts';

/** @param identify Asked of an activity that waits: who made another may have deleted its own key with it. */
export function showTo(
  { operations, clock }: Pick<Engine, 'operations' | 'clock'>,
  tx: Reader,
  row: ActivityRow,
  identify: () => Caller,
): ReturnType<typeof showActivity> {
  return showActivity(tx, row, versionOf(operations, row.type), rights());

  function rights(): VoteRights {
    if (row.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return rightsOfNobody(row);
    const caller = identify();
    const waiting = readWaiting(tx, operations, row, clock.now());
    const mayVote = waiting.mayVote(caller);
    const hasVoted = waiting.approvals.some(({ userId }) => userId === caller.userId);
    return { canApprove: mayVote && !hasVoted, canReject: mayVote };
  }
}
