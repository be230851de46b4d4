/** Earlier signatures for an address: the first time, it is compared once more. */
import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { findReceiverUses, type ReceiverUses } from '../../../main/lib/text/receiver-uses.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { apiQueryKey, queryApi, useRpc } from '../../app/rpc/vault.tsx';

type Uses = ReceiverUses<Answer<'list_receiver_uses'>['receiverUses'][number]>;

/** @returns undefined while the log is read. */
export function useReceiverUses(addresses: readonly string[]): Uses | undefined {
  const rpc = useRpc();
  return useQuery({
    queryKey: apiQueryKey('list_receiver_uses', { addresses }),
    queryFn: () => findReceiverUses(addresses, (question) => queryApi(rpc, 'list_receiver_uses', question)),
    enabled: addresses.length > 0,
  }).data;
}

export function ReceiverUse({
  address,
  found,
}: {
  readonly address: string;
  readonly found: Uses | undefined;
}): ReactNode {
  if (found === undefined) return null;
  const use = found.uses.get(address);
  if (use !== undefined) {
    return (
      <span className="kh-row-more">
        <Trans
          i18nKey="Last signed for it <moment/>"
          components={{ moment: <RelativeTime at={use.createdAt} /> }}
        />
      </span>
    );
  }
  return (
    <span className="kh-badge" data-tone="waiting">
      {found.isWhole ? t('First time to this address') : t('Not in the newest activities')}
    </span>
  );
}
