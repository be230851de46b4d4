/** Requests that wait for votes, as the owner's programs read them: the newest first, in pages. */
import { pagesOf } from './pages.ts';

/** The parameters of `list_activities` for a page of what waits. */
export const waitingPage = (cursor: { readonly after?: string }) =>
  ({
    filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
    inParts: true,
    paginationOptions: { limit: '100', ...cursor },
  }) as const;

interface Page<Activity> {
  readonly activities: readonly Activity[];
  readonly next?: string | undefined;
}

type Ask<Activity> = (page: ReturnType<typeof waitingPage>) => Promise<Page<Activity>>;

/** All that waits, each once: a vote between two pages may bring a request again. @param ask Asks `list_activities`. */
export async function* eachWaiting<Activity extends { readonly id: string }>(
  ask: Ask<Activity>,
): AsyncGenerator<Activity, void> {
  const seen = new Set<string>();
  for await (const { activities } of pagesOf((cursor) => ask(waitingPage(cursor)))) {
    for (const activity of activities) {
      if (!seen.has(activity.id)) yield activity;
      seen.add(activity.id);
    }
  }
}

/** As `list_needed_activities` answers: those that need the caller's approval. */
export interface Needed<Activity> {
  readonly activities: readonly Activity[];
  /** Others need it too. */
  readonly areMore: boolean;
}

/** How many there are: `7`, or `100+`. */
export const countedAs = ({ activities: { length }, areMore }: Needed<unknown>): string =>
  `${String(length)}${areMore ? '+' : ''}`;

/** Milliseconds from the first approval, which is the submitter's own, until all approvals lapse. */
export const approvalWindowMs = 24 * 3_600_000;

/**
 * True while the window that an approval began is open. A start far in the future means that the clock was
 * wrong then.
 */
export const isInWindow = (first: number, at: number): boolean => Math.abs(at - first) < approvalWindowMs;

interface Vote<Time> {
  readonly selection: string;
  readonly createdAt: Time;
}

/**
 * Finds the approvals of the newest window: an approval after the end of a window begins another.
 * @param votes In the order in which users gave them.
 */
export function newestApprovals<Given extends Vote<number>>(votes: readonly Given[]): readonly Given[] {
  let approvals: Given[] = [];
  for (const vote of votes) {
    if (vote.selection !== 'VOTE_SELECTION_APPROVED') continue;
    const [first = vote] = approvals;
    if (!isInWindow(first.createdAt, vote.createdAt)) approvals = [];
    approvals.push(vote);
  }
  return approvals;
}

/** @param votes As the API shows them. @returns when the given approvals lapse, in milliseconds; undefined without any. */
export function approvalsLapseAt(
  votes: readonly Vote<{ readonly seconds: string; readonly nanos?: string | undefined }>[],
): number | undefined {
  const timed = votes.map(({ selection, createdAt: { seconds, nanos = '0' } }) => ({
    selection,
    createdAt: Number(seconds) * 1000 + Math.floor(Number(nanos) / 1e6),
  }));
  const [first] = newestApprovals(timed);
  return first === undefined ? undefined : first.createdAt + approvalWindowMs;
}
