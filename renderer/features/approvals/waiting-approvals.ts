/** What waits for votes, and voting. */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { Activity } from './resources.ts';
import { ask, askKey, useAsk, useBridge, useCall } from './vault.tsx';

const atOnce = 100;

const waiting = { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] } as const;

interface Page {
  readonly activities: readonly Activity[];
}

/** The newest of what waits: enough to say that something does. */
export const useWaiting = (): UseQueryResult<Page> =>
  useAsk('list_activities', { ...waiting, paginationOptions: { limit: String(atOnce) } });

interface Waiting {
  readonly list: readonly Activity[];
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
  /** Loads more; null when all are here. */
  readonly more: (() => void) | null;
  readonly isLoadingMore: boolean;
}

/** All that waits, newest first, a hundred at a time. */
export function useAllWaiting(): Waiting {
  const bridge = useBridge();
  const query = useInfiniteQuery({
    queryKey: askKey('list_activities', waiting),
    queryFn: ({ pageParam }) =>
      ask<Page>(bridge, 'list_activities', {
        ...waiting,
        paginationOptions: { limit: String(atOnce), ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ activities }) =>
      activities.length < atOnce ? null : (activities.at(-1)?.id ?? null),
  });
  return {
    list: query.data?.pages.flatMap(({ activities }) => activities) ?? [],
    isPending: query.isPending,
    isSuccess: query.isSuccess,
    error: query.error,
    retry: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
}

/** Votes on an activity by its fingerprint; answers the activity as it is by then. */
export function useVote(how: 'approve' | 'reject'): UseMutationResult<Activity, Error, string> {
  return useCall(
    `submit/${how}_activity`,
    (fingerprint: string) => ({
      type: `ACTIVITY_TYPE_${how.toUpperCase()}_ACTIVITY`,
      parameters: { fingerprint },
    }),
    (answer) => (answer as { readonly activity: Activity }).activity,
  );
}
