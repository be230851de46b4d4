import { useInfiniteQuery } from '@tanstack/react-query';
import type { WalletAccount } from './resources.ts';
import { ask, askKey, useBridge } from './vault.tsx';

/** The most that the service gives at once. */
const atOnce = 100;

interface WalletAccounts {
  readonly list: readonly WalletAccount[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
  /** Loads more; null when all are here. */
  readonly more: (() => void) | null;
  readonly isLoadingMore: boolean;
}

/** The accounts of a wallet in the order they were made, a hundred at a time; no wallet, no accounts. */
export function useWalletAccounts(walletId: string | null): WalletAccounts {
  const bridge = useBridge();
  const query = useInfiniteQuery({
    queryKey: askKey('list_wallet_accounts', { walletId }),
    queryFn: ({ pageParam }) =>
      ask<{ accounts: readonly WalletAccount[] }>(bridge, 'list_wallet_accounts', {
        walletId,
        paginationOptions: { limit: String(atOnce), ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ accounts }) =>
      accounts.length < atOnce ? null : (accounts.at(-1)?.walletAccountId ?? null),
    enabled: walletId !== null,
  });
  return {
    list: query.data?.pages.flatMap(({ accounts }) => accounts) ?? [],
    isPending: query.isPending,
    error: query.error,
    retry: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
}
