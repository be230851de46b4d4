import { memo, useCallback, useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconWallet } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { LabelActions } from './wallet-labels.tsx';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { AddressDialogs, AddressRow } from '../accounts/address-row.tsx';
import {
  addressFormats,
  chains,
  chainsIn,
  curveLabel,
  curves,
  describeFormat,
  formatsFor,
  pathProblem,
} from '../accounts/chains.ts';
import type { AddressFormat, Curve, NewAccount } from '../accounts/chains.ts';
import { ExportForm, SeedPhrase } from '../accounts/export-form.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction, RenameForm } from '../../ui/danger-zone.tsx';
import { ListSearch } from '../../ui/lists/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { longestName } from '../../ui/text/names.ts';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { ObjectTabs } from '../activity/object-tabs.tsx';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import type { Wallet as WalletRecord, WalletAccount } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { queryApi, useApiQuery, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import { useAccountList } from '../../ui/lists/use-long-list.ts';
import { onText } from '../../ui/on-text.ts';
import '../../ui/rows.css';

/** Up to here one sees all of them at a glance. */
const fewAccounts = 8;

export function Wallet({ walletId }: { readonly walletId: string }): ReactNode {
  const wallet = useApiQuery('get_wallet', { walletId });
  const [text, setText] = useState('');
  const [format, setFormat] = useState<AddressFormat | null>(null);
  const [looked] = useDebouncedValue(text.trim(), typingPause);
  const all = useAccountList({ walletId, text: '', format: null }, true);
  const isFiltered = looked !== '' || format !== null;
  const some = useAccountList({ walletId, text: looked, format }, isFiltered);
  const accounts = isFiltered ? some : all;
  const { list } = accounts;
  const [adding, setAdding] = useState(false);
  const found = wallet.data?.wallet;
  const addButton = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      aria-haspopup="dialog"
      onClick={() => {
        setAdding(true);
      }}
    >
      {t('Add account')}
    </Button>
  );

  return (
    <>
      <PageHead
        title={found?.walletName ?? t('Wallet')}
        back={{ to: '/wallets', label: t('Wallets') }}
        lead={
          found !== undefined && (
            <>
              <Trans
                i18nKey="<id/> · created <moment/>"
                components={{
                  id: <ShortId text={found.walletId} copy={t('Copy wallet ID')} />,
                  moment: <RelativeTime at={found.createdAt} />,
                }}
              />{' '}
              <OutsideBadges of={found} />
            </>
          )
        }
        action={all.list.total > 0 ? addButton : undefined}
      />
      <ObjectTabs of={`/wallets/${walletId}`} />
      <Failure
        title={t('Couldn’t load the wallet')}
        error={wallet.error}
        onRetry={() => void wallet.refetch()}
      />
      {wallet.error === null && (
        <>
          {all.list.total > fewAccounts && (
            <>
              <ListSearch
                label={t('Accounts')}
                placeholder={t('Address, label or path')}
                typed={text}
                onType={setText}
              >
                <Select
                  label={t('Chain')}
                  placeholder={t('All chains')}
                  clearable
                  searchable
                  nothingFoundMessage={t('No matching chain')}
                  data={addressFormats.map(({ format: value, label }) => ({ value, label }))}
                  value={format}
                  onChange={setFormat}
                />
              </ListSearch>
              <div className="kh-list-foot">
                <span role="status">
                  {list.isComplete
                    ? t('{{count}} accounts', { count: list.total })
                    : t('{{count}} accounts so far, still searching', { count: list.total })}
                </span>
              </div>
            </>
          )}
          <Panel kind="plain">
            {list.total === 0 && !list.isComplete && list.error === null && (
              <LoadingRows label={t('Loading accounts')} />
            )}
            <Failure title={t('Couldn’t load the accounts')} error={list.error} onRetry={accounts.retry} />
            {list.isComplete && list.total === 0 && !isFiltered && (
              <Empty title={t('No accounts yet')} action={addButton} icon={IconWallet}>
                <p>{t('An account is a key and address derived from the wallet’s seed.')}</p>
              </Empty>
            )}
            {list.isComplete && list.total === 0 && isFiltered && (
              <Empty title={t('No matching account')}>
                <p>{t('No address, label or path matches.')}</p>
              </Empty>
            )}
            {list.total > 0 && <Accounts key={`${looked} ${format ?? ''}`} walletId={walletId} list={list} />}
          </Panel>
        </>
      )}
      {found !== undefined && (
        <ManageWallet wallet={found} accounts={all.list.total} moreAccounts={!all.list.isComplete} />
      )}
      <Dialog
        opened={adding}
        onClose={() => {
          setAdding(false);
        }}
        title={t('Add account')}
        size="lg"
      >
        <AddAccount
          walletId={walletId}
          onDone={() => {
            setAdding(false);
          }}
        />
      </Dialog>
    </>
  );
}

/** Milliseconds without typing before the search starts. */
const typingPause = 300;

