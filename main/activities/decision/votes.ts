/** Votes on an activity: how one is given, and which of them count. */
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Writer } from '../../storage/connection.ts';
import { keepUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import type { Selection, Vote } from '../../storage/tables/votes.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Random } from '../../lib/random.ts';
import { isInWindow, newestApprovals } from '../../lib/web/needed-approvals.ts';

export function makeVote(
  tx: Writer,
  caller: Caller,
  raw: Uint8Array,
  selection: Selection,
  { random, now }: { readonly random: Random; readonly now: number },
): Vote {
  return {
    id: uuidV4(random('vote', 16)),
    userId: caller.userId,
    snapshot: keepUserSnapshot(tx, caller.organizationId, caller.userId),
    selection,
    message: Buffer.from(raw).toString('utf8'),
    ...caller.stamp,
    createdAt: now,
  };
}

/**
 * The approvals that have not lapsed. All of them lapse if the window ends without consensus. The next
 * approval, from any user, begins another window.
 * @param votes In the order in which users gave them.
 */
export function standingApprovals(votes: readonly Vote[], now: number): readonly Vote[] {
  const newest = newestApprovals(votes);
  const [first] = newest;
  return first !== undefined && isInWindow(first.createdAt, now) ? newest : [];
}
