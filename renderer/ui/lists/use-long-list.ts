/** Long lists as React uses them: one at a time, kept up with what happens in the vault. */

import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { VaultEvent } from '../../../preload/contract.ts';
import { LongList } from './long-list.ts';
import type { ListSource, OutlinePart } from './long-list.ts';
import type { ActivityLine, WalletAccount } from '../../app/rpc/resources.ts';
import { queryApi, useRpc } from '../../app/rpc/vault.tsx';

/** Between two looks at what is new, in milliseconds: a script may sign thousands of times in a second. */
const pause = 1_000;

interface Found<Line extends { readonly place: number }> {
  readonly list: LongList<Line>;
  /** Another whenever something of the list is. */
  readonly version: number;
  readonly retry: () => void;
}

/** @param make Another function makes another list. */
function useLongList<Line extends { readonly place: number }>(
  make: () => ListSource<Line>,
  concerns: (event: VaultEvent) => boolean,
): Found<Line> {
  const rpc = useRpc();
  const list = useMemo(() => new LongList(make()), [make]);
  const version = useSyncExternalStore(list.subscribe, list.version);
  useEffect(() => {
    void list.start();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let more = false;
    const look = () => {
      more = false;
      timer = setTimeout(() => {
        timer = undefined;
        if (more) look();
      }, pause);
      void list.catchUp();
    };
    const stopListening = rpc.onEvent((event) => {
      if (!concerns(event)) return;
      if (timer === undefined) look();
      else more = true;
    });
    return () => {
      stopListening();
      clearTimeout(timer);
      list.stop();
    };
  }, [rpc, list, concerns]);
  return { list, version, retry: () => void list.start() };
}

/** The service's filter for activities. */
export type ActivityFilter = Readonly<Record<string, unknown>>;

const isOpenStatus = (status: string): boolean =>
  !['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_FAILED', 'ACTIVITY_STATUS_REJECTED'].includes(status);

const anyActivity = ({ kind }: VaultEvent): boolean => kind === 'activity';

export function useActivityList(filter: ActivityFilter): Found<ActivityLine> {
  const rpc = useRpc();
  const make = useCallback((): ListSource<ActivityLine> => {
    const outline = async (where: object): Promise<OutlinePart> => {
      const body = { ...filter, ...where };
      return (await queryApi(rpc, 'outline_activities', body)).outline;
    };
    return {
      outline: (before) => outline(before === undefined ? {} : { before }),
      async newer(after) {
        const parts: OutlinePart[] = [];
        do {
          const before = parts.at(-1)?.next;
          parts.push(await outline({ after, ...(before === undefined ? {} : { before }) }));
        } while (parts.at(-1)?.next !== undefined);
        return { blocks: parts.flatMap(({ blocks }) => blocks) };
      },
      browse: async (places) => (await queryApi(rpc, 'browse_activities', { places })).lines,
      isOpen: ({ status }) => isOpenStatus(status),
    };
  }, [rpc, filter]);
  return useLongList(make, anyActivity);
}

interface AccountLine {
  readonly place: number;
  readonly account: WalletAccount;
}

/** Activities that change accounts are not signatures. */
const anyChange = (event: VaultEvent): boolean => event.kind === 'activity' && !event.type.includes('_SIGN_');

export interface AccountFilter {
  readonly walletId: string;
  readonly text: string;
  readonly format: WalletAccount['addressFormat'] | null;
}

/** @param isAsked Whether there is anything to ask for. */
export function useAccountList(
  { walletId, text, format }: AccountFilter,
  isAsked: boolean,
): Found<AccountLine> {
  const rpc = useRpc();
  const make = useCallback(
    (): ListSource<AccountLine> => ({
      async outline(after) {
        if (!isAsked) return { blocks: [] };
        const body = {
          walletId,
          ...(text === '' ? {} : { text }),
          ...(format === null ? {} : { filterByAddressFormat: [format] }),
          ...(after === undefined ? {} : { after }),
        };
        return (await queryApi(rpc, 'outline_wallet_accounts', body)).outline;
      },
      browse: async (places) => (await queryApi(rpc, 'browse_wallet_accounts', { walletId, places })).lines,
      // Its name may change.
      isOpen: () => true,
    }),
    [rpc, walletId, text, format, isAsked],
  );
  return useLongList(make, anyChange);
}