function Accounts({
  walletId,
  list,
}: {
  readonly walletId: string;
  readonly list: ReturnType<typeof useAccountList>['list'];
}): ReactNode {
  const onShow = useCallback(
    (first: number, last: number) => {
      list.show(first, last);
    },
    [list],
  );
  return (
    <AddressDialogs>
      <LongRows
        count={list.total}
        label={t('Accounts')}
        height={{ wide: 5, narrow: 8.5 }}
        isComplete={list.isComplete}
        onShow={onShow}
        row={(index) => <AccountRow walletId={walletId} account={list.lineAt(index)?.account} />}
      />
    </AddressDialogs>
  );
}

/** It stays as it is while the list moves. */
const AccountRow = memo(function AccountRow({
  walletId,
  account,
}: {
  readonly walletId: string;
  readonly account: WalletAccount | undefined;
}): ReactNode {
  if (account === undefined) return <span className="kh-row-waiting" aria-label={t('Loading')} role="img" />;
  return (
    <AddressRow
      format={account.addressFormat}
      address={account.address}
      detail={
        <>
          {account.name !== undefined && account.name !== '' && <>{visibleName(account.name)} · </>}
          <span className="kh-mono kh-nowrap">{account.path}</span>
        </>
      }
      signHref={`/sign/account/${walletId}/${encodeURIComponent(account.address)}`}
      detailsHref={`/wallets/${walletId}/accounts/${encodeURIComponent(account.address)}`}
    />
  );
});

interface ManageProps {
  readonly wallet: WalletRecord;
  /** Number of known accounts, and if there are more. */
  readonly accounts: number;
  readonly moreAccounts: boolean;
}

