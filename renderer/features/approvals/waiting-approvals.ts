/** Activities that wait for votes, and voting. */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Activity } from '../../app/rpc/resources.ts';
import { queryApi, apiQueryKey, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

const atOnce = 100;

const waiting = { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'], inParts: true } as const;

interface Page {
  readonly activities: readonly Activity[];
}

/** The newest of what waits: enough to say that something does. */
export const useWaiting = (): UseQueryResult<Page> =>
  useApiQuery('list_activities', { ...waiting, paginationOptions: { limit: String(atOnce) } });

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
  const rpc = useRpc();
  const query = useInfiniteQuery({
    queryKey: apiQueryKey('list_activities', waiting),
    queryFn: ({ pageParam }) =>
      queryApi(rpc, 'list_activities', {
        ...waiting,
        paginationOptions: { limit: String(atOnce), ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next ?? null,
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
