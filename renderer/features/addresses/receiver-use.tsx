/** Earlier signatures for an address: the first time, it is compared once more. */
import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { WindowRpc } from '../../../preload/contract.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { Timestamp } from '../../ui/text/time.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { apiQueryKey, queryApi, useRpc } from '../../app/rpc/vault.tsx';

interface ReceiverUses {
  /** The newest, by address. */
  readonly uses: ReadonlyMap<string, Timestamp>;
  /** False where the log is longer than what was read of it. */
  readonly isWhole: boolean;
}

/** Questions for a whole log. Each reads it as far as a few milliseconds go. */
const mostQuestions = 50;

async function findUses(rpc: WindowRpc, addresses: readonly string[]): Promise<ReceiverUses> {
  const uses = new Map<string, Timestamp>();
  let before: number | undefined;
  for (let asked = 0; asked < mostQuestions; asked += 1) {
    const left = addresses.filter((address) => !uses.has(address));
    const answer = await queryApi(rpc, 'list_receiver_uses', {
      addresses: left,
      ...(before !== undefined && { before }),
    });
    for (const { address, createdAt } of answer.receiverUses) uses.set(address, createdAt);
    before = answer.next;
    if (before === undefined || uses.size === addresses.length) return { uses, isWhole: true };
  }
  return { uses, isWhole: false };
}

/** @returns undefined while the log is read. */
export function useReceiverUses(addresses: readonly string[]): ReceiverUses | undefined {
  const rpc = useRpc();
  return useQuery({
    queryKey: apiQueryKey('list_receiver_uses', { addresses }),
    queryFn: () => findUses(rpc, addresses),
    enabled: addresses.length > 0,
  }).data;
}

export function ReceiverUse({
  address,
  found,
}: {
  readonly address: string;
  readonly found: ReceiverUses | undefined;
}): ReactNode {
  if (found === undefined) return null;
  const at = found.uses.get(address);
  if (at !== undefined) {
    return (
      <span className="kh-row-more">
        <Trans i18nKey="Last signed for it <moment/>" components={{ moment: <RelativeTime at={at} /> }} />
      </span>
    );
  }
  return (
    <span className="kh-badge" data-tone="waiting">
      {found.isWhole ? t('First time to this address') : t('Not in the newest activities')}
    </span>
  );
}
