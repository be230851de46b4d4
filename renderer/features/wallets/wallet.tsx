import { memo, useCallback, useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Modal, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconWallet } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { AddressDialogs, AddressRow } from '../accounts/address-row.tsx';
import {
  accountAt,
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
import { FormEnd } from '../../ui/form-end.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction, RenameForm } from '../../ui/danger-zone.tsx';
import { ListSearch } from '../../ui/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { longestName } from '../../ui/text/names.ts';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import type { Wallet as WalletRecord, WalletAccount } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
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
                i18nKey="<id/> · made <moment/>"
                components={{
                  id: <ShortId text={found.walletId} copy={t('Copy wallet id')} />,
                  moment: <RelativeTime at={found.createdAt} />,
                }}
              />{' '}
              <OutsideBadges of={found} />
            </>
          )
        }
        action={all.list.total > 0 ? addButton : undefined}
      />
      <Failure
        title={t('The wallet could not be read')}
        error={wallet.error}
        onRetry={() => void wallet.refetch()}
      />
      {wallet.error === null && (
        <>
          {all.list.total > fewAccounts && (
            <>
              <ListSearch
                label={t('Accounts')}
                placeholder={t('An address, a label, a path')}
                typed={text}
                onType={setText}
              >
                <Select
                  label={t('Chain')}
                  placeholder={t('Every chain')}
                  clearable
                  searchable
                  nothingFoundMessage={t('No chain of that name')}
                  data={addressFormats.map(({ format: value, label }) => ({ value, label }))}
                  value={format}
                  onChange={setFormat}
                />
              </ListSearch>
              <div className="kh-list-foot">
                <span role="status">
                  {list.isComplete
                    ? t('{{count}} accounts', { count: list.total })
                    : t('{{count}} accounts so far, looking further', { count: list.total })}
                </span>
              </div>
            </>
          )}
          <Panel kind="plain">
            {list.total === 0 && !list.isComplete && list.error === null && (
              <LoadingRows label={t('Loading accounts')} />
            )}
            <Failure
              title={t('The accounts could not be read')}
              error={list.error}
              onRetry={accounts.retry}
            />
            {list.isComplete && list.total === 0 && !isFiltered && (
              <Empty title={t('No account yet')} action={addButton} icon={IconWallet}>
                <p>
                  {t(
                    'An account is a key derived from this wallet’s seed, at a path of its own, with an address in the form its chain uses.',
                  )}
                </p>
              </Empty>
            )}
            {list.isComplete && list.total === 0 && isFiltered && (
              <Empty title={t('No account fits')}>
                <p>{t('The wallet has accounts, but none with this in its address, label or path.')}</p>
              </Empty>
            )}
            {list.total > 0 && <Accounts key={`${looked} ${format ?? ''}`} walletId={walletId} list={list} />}
          </Panel>
        </>
      )}
      {found !== undefined && (
        <ManageWallet wallet={found} accounts={all.list.total} moreAccounts={!all.list.isComplete} />
      )}
      <Modal
        opened={adding}
        onClose={() => {
          setAdding(false);
        }}
        title={t('Add an account')}
        size="lg"
      >
        <AddAccount
          walletId={walletId}
          onDone={() => {
            setAdding(false);
          }}
        />
      </Modal>
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
  const others = useApiQuery('list_wallets');
  const rename = useSubmit('ACTIVITY_TYPE_UPDATE_WALLET');
  const exporting = useSubmit('ACTIVITY_TYPE_EXPORT_WALLET');
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_WALLETS');
  return (
    <DangerZone>
      <DangerAction
        name={t('Rename')}
        about={t('Scripts that look it up by its name need the new one; its id stays.')}
        title={t('Rename the wallet')}
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
                      title: t('The wallet is renamed'),
                      message: t('It is called “{{name}}” now.', { name }),
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
        about={t('Shows its seed phrase: to keep it on paper, or to open the wallet in another program.')}
        title={t('Export the wallet')}
        wide
      >
        {(close) => (
          <ExportForm
            submit={(targetPublicKey) => exporting.mutateAsync({ walletId, targetPublicKey })}
            what="seedPhrase"
            outcomes={[
              t(
                'The words come to this window, encrypted to a key that it has just drawn. They are shown when you ask for it.',
              ),
              t('Whoever reads them has every account of this wallet, for good.'),
              t('The wallet is marked as exported. The log says so, and not the words.'),
            ]}
            onDone={close}
          >
            {(secret) => <SeedPhrase secret={secret} walletName={walletName} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Takes its seed and its accounts out of this vault.')}
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
                      ? t('Be sure that there is another copy')
                      : t('There is no other copy'),
                    text: lossOf(wallet, accounts),
                  }
            }
            outcomes={[
              moreAccounts
                ? t('Its seed is erased from this vault, with more than {{count}} accounts.', {
                    count: accounts,
                  })
                : t('Its seed is erased from this vault, with {{count}} accounts.', { count: accounts }),
              exported
                ? t('It was exported: whoever kept the words can import it again.')
                : t(
                    'Without its words nobody can bring it back: the recovery phrase opens the vault and holds no wallets.',
                  ),
              t('Scripts that sign with it are refused from then on. Its entries in the log stay.'),
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
                      title: t('The wallet is deleted'),
                      message: t('“{{walletName}}” is gone.', { walletName }),
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

function lossOf({ imported }: WalletRecord, count: number): string {
  if (count === 0) {
    return imported
      ? t(
          'This wallet was never exported from here. Without its words, whatever it holds is lost for good. Export it first, unless you are sure.',
        )
      : t(
          'This wallet was never exported. Without its words, whatever it holds is lost for good. Export it first, unless you are sure.',
        );
  }
  return imported
    ? t(
        'This wallet was never exported from here. Without its words, whatever its {{count}} accounts hold is lost for good. Export it first, unless you are sure.',
        { count },
      )
    : t(
        'This wallet was never exported. Without its words, whatever its {{count}} accounts hold is lost for good. Export it first, unless you are sure.',
        { count },
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
  const [choice, setChoice] = useState('ethereum');
  const [name, setName] = useState('');
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [format, setFormat] = useState<AddressFormat>('ADDRESS_FORMAT_ETHEREUM');
  const [path, setPath] = useState("m/44'/60'/0'/0/0");
  const create = useSubmit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS');

  const chain = chains.find(({ id }) => id === choice);
  const free = useApiQuery(
    'get_free_wallet_path',
    chain === undefined
      ? null
      : { walletId, curve: chain.curve, addressFormat: chain.addressFormat, path: chain.path },
  );
  const account: NewAccount =
    chain === undefined
      ? { curve, pathFormat: 'PATH_FORMAT_BIP32', path: path.trim(), addressFormat: format }
      : {
          curve: chain.curve,
          pathFormat: 'PATH_FORMAT_BIP32',
          path: free.data?.path ?? accountAt(chain, 0).path,
          addressFormat: chain.addressFormat,
        };
  const problem = chain === undefined ? pathProblem(account.path, curve) : null;

  const chooseCurve = (next: Curve) => {
    setCurve(next);
    const fitting = formatsFor(next);
    const [first] = fitting;
    if (first !== undefined && !fitting.some((row) => row.format === format)) setFormat(first.format);
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null || (chain !== undefined && free.data === undefined)) return;
    create.mutate(
      { walletId, accounts: [{ ...account, ...(name.trim() === '' ? {} : { name: name.trim() }) }] },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('The account is added'),
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
              items: chainsIn(of).map(({ id, label }) => ({ value: id, label })),
            })),
            { group: t('By hand'), items: [{ value: custom, label: t('Another path or format') }] },
          ]}
          value={choice}
          allowDeselect={false}
          searchable
          nothingFoundMessage={t('No chain of that name')}
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
              description={t("Steps from the seed; ' marks a hardened one.")}
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
          description={t('What you use it for.')}
          autoComplete="off"
          maxLength={longestName}
          value={name}
          onChange={onText(setName)}
        />
        <Expectations
          items={[
            chain === undefined ? (
              <Trans
                key="derived"
                i18nKey="A key on the curve {{curve}} is derived at <span>{{path}}</span>."
                values={{ curve: curveLabel(account.curve), path: account.path }}
                components={{ span: <span className="kh-mono kh-nowrap" /> }}
              />
            ) : (
              <Trans
                key="derived"
                i18nKey="A key on the curve {{curve}} is derived at <span>{{path}}</span>, the next free place."
                values={{ curve: curveLabel(account.curve), path: account.path }}
                components={{ span: <span className="kh-mono kh-nowrap" /> }}
              />
            ),
            t('It gets an address of the form “{{label}}”.', {
              label: describeFormat(account.addressFormat).label,
            }),
          ]}
        />
        <FormEnd
          failed={t('The account was not added')}
          error={create.error ?? free.error}
          busy={create.isPending}
          does={t('Add account')}
          back={onDone}
        />
      </Stack>
    </form>
  );
}
