import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { OutlinePart } from './long-list.ts';
import type { WalletAccount } from './resources.ts';
import { ask, askKey, useBridge } from './vault.tsx';

/** How many one chooses among; whoever looks for another types more of it. */
export const mostOffered = 50;

interface Fitting {
  readonly accounts: readonly WalletAccount[];
  /** Whether more fit than these. */
  readonly more: boolean;
}

/** The first accounts of a wallet with a text in their address, name or path; no wallet, no question. */
export function useFittingAccounts(walletId: string | null, text: string): UseQueryResult<Fitting> {
  const bridge = useBridge();
  return useQuery({
    queryKey: askKey('outline_wallet_accounts', { walletId, text }),
    queryFn: async ({ signal }): Promise<Fitting> => {
      const search = { walletId, ...(text === '' ? {} : { text }) };
      const places: number[] = [];
      let after: number | undefined;
      do {
        const body = { ...search, ...(after === undefined ? {} : { after }) };
        const { outline } = await ask<{ outline: OutlinePart }>(bridge, 'outline_wallet_accounts', body);
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
      const { lines } = await ask<{ lines: readonly { readonly account: WalletAccount }[] }>(
        bridge,
        'browse_wallet_accounts',
        body,
      );
      return { accounts: lines.map(({ account }) => account), more: places.length > mostOffered };
    },
    enabled: walletId !== null,
  });
}
