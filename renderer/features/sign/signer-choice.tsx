/** Chooses the key that signs: a wallet's account, or a private key. */

import type { ReactNode } from 'react';
import { Fieldset, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { ComboboxParsedItem } from '@mantine/core';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { AccountSelect, accountName, useFirstAccount } from '../accounts/account-select.tsx';
import { curveLabel, describeFormat } from '../accounts/chains.ts';
import type { Curve } from '../accounts/chains.ts';
import type { PrivateKey, Wallet, WalletAccount } from '../../app/rpc/resources.ts';
import { useDraftState } from '../../app/drafts.ts';
import { Failure } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { mostOffered } from '../accounts/wallet-accounts.ts';

/** The key that the screen was opened for. */
export type Start =
  | { readonly kind: 'account'; readonly walletId: string; readonly address: string }
  | { readonly kind: 'key'; readonly privateKeyId: string };

/** The key that signs: its name in requests, and its name for a person. */
export interface Signer {
  readonly signWith: string;
  readonly name: string;
  readonly curve: Curve;
  readonly isEthereum: boolean;
  /** True if it signs with Schnorr, as its address needs. */
  readonly schnorr: boolean;
}

interface Keys {
  readonly wallets: readonly Wallet[];
  readonly privateKeys: readonly PrivateKey[];
}

interface SignerChoice {
  readonly signer: Signer | undefined;
  /** Of the account that signs, where one does. */
  readonly addressFormat: WalletAccount['addressFormat'] | undefined;
  readonly fields: ReactNode;
}

/** The choice, and its fields. @param tried Whether what is missing is to be said. */
export function useSignerChoice(
  start: Start | undefined,
  { wallets, privateKeys }: Keys,
  tried: boolean,
): SignerChoice {
  const [kind, setKind] = useDraftState<'account' | 'key'>(
    'kind',
    start?.kind ?? (wallets.length > 0 ? 'account' : 'key'),
  );
  const [walletId, setWalletId] = useDraftState(
    'walletId',
    start?.kind === 'account' ? start.walletId : (wallets[0]?.walletId ?? null),
  );
  const [chosen, setChosen] = useDraftState<WalletAccount | null>('chosen', null);
  const [keyId, setKeyId] = useDraftState(
    'keyId',
    start?.kind === 'key' ? start.privateKeyId : (privateKeys[0]?.privateKeyId ?? null),
  );
  const isFirstWallet = start?.kind === 'account' && start.walletId === walletId;
  const first = useFirstAccount(kind === 'account' ? walletId : null, isFirstWallet ? start.address : null);
  const account = chosen ?? first.account;
  // The preselected account stays chosen: no other takes its place while a person reads what it would sign.
  if (chosen === null && first.account !== undefined) setChosen(first.account);
  const privateKey = privateKeys.find((each) => each.privateKeyId === keyId);
  const fields = (
    <Fieldset legend={t('Sign with')} variant="unstyled">
      <Stack gap="sm">
        <SegmentedControl
          aria-label={t('Key type')}
          value={kind}
          onChange={setKind}
          data={[
            { value: 'account', label: t('Wallet account') },
            { value: 'key', label: t('Private key') },
          ]}
        />
        {kind === 'account' && wallets.length === 0 && (
          <Text size="sm">
            <Trans
              i18nKey="No wallets yet. <a>Create one</a>."
              components={{ a: <Link href="/wallets/new" className="kh-link" /> }}
            />
          </Text>
        )}
        {kind === 'account' && wallets.length > 0 && (
          <>
            <Select
              label={t('Wallet')}
              data={wallets.map((each) => ({
                value: each.walletId,
                label: visibleName(each.walletName),
              }))}
              value={walletId}
              allowDeselect={false}
              searchable={wallets.length > 8}
              onChange={(value) => {
                setWalletId(value);
                setChosen(null);
              }}
            />
            {walletId !== null && (
              <AccountSelect
                key={walletId}
                walletId={walletId}
                value={account}
                tried={tried}
                onChoose={setChosen}
              />
            )}
            {chosen === null && (
              <Failure title={t('Couldn’t load the account')} error={first.error} onRetry={first.retry} />
            )}
          </>
        )}
        {kind === 'key' && privateKeys.length === 0 && (
          <Text size="sm">
            <Trans
              i18nKey="No private keys yet. <a>Create one</a>."
              components={{ a: <Link href="/private-keys/new" className="kh-link" /> }}
            />
          </Text>
        )}
        {kind === 'key' && privateKeys.length > 0 && (
          <Select
            label={t('Private key')}
            data={privateKeys.map((each) => ({
              value: each.privateKeyId,
              label: `${visibleName(each.privateKeyName)} · ${curveLabel(each.curve)}`,
            }))}
            value={keyId}
            allowDeselect={false}
            searchable={privateKeys.length > 8}
            limit={mostOffered}
            nothingFoundMessage={t('No matching private key')}
            filter={({ options, search, limit }) => findKeys(options, search, privateKeys).slice(0, limit)}
            onFocus={({ currentTarget }) => {
              currentTarget.select();
            }}
            onChange={setKeyId}
          />
        )}
      </Stack>
    </Fieldset>
  );
  if (kind === 'key') {
    return { signer: privateKey && keySigner(privateKey), addressFormat: undefined, fields };
  }
  const walletName = wallets.find((each) => each.walletId === walletId)?.walletName ?? '';
  return {
    signer: account && accountSigner(account, walletName),
    addressFormat: account?.addressFormat,
    fields,
  };
}

const accountSigner = (account: WalletAccount, walletName: string): Signer => ({
  signWith: account.address,
  name: `${walletName}, ${accountName(account)}`,
  curve: account.curve,
  isEthereum: account.addressFormat === 'ADDRESS_FORMAT_ETHEREUM',
  schnorr: describeFormat(account.addressFormat).schnorr === true,
});

/** By name, id or address; all where the name of what is chosen stands in the field. */
function findKeys(
  options: readonly ComboboxParsedItem[],
  search: string,
  keys: readonly PrivateKey[],
): ComboboxParsedItem[] {
  const text = search.trim().toLowerCase();
  const isChosen = options.some((option) => 'label' in option && option.label === search);
  const fits = ({ privateKeyId, privateKeyName, addresses }: PrivateKey): boolean =>
    isChosen ||
    [privateKeyName, privateKeyId, ...addresses.map(({ address }) => address)].some((each) =>
      each.toLowerCase().includes(text),
    );
  const found = new Set(keys.filter(fits).map(({ privateKeyId }) => privateKeyId));
  return options.filter((option) => 'value' in option && found.has(option.value));
}

const keySigner = (key: PrivateKey): Signer => ({
  signWith: key.privateKeyId,
  name: `“${key.privateKeyName}”`,
  curve: key.curve,
  isEthereum: key.addresses.some(({ format }) => format === 'ADDRESS_FORMAT_ETHEREUM'),
  // It is named by its id.
  schnorr: false,
});
