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
