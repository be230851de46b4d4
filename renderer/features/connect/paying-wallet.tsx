import { useState } from 'react';
import type { ReactNode } from 'react';
import { Select } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

interface PayingWallet {
  /** The first wallet until one chooses. Undefined where there is none, and where that one has gone. */
  readonly walletId: string | undefined;
  /** @param tried Whether what is missing is to be said. */
  readonly field: (tried: boolean) => ReactNode;
}

/** The wallet that a program pays from. No other takes the place of one that was chosen, or preselected. */
export function usePayingWallet(): PayingWallet {
  const { data } = useApiQuery('list_wallets');
  const wallets = data?.wallets ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const wallet = chosen === null ? wallets[0] : wallets.find(({ walletId }) => walletId === chosen);
  if (chosen === null && wallet !== undefined) setChosen(wallet.walletId);
  const lack =
    wallets.length === 0 ? t('Create a wallet with an Ethereum account first.') : t('Choose a wallet.');
  return {
    walletId: wallet?.walletId,
    field: (tried) => (
      <Select
        label={t('Paying wallet')}
        data={wallets.map(({ walletId, walletName }) => ({
          value: walletId,
          label: visibleName(walletName),
        }))}
        value={wallet?.walletId ?? null}
        error={tried && wallet === undefined && lack}
        allowDeselect={false}
        onChange={setChosen}
      />
    ),
  };
}