function ManageWallet({ wallet, accounts, moreAccounts }: ManageProps): ReactNode {
  const { walletId, walletName, exported } = wallet;
  const [, navigate] = useLocation();
  const rpc = useRpc();
  const others = useApiQuery('list_wallets');
  const rename = useSubmit('ACTIVITY_TYPE_UPDATE_WALLET');
  const exporting = useSubmit('ACTIVITY_TYPE_EXPORT_WALLET');
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_WALLETS');
  return (
    <DangerZone>
      <LabelActions walletId={walletId} />
      <DangerAction
        name={t('Rename')}
        about={t('Scripts that use the name need the new one. The ID stays.')}
        title={t('Rename wallet')}
      >
        {(close) => (
          <RenameForm
            what="wallet"
            name={walletName}
            taken={others.data?.wallets.map((each) => each.walletName) ?? []}
            submitting={rename}
            onCancel={close}
            onRename={(name) => {
              rename.mutate(
                { walletId, walletName: name },
                {
                  onSuccess() {
                    close();
                    sayDone({
                      title: t('Wallet renamed'),
                      message: t('New name: “{{name}}”', { name }),
                      isAsDone: async () => {
                        const { wallet: now } = await queryApi(rpc, 'get_wallet', { walletId });
                        return now.walletName === name;
                      },
                      undo: () => rename.mutateAsync({ walletId, walletName }),
                    });
                  },
                },
              );
            }}
          />
        )}
      </DangerAction>
      <DangerAction
        name={t('Export')}
        about={t('Show the seed phrase, to write down or use elsewhere.')}
        title={t('Export wallet')}
        wide
      >
        {(close) => (
          <ExportForm
            submit={(targetPublicKey) => exporting.mutateAsync({ walletId, targetPublicKey })}
            what="seedPhrase"
            outcomes={[
              t('The words arrive encrypted and are shown on request.'),
              t('Anyone with these words controls this wallet for good.'),
              t('The log records the export, not the words.'),
            ]}
            onDone={close}
          >
            {(secret) => <SeedPhrase secret={secret} walletName={walletName} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Remove the seed and accounts from this vault.')}
        title={t('Delete “{{walletName}}”', { walletName })}
        danger
      >
        {(close) => (
          <DeleteForm
            what="wallet"
            loss={
              exported
                ? undefined
                : {
                    title: wallet.imported
                      ? t('Make sure there is another copy')
                      : t('There is no other copy'),
                    text: t('Without the seed phrase, everything in this wallet is lost. Export it first.'),
                  }
            }
            outcomes={[
              moreAccounts
                ? t('The seed and more than {{count}} accounts are erased.', {
                    count: accounts,
                  })
                : t('The seed and {{count}} accounts are erased.', { count: accounts }),
              exported
                ? t('The wallet was exported: anyone with the words can import it.')
                : t('Only the seed phrase restores the wallet, not the recovery phrase.'),
              t('Scripts can no longer sign. Log entries stay.'),
            ]}
            confirm={{ text: walletName, as: 'name' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { walletIds: [walletId], deleteWithoutExport: !exported },
                {
                  onSuccess() {
                    navigate('/wallets', { replace: true });
                    notifications.show({
                      title: t('Wallet deleted'),
                      message: t('“{{walletName}}”', { walletName }),
                    });
                  },
                },
              );
            }}
          />
        )}
      </DangerAction>
    </DangerZone>
  );
}

interface AddAccountProps {
  readonly walletId: string;
  readonly onDone: () => void;
}

const custom = 'custom';
const chainGroups = [
  [t('Well known'), 'common'],
  [t('More chains'), 'more'],
  [t('Test networks'), 'test'],
] as const;

function AddAccount({ walletId, onDone }: AddAccountProps): ReactNode {
  const [choice, setChoice] = useState<string>('ADDRESS_FORMAT_ETHEREUM');
  const [name, setName] = useState('');
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [format, setFormat] = useState<AddressFormat>('ADDRESS_FORMAT_ETHEREUM');
  const [path, setPath] = useState("m/44'/60'/0'/0/0");
  const create = useSubmit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS');

  const chain = chains.find((each) => each.format === choice);
  const free = useApiQuery(
    'get_free_wallet_path',
    chain === undefined
      ? null
      : { walletId, curve: chain.curve, addressFormat: chain.format, path: chain.path },
  );
  // The path of a chain's next account is known once the service has answered: none is shown before.
  const account: NewAccount | undefined =
    chain === undefined
      ? { curve, pathFormat: 'PATH_FORMAT_BIP32', path: path.trim(), addressFormat: format }
      : free.data && {
          curve: chain.curve,
          pathFormat: 'PATH_FORMAT_BIP32',
          path: free.data.path,
          addressFormat: chain.format,
        };
  const problem = chain === undefined ? pathProblem(path.trim(), curve) : null;

  const chooseCurve = (next: Curve) => {
    setCurve(next);
    const fitting = formatsFor(next);
    const [first] = fitting;
    if (first !== undefined && !fitting.some((row) => row.format === format)) setFormat(first.format);
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    if (account === undefined) {
      void free.refetch();
      return;
    }
    create.mutate(
      { walletId, accounts: [{ ...account, ...(name.trim() === '' ? {} : { name: name.trim() }) }] },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('Account added'),
            message: result.addresses[0] ?? account.path,
          });
          onDone();
        },
      },
    );
  };

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Select
          label={t('Chain')}
          data={[
            ...chainGroups.map(([group, of]) => ({
              group,
              items: chainsIn(of).map((each) => ({ value: each.format, label: each.label })),
            })),
            { group: t('Custom'), items: [{ value: custom, label: t('Another path or format') }] },
          ]}
          value={choice}
          allowDeselect={false}
          searchable
          openOnFocus={false}
          nothingFoundMessage={t('No matching chain')}
          onChange={(value) => {
            setChoice(value ?? custom);
          }}
          data-autofocus
        />
        {choice === custom && (
          <>
            <Select
              label={t('Curve')}
              data={Object.entries(curves).map(([value, { label, use }]) => ({
                value,
                label: `${label}: ${use}`,
              }))}
              value={curve}
              allowDeselect={false}
              onChange={(value) => {
                chooseCurve((value ?? curve) as Curve);
              }}
            />
            <Select
              label={t('Address format')}
              data={formatsFor(curve).map(({ format: value, label }) => ({ value, label }))}
              value={format}
              allowDeselect={false}
              onChange={(value) => {
                setFormat(value ?? format);
              }}
            />
            <TextInput
              label={t('Path')}
              description={t("' marks hardened steps.")}
              autoComplete="off"
              spellCheck={false}
              className="kh-mono-input"
              value={path}
              error={problem}
              onChange={onText(setPath)}
            />
          </>
        )}
        <TextInput
          label={t('Label (optional)')}
          description={t('What the account is for.')}
          autoComplete="off"
          maxLength={longestName}
          value={name}
          onChange={onText(setName)}
        />
        <Expectations
          items={[
            account === undefined ? (
              <span key="derived" className="kh-row-waiting" aria-label={t('Loading')} role="img" />
            ) : chain === undefined ? (
              <Trans
                key="derived"
                i18nKey="Derives a {{curve}} key at <span>{{path}}</span>."
                values={{ curve: curveLabel(account.curve), path: account.path }}
                components={{ span: <span className="kh-mono kh-nowrap" /> }}
              />
            ) : (
              <Trans
                key="derived"
                i18nKey="Derives a {{curve}} key at <span>{{path}}</span>, the next free path."
                values={{ curve: curveLabel(account.curve), path: account.path }}
                components={{ span: <span className="kh-mono kh-nowrap" /> }}
              />
            ),
            t('Address format: {{label}}.', {
              label: describeFormat(chain?.format ?? format).label,
            }),
          ]}
        />
        <FormEnd
          failed={t('Couldn’t add the account')}
          error={create.error ?? free.error}
          busy={create.isPending || (chain !== undefined && free.isFetching)}
          does={t('Add account')}
          back={onDone}
        />
      </Stack>
    </form>
  );
}
