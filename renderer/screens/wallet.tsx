import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { AddressRow } from '../parts/address-row.tsx';
import {
  chains,
  chainsIn,
  curveLabel,
  curves,
  describeFormat,
  formatsFor,
  nextAccount,
  pathProblem,
} from '../parts/chains.ts';
import type { Curve, NewAccount } from '../parts/chains.ts';
import { ExportForm, SeedPhrase } from '../parts/export-form.tsx';
import { ShortId } from '../parts/identifier.tsx';
import { DeleteForm, Manage, ManageAction, RenameForm } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { longestName } from '../parts/names.ts';
import { Origin } from '../parts/origin.tsx';
import { Outcomes, PageHead, Panel } from '../parts/page.tsx';
import type { Wallet as WalletRecord, WalletAccount } from '../parts/resources.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { t, Trans } from '../parts/text.ts';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import { useWalletAccounts } from '../parts/wallet-accounts.ts';
import '../parts/rows.css';

export function Wallet({ walletId }: { readonly walletId: string }): ReactNode {
  const wallet = useAsk<{ wallet: WalletRecord }>('get_wallet', { walletId });
  const accounts = useWalletAccounts(walletId);
  const { list } = accounts;
  const [adding, setAdding] = useState(false);
  const found = wallet.data?.wallet;
  const addButton = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
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
                i18nKey="<shortId/> · made <moment/> <origin/>"
                components={{
                  shortId: <ShortId text={found.walletId} what={t('wallet id')} />,
                  moment: <Moment at={found.createdAt} />,
                  origin: <Origin of={found} />,
                }}
              />
            </>
          )
        }
        action={list.length > 0 ? addButton : undefined}
      />
      <Failure
        title={t('The wallet could not be read')}
        error={wallet.error}
        onRetry={() => void wallet.refetch()}
      />
      {wallet.error === null && (
        <Panel kind="plain">
          {accounts.isPending && <LoadingRows what={t('accounts')} />}
          <Failure
            title={t('The accounts could not be read')}
            error={accounts.error}
            onRetry={accounts.retry}
          />
          {!accounts.isPending && accounts.error === null && list.length === 0 && (
            <Empty title={t('No account yet')} action={addButton}>
              <p>
                {t(
                  'An account is a key derived from this wallet’s seed, at a path of its own, with an address in the form its chain uses.',
                )}
              </p>
            </Empty>
          )}
          {list.length > 0 && (
            <ul className="lk-rows" aria-label={t('Accounts')}>
              {list.map((account) => (
                <li key={account.walletAccountId}>
                  <AddressRow
                    format={account.addressFormat}
                    address={account.address}
                    detail={
                      <>
                        {account.name !== undefined && account.name !== '' && <>{account.name} · </>}
                        <span className="lk-mono lk-nowrap">{account.path}</span>
                      </>
                    }
                    signHref={`/sign/account/${walletId}/${account.walletAccountId}`}
                    detailsHref={`/wallets/${walletId}/accounts/${encodeURIComponent(account.address)}`}
                  />
                </li>
              ))}
            </ul>
          )}
        </Panel>
      )}
      {accounts.more !== null && (
        <Button variant="default" loading={accounts.isLoadingMore} onClick={accounts.more}>
          {t('Load more accounts')}
        </Button>
      )}
      {found !== undefined && (
        <ManageWallet wallet={found} accounts={list.length} moreAccounts={accounts.more !== null} />
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
          existing={list}
          onDone={() => {
            setAdding(false);
          }}
        />
      </Modal>
    </>
  );
}

const updateWallet = {
  operation: 'update_wallet',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET',
  result: 'updateWalletResult',
} as const;

const exportWallet = {
  operation: 'export_wallet',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  result: 'exportWalletResult',
} as const;

const deleteWallets = {
  operation: 'delete_wallets',
  type: 'ACTIVITY_TYPE_DELETE_WALLETS',
  result: 'deleteWalletsResult',
} as const;

interface ManageProps {
  readonly wallet: WalletRecord;
  /** How many accounts are known, and whether there are more. */
  readonly accounts: number;
  readonly moreAccounts: boolean;
}

