import { useState } from 'react';
import type { ReactNode } from 'react';
import { Switch, TagsInput, TextInput } from '@mantine/core';
import { isReceiver } from '../../../main/lib/policies/spenders.ts';
import type { Spending } from '../../../main/lib/policies/door-kind.ts';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';
import { useWalletBudget } from '../connect/wallet-budget.tsx';

interface SpendingForm {
  /** Undefined while a field is wrong. */
  readonly spending: Spending | undefined;
  /** @param tried Whether what is wrong is to be said. */
  readonly fields: (tried: boolean) => ReactNode;
}

/** @returns undefined for anything but numbers that are separated by commas. */
const readChains = (text: string): readonly bigint[] | undefined =>
  /^\s*[1-9][0-9]{0,14}(\s*,\s*[1-9][0-9]{0,14})*\s*$/.test(text)
    ? [...new Set(text.split(',').map((each) => BigInt(each.trim())))]
    : undefined;

/** The bounds of a program's transactions: the wallet, the budget, the chains, the receivers. */
export function useSpending(): SpendingForm {
  const { walletId, budget, fields } = useWalletBudget();
  const [chains, setChains] = useState('1');
  const [receivers, setReceivers] = useState<readonly string[]>([]);
  const [tokens, setTokens] = useState(false);
  const chainIds = readChains(chains);
  const areReceivers = receivers.every(isReceiver);
  const isWhole = walletId !== undefined && budget !== undefined && chainIds !== undefined && areReceivers;
  return {
    spending: isWhole ? { walletId, budget, chainIds, receivers, tokens } : undefined,
    fields: (tried) => (
      <>
        {fields(tried)}
        <TextInput
          label={t('Chain IDs')}
          description={t('Separated by commas. 1 is Ethereum, 11155111 is Sepolia.')}
          inputMode="numeric"
          autoComplete="off"
          required
          value={chains}
          error={tried && chainIds === undefined && t('Enter numbers, such as 1, 11155111.')}
          onChange={onText(setChains)}
        />
        <TagsInput
          label={t('Receivers (optional)')}
          description={t('Empty: any address, and new contracts.')}
          placeholder={receivers.length === 0 ? '0x…' : ''}
          value={[...receivers]}
          error={tried && !areReceivers && t('Enter addresses: 0x and 40 hex digits.')}
          onChange={setReceivers}
        />
        <Switch
          label={t('Allow calls that move tokens')}
          description={t('The budget does not count tokens.')}
          checked={tokens}
          onChange={(event) => {
            setTokens(event.currentTarget.checked);
          }}
        />
      </>
    ),
  };
}
