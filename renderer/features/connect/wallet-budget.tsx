import { useState } from 'react';
import type { ReactNode } from 'react';
import { Group, Select, TextInput } from '@mantine/core';
import {
  coinUnits,
  periods,
  readBudget,
  type Budget,
  type Period,
} from '../../../main/lib/policies/spenders.ts';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';
import { usePayingWallet } from './paying-wallet.tsx';

const periodLabels: Readonly<Record<Period, string>> = {
  hour: t('1 hour'),
  day: t('1 day'),
  week: t('1 week'),
};

interface WalletBudget {
  /** Undefined where there is no wallet. */
  readonly walletId: string | undefined;
  /** Undefined for an amount that cannot be read. */
  readonly budget: Budget | undefined;
  /** @param tried Whether what is missing is to be said. */
  readonly fields: (tried: boolean) => ReactNode;
}

/** The wallet that a program pays from, and how much. */
export function useWalletBudget(): WalletBudget {
  const { walletId, field } = usePayingWallet();
  const [amount, setAmount] = useState('0.05');
  const [period, setPeriod] = useState<Period>('day');
  const budget = readBudget(`${amount.trim()} ETH/${period}`, coinUnits);
  return {
    walletId,
    budget,
    fields: (tried) => (
      <>
        {field(tried)}
        <Group gap="sm" align="start" grow>
          <TextInput
            label={t('Budget in ETH')}
            description={t('Fees included.')}
            inputMode="decimal"
            autoComplete="off"
            required
            value={amount}
            error={tried && budget === undefined && t('Enter an amount above zero, such as 0.05.')}
            onChange={onText(setAmount)}
          />
          <Select
            label={t('Budget period')}
            description={t('Counted back from each payment.')}
            data={periods.map((value) => ({ value, label: periodLabels[value] }))}
            value={period}
            allowDeselect={false}
            onChange={(value) => {
              setPeriod(periods.find((each) => each === value) ?? period);
            }}
          />
        </Group>
      </>
    ),
  };
}
