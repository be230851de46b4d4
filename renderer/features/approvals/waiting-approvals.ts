/** Activities that wait for votes, and voting. */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { waitingPage } from '../../../main/lib/web/needed-approvals.ts';
import type { Needed } from '../../../main/lib/web/needed-approvals.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { apiQueryKey, queryApi, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

/** Requests that need the approval of this window’s user. */
export const useNeeded = (): UseQueryResult<Needed<Activity>> => useApiQuery('list_needed_activities', {});

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

/** All that waits, a page at a time: first those that need the approval of this window’s user, then the rest; each newest first. */
export function useAllWaiting(): Waiting {
  const rpc = useRpc();
  const needed = useNeeded();
  const query = useInfiniteQuery({
    queryKey: apiQueryKey('list_activities', { waiting: true }),
    queryFn: ({ pageParam }) =>
      queryApi(rpc, 'list_activities', waitingPage(pageParam === null ? {} : { after: pageParam })),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next ?? null,
  });
  const all = [
    ...(needed.data?.activities ?? []),
    ...(query.data?.pages.flatMap(({ activities }) => activities) ?? []),
  ];
  return {
    // One that is in both stands among those that need this user, as the page has it.
    list: [...new Map(all.map((activity) => [activity.id, activity])).values()],
    isPending: needed.isPending || query.isPending,
    isSuccess: needed.isSuccess && query.isSuccess,
    error: needed.error ?? query.error,
    retry() {
      void needed.refetch();
      void query.refetch();
    },
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
}