function ManageWallet({ wallet, accounts, moreAccounts }: ManageProps): ReactNode {
  const { walletId, walletName, exported } = wallet;
  const [, navigate] = useLocation();
  const others = useAsk<{ wallets: readonly WalletRecord[] }>('list_wallets');
  const rename = useSubmit<{ walletId: string; walletName: string }, unknown>(updateWallet);
  const remove = useSubmit<{ walletIds: readonly string[]; deleteWithoutExport: boolean }, unknown>(
    deleteWallets,
  );
  const itsAccounts = `${moreAccounts ? t('more than ') : ''}${t('{{count}} accounts', { count: accounts })}`;
  return (
    <Manage>
      <ManageAction
        name={t('Rename')}
        about={t('Scripts that look it up by its name need the new one; its id stays.')}
        title={t('Rename the wallet')}
      >
        {(close) => (
          <RenameForm
            what={t('wallet')}
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
                    notifications.show({
                      title: t('The wallet is renamed'),
                      message: t('It is called “{{name}}” now.', { name }),
                    });
                  },
                },
              );
            }}
          />
        )}
      </ManageAction>
      <ManageAction
        name={t('Export')}
        about={t('Shows its seed phrase: to keep it on paper, or to open the wallet in another program.')}
        title={t('Export the wallet')}
        wide
      >
        {(close) => (
          <ExportForm
            submit={exportWallet}
            parameters={{ walletId }}
            what={t('seed phrase')}
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
      </ManageAction>
      <ManageAction
        name={t('Delete')}
        about={t('Takes its seed and its accounts out of this vault.')}
        title={t('Delete “{{walletName}}”', { walletName })}
        danger
      >
        {(close) => (
          <DeleteForm
            what={t('wallet')}
            loss={
              exported
                ? undefined
                : {
                    title: wallet.imported
                      ? t('Be sure that there is another copy')
                      : t('There is no other copy'),
                    text: t(
                      'This wallet was never exported{{value}}. Without its words, whatever {{value2}} is lost for good. Export it first, unless you are sure.',
                      {
                        value: wallet.imported ? t(' from here') : '',
                        value2:
                          accounts === 0
                            ? t('it holds')
                            : accounts === 1
                              ? t('its account holds')
                              : t('its {{itsAccounts}} hold', { itsAccounts }),
                      },
                    ),
                  }
            }
            outcomes={[
              t('Its seed is erased from this vault, with {{value}}.', {
                value: accounts === 0 ? t('all that follows from it') : itsAccounts,
              }),
              exported
                ? t('It was exported: whoever kept the words can import it again.')
                : t(
                    'Without its words nobody can bring it back: the recovery phrase opens the vault and holds no wallets.',
                  ),
              t('Scripts that sign with it are refused from then on. Its entries in the log stay.'),
            ]}
            confirm={{ text: walletName, what: t('its name') }}
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
      </ManageAction>
    </Manage>
  );
}

const createAccounts = {
  operation: 'create_wallet_accounts',
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  result: 'createWalletAccountsResult',
} as const;

interface AddAccountProps {
  readonly walletId: string;
  readonly existing: readonly WalletAccount[];
  readonly onDone: () => void;
}

const custom = 'custom';
const chainGroups = [
  [t('Well known'), 'common'],
  [t('More chains'), 'more'],
  [t('Test networks'), 'test'],
] as const;

function AddAccount({ walletId, existing, onDone }: AddAccountProps): ReactNode {
  const [choice, setChoice] = useState('ethereum');
  const [name, setName] = useState('');
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [format, setFormat] = useState('ADDRESS_FORMAT_ETHEREUM');
  const [path, setPath] = useState("m/44'/60'/0'/0/0");
  const create = useSubmit<
    { walletId: string; accounts: readonly NewAccount[] },
    { addresses: readonly string[] }
  >(createAccounts);

  const chain = chains.find(({ id }) => id === choice);
  const account: NewAccount =
    chain === undefined
      ? { curve, pathFormat: 'PATH_FORMAT_BIP32', path: path.trim(), addressFormat: format }
      : nextAccount(chain, existing);
  const problem = chain === undefined ? pathProblem(account.path, curve) : null;

  const chooseCurve = (next: Curve) => {
    setCurve(next);
    const fitting = formatsFor(next);
    if (!fitting.some((row) => row.format === format)) setFormat(fitting[0]?.format ?? '');
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
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
              className="lk-mono-input"
              value={path}
              error={problem}
              onChange={(event) => {
                setPath(event.currentTarget.value);
              }}
            />
          </>
        )}
        <TextInput
          label={t('Label (optional)')}
          description={t('What you use it for.')}
          autoComplete="off"
          maxLength={longestName}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <Outcomes
          items={[
            <>
              <Trans
                i18nKey="A key on the curve {{curve}} is derived at <span>{{path}}</span>"
                values={{ curve: curveLabel(account.curve), path: account.path }}
                components={{ span: <span className="lk-mono lk-nowrap" /> }}
              />
              {chain !== undefined && t(', the next free place')}.
            </>,
            t('It gets an address of the form “{{label}}”.', {
              label: describeFormat(account.addressFormat).label,
            }),
          ]}
        />
        <Failure title={t('The account was not added')} error={create.error} />
        <Group gap="sm">
          <Button type="submit" loading={create.isPending}>
            {t('Add account')}
          </Button>
          <Button variant="subtle" color="gray" onClick={onDone}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
