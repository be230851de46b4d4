/** Votes on an activity: how one is kept, and which of them count. */
import { uuidV4 } from '../../crypto/uuid.ts';
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Writer } from '../../storage/connection.ts';
import { keepUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Random } from '../../lib/random.ts';
import { isInWindow, newestApprovals } from '../../lib/web/needed-approvals.ts';

export type Selection = 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';

/** A vote as the log keeps it; the voter's snapshot is named by its hash. */
export interface Vote {
  readonly id: string;
  readonly userId: string;
  readonly snapshot: string;
  readonly selection: Selection;
  /** The body that was signed. */
  readonly message: string;
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
  readonly createdAt: number;
}

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

export const votesOf = ({ votes }: Pick<ActivityRow, 'votes'>): readonly Vote[] =>
  JSON.parse(votes) as readonly Vote[];
