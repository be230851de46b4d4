/**
 * Activities that wait for the owner's vote: for the tray, the badge and notifications. The window queries
 * them itself.
 */
import { queryAsOwner } from '../rpc/owner-calls.ts';
import type { VaultRpc } from '../../preload/contract.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { Needed } from '../lib/web/needed-approvals.ts';
import type { PendingActivity } from '../lib/text/to-be-signed.ts';
import { report } from './report.ts';
import { owned } from '../lib/faults.ts';

export interface WaitingActivity extends PendingActivity {
  readonly id: string;
  /** The name of the user who asks. */
  readonly requester: string;
}

export interface Approvals extends Disposable {
  /** Newest first; none while the vault is locked. */
  readonly waiting: Needed<WaitingActivity>;
  /** @returns the function that stops listening. */
  onChange(listener: () => void): () => void;
  /** Calls the listener for activities that began to wait while the vault was open. @returns the function that stops listening. */
  onNew(listener: (activities: readonly WaitingActivity[]) => void): () => void;
}

/** Between two questions, in milliseconds: a script may submit thousands in a second. */
const pause = 500;

/** Follows the vault until it is disposed of. */
export function watchApprovals(rpc: Pick<VaultRpc, 'status' | 'call' | 'onEvent'>): Approvals {
  let waiting = none;
  /** Those known since the vault was opened; undefined while it is locked. A request that already waits at the unlock is not announced. */
  let known: Set<string> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  let isDisposed = false;
  const changed = new Set<() => void>();
  const begun = new Set<(activities: readonly WaitingActivity[]) => void>();

  let asked = 0;
  let answered = 0;
  async function refresh(): Promise<void> {
    const question = ++asked;
    try {
      const found = await queryWaiting(rpc);
      // An answer that a later one has overtaken may be from before a lock.
      if (isDisposed || question < answered) return;
      answered = question;
      const needed = found ?? none;
      const added = known === undefined ? [] : begunIn(needed, known, waiting.areMore);
      known = found && new Set([...(known ?? []), ...found.activities.map(({ id }) => id)]);
      const isSame = identity(needed) === identity(waiting);
      waiting = needed;
      if (!isSame) for (const listener of changed) listener();
      if (added.length > 0) for (const listener of begun) listener(added);
    } catch (error) {
      // The vault is closed while the answer is on its way.
      if (!isDisposed) report('what waits for votes is not known', error);
    }
  }

  /** Queries now, and again after a pause for all that came meanwhile. */
  function want(): void {
    isWanted = true;
    if (timer !== undefined || isDisposed) return;
    isWanted = false;
    timer = setTimeout(
      owned(() => {
        timer = undefined;
        if (isWanted) want();
      }),
      pause,
    ).unref();
    void refresh();
  }

  want();
  const stopEvents = rpc.onEvent((event) => {
    if (event.kind === 'status') want();
    if (event.kind !== 'activity') return;
    // Most activities need no vote, and change nothing here.
    const waits = event.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
    const { activities, areMore } = waiting;
    if (waits || areMore || activities.some(({ id }) => id === event.id)) want();
  });
  return {
    get waiting() {
      return waiting;
    },
    onChange(listener) {
      changed.add(listener);
      return () => changed.delete(listener);
    },
    onNew(listener) {
      begun.add(listener);
      return () => begun.delete(listener);
    },
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
      stopEvents();
    },
  };
}

const none: Needed<WaitingActivity> = { activities: [], areMore: false };

/** @param wereMore Others waited behind those that were found: one that stands behind what is known was among them. */
function begunIn(
  { activities }: Needed<WaitingActivity>,
  known: ReadonlySet<string>,
  wereMore: boolean,
): readonly WaitingActivity[] {
  const lastKnown = activities.findLastIndex(({ id }) => known.has(id));
  const end = wereMore && lastKnown >= 0 ? lastKnown : activities.length;
  return activities.slice(0, end).filter(({ id }) => !known.has(id));
}

const identity = ({ activities, areMore }: Needed<WaitingActivity>): string =>
  String([areMore, ...activities.map(({ id }) => id)]);

/** @returns undefined where the vault is not open. */
async function queryWaiting(
  rpc: Pick<VaultRpc, 'status' | 'call'>,
): Promise<Needed<WaitingActivity> | undefined> {
  try {
    if ((await rpc.status()).state !== 'unlocked') return undefined;
    const answer = await queryAsOwner(rpc, 'list_needed_activities', {});
    if (answer.isRefused) throw new Error(`the activities that wait: HTTP ${String(answer.status)}`);
    const { activities, areMore } = answer.body;
    return {
      activities: activities.map(({ id, type, intent, votes: [first] }) => ({
        id,
        type,
        intent,
        requester: first?.user.userName ?? '',
      })),
      areMore,
    };
  } catch (error) {
    // Locked after the status was asked.
    if (error instanceof KeyhearthError) return undefined;
    throw error;
  }
}
