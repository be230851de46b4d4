import { useState } from 'react';
import type { ReactNode } from 'react';
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeFormat } from './chains.ts';
import type { WalletAccount } from '../../app/rpc/resources.ts';
import { shorten } from '../../ui/text/short.ts';
import { Failure } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { mostOffered, useFittingAccounts } from './wallet-accounts.ts';

/** Milliseconds without typing before the search starts. */
const typingPause = 200;

/** An account by its name, or its chain where it has none, and the ends of its address. */
export const accountName = ({ addressFormat, address, name }: WalletAccount): string =>
  `${name === undefined || name === '' ? describeFormat(addressFormat).label : name} · ${shorten(address)}`;

export interface FirstAccount {
  readonly account: WalletAccount | undefined;
  /** Why the account that the form was opened for is not there. */
  readonly error: Error | null;
  readonly retry: () => void;
}

/**
 * The account that a form preselects: the one that it was opened for and no other, or else the wallet's first.
 * @param address The account that it was opened for, if any.
 */
export function useFirstAccount(walletId: string | null, address: string | null): FirstAccount {
  const { data, error, refetch } = useApiQuery(
    'get_wallet_account',
    walletId === null || address === null ? null : { walletId, address },
  );
  const fitting = useFittingAccounts(walletId, '');
  return {
    account: address === null ? fitting.data?.accounts[0] : data?.account,
    // A failure to ask once more leaves the account that is known.
    error: data === undefined ? error : null,
    retry: () => void refetch(),
  };
}

interface Props {
  readonly walletId: string;
  readonly value: WalletAccount | undefined;
  /** True once it is to be said that none is chosen. */
  readonly tried: boolean;
  readonly onChoose: (account: WalletAccount) => void;
}

/** One of a wallet's accounts, of which there may be a hundred thousand: found by what one types of it. */
export function AccountSelect({ walletId, value, tried, onChoose }: Props): ReactNode {
  const [typed, setTyped] = useState('');
  const chosen = value === undefined ? '' : accountName(value);
  // The name of what is chosen stands in the field until one types.
  const [text] = useDebouncedValue(typed === chosen ? '' : typed.trim().slice(0, 200), typingPause);
  const { data, isPending, error, refetch } = useFittingAccounts(walletId, text);
  const fitting = data?.accounts ?? [];
  const known = new Map(
    [...(value === undefined ? [] : [value]), ...fitting].map((each) => [each.walletAccountId, each]),
  );
  const isFitting = new Set(fitting.map(({ walletAccountId }) => walletAccountId));
  return (
    <>
      <Select
        label={t('Account')}
        placeholder={
          isPending
            ? t('Loading…')
            : fitting.length > 0
              ? t('Choose an account')
              : t('No accounts in this wallet')
        }
        searchable
        allowDeselect={false}
        disabled={value === undefined && fitting.length === 0 && text === ''}
        maxLength={200}
        description={
          data?.more === true
            ? t('Showing the first {{count}}. Type part of an address, name or path.', {
                count: mostOffered,
              })
            : undefined
        }
        nothingFoundMessage={isPending ? t('Loading…') : t('No matching account')}
        data={[...known.values()].map((each) => ({
          value: each.walletAccountId,
          label: visibleName(accountName(each)),
        }))}
        // The service has looked for it.
        filter={({ options }) => options.filter((each) => 'value' in each && isFitting.has(each.value))}
        renderOption={({ option }) => (
          <span>
            {option.label}
            <span className="kh-option-more kh-mono">{known.get(option.value)?.path}</span>
          </span>
        )}
        value={value?.walletAccountId ?? null}
        error={tried && value === undefined && fitting.length > 0 && t('Choose an account.')}
        onSearchChange={setTyped}
        onFocus={({ currentTarget }) => {
          currentTarget.select();
        }}
        onChange={(id) => {
          const account = id === null ? undefined : known.get(id);
          if (account !== undefined) onChoose(account);
        }}
      />
      <Failure title={t('Couldn’t load the accounts')} error={error} onRetry={() => void refetch()} />
    </>
  );
}
