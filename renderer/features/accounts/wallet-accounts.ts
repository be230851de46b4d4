import { skipToken, useQuery } from '@tanstack/react-query';
import type { WindowRpc } from '../../../preload/contract.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { WalletAccount } from '../../app/rpc/resources.ts';
import { queryApi, apiQueryKey, useRpc } from '../../app/rpc/vault.tsx';

/** Accounts that the list offers; typing more of a name finds the others. */
export const mostOffered = 50;

interface Fitting {
  readonly accounts: readonly WalletAccount[];
  /** True if more accounts match. */
  readonly more: boolean;
}

/** The first accounts of a wallet with a text in their address, name or path; no wallet, no question. */
export function useFittingAccounts(walletId: string | null, text: string): UseQueryResult<Fitting> {
  const rpc = useRpc();
  return useQuery({
    queryKey: apiQueryKey('outline_wallet_accounts', { walletId, text }),
    queryFn:
      walletId === null
        ? skipToken
        : ({ signal }: { signal: AbortSignal }) => findFitting(rpc, walletId, text, signal),
  });
}

async function findFitting(
  rpc: WindowRpc,
  walletId: string,
  text: string,
  signal: AbortSignal,
): Promise<Fitting> {
  const search = { walletId, ...(text === '' ? {} : { text }) };
  const places: number[] = [];
  let after: number | undefined;
  do {
    const body = { ...search, ...(after === undefined ? {} : { after }) };
    const { outline } = await queryApi(rpc, 'outline_wallet_accounts', body);
    for (const [first, last] of outline.blocks.flatMap(({ runs }) => runs)) {
      const step = Math.sign(last - first) || 1;
      for (let place = first; place !== last + step && places.length <= mostOffered; place += step) {
        places.push(place);
      }
    }
    after = outline.next;
  } while (after !== undefined && places.length <= mostOffered && !signal.aborted);
  if (places.length === 0) return { accounts: [], more: false };
  const body = { walletId, places: places.slice(0, mostOffered) };
  const { lines } = await queryApi(rpc, 'browse_wallet_accounts', body);
  return { accounts: lines.map(({ account }) => account), more: places.length > mostOffered };
}
