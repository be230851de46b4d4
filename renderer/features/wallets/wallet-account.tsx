import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSignature } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressDialogs, AddressRow } from '../parts/address-row.tsx';
import { curveLabel, describeFormat } from '../parts/chains.ts';
import { ExportForm, PrivateKeyTexts } from '../parts/export-form.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { ShortId } from '../parts/identifier.tsx';
import { DeleteForm, Manage, ManageAction } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { longestName } from '../parts/names.ts';
import { Facts, PageHead, Panel } from '../parts/page.tsx';
import type { Wallet as WalletRecord, WalletAccount as AccountRecord } from '../parts/resources.ts';
import { Failure, LoadingRows } from '../parts/states.tsx';
import { t, Trans } from '../parts/text.ts';
import { sayDone } from '../parts/undo.tsx';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import { Value } from '../parts/value.tsx';
import '../parts/rows.css';

interface Props {
  readonly walletId: string;
  readonly address: string;
}

/** One account of a wallet: what it is, its key, and its end. */
export function WalletAccount({ walletId, address }: Props): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ account: AccountRecord }>('get_wallet_account', {
    walletId,
    address,
  });
  const wallet = useAsk<{ wallet: WalletRecord }>('get_wallet', { walletId });
  const account = data?.account;
  const back = { to: `/wallets/${walletId}`, label: wallet.data?.wallet.walletName ?? t('Wallet') };
  return (
    <>
      <PageHead
        title={account === undefined ? t('Account') : accountTitle(account)}
        back={back}
        action={
          account !== undefined && (
            <Button
              component={Link}
              href={`/sign/account/${walletId}/${encodeURIComponent(account.address)}`}
              leftSection={<IconSignature size={16} aria-hidden />}
            >
              {t('Sign with it')}
            </Button>
          )
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the account')} />
        </Panel>
      )}
      <Failure title={t('The account could not be read')} error={error} onRetry={() => void refetch()} />
      {account !== undefined && (
        <>
          <Panel kind="plain">
            <AddressDialogs>
              <AddressRow
                format={account.addressFormat}
                address={account.address}
                detail={curveLabel(account.curve)}
              />
            </AddressDialogs>
          </Panel>
          <Panel>
            <Facts
              rows={[
                [
                  t('Path'),
                  <span key="path" className="lk-mono">
                    {account.path}
                  </span>,
                ],
                ...(account.publicKey === undefined
                  ? []
                  : ([
                      [
                        t('Public key'),
                        <Value key="public" text={account.publicKey} copy={t('Copy public key')} />,
                      ],
                    ] as const)),
                [t('Id'), <ShortId key="id" text={account.walletAccountId} copy={t('Copy account id')} />],
                [t('Made'), <Moment key="made" at={account.createdAt} exact />],
              ]}
            />
          </Panel>
          {wallet.data !== undefined && <ManageAccount account={account} wallet={wallet.data.wallet} />}
        </>
      )}
    </>
  );
}

const accountTitle = ({ name, addressFormat }: AccountRecord): string =>
  name === undefined || name === ''
    ? t('{{label}} account', { label: describeFormat(addressFormat).label })
    : name;

const updateName = {
  operation: 'update_wallet_account_name',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
  result: 'updateWalletAccountNameResult',
} as const;

const exportAccount = {
  operation: 'export_wallet_account',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  result: 'exportWalletAccountResult',
} as const;

const deleteAccounts = {
  operation: 'delete_wallet_accounts',
  type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
  result: 'deleteWalletAccountsResult',
} as const;

interface ManageProps {
  readonly account: AccountRecord;
  readonly wallet: WalletRecord;
}

function ManageAccount({ account, wallet }: ManageProps): ReactNode {
  const [, navigate] = useLocation();
  const remove = useSubmit<{ walletAccountIds: readonly string[]; deleteWithoutExport: boolean }, unknown>(
    deleteAccounts,
  );
  const rename = useSubmit<{ walletAccountId: string; name: string }, unknown>(updateName);
  const ending = account.address.slice(-6);
  return (
    <Manage>
      <ManageAction
        name={t('Rename')}
        about={t('A name of yours, shown in the place of its chain. Its address and its key stay.')}
        title={t('Rename the account')}
      >
        {(close) => (
          <NameForm
            name={account.name ?? ''}
            submitting={rename}
            onCancel={close}
            onName={(name) => {
              const { walletAccountId } = account;
              rename.mutate(
                { walletAccountId, name },
                {
                  onSuccess() {
                    close();
                    sayDone({
                      title: t('The account is renamed'),
                      message:
                        name === ''
                          ? t('It has no name of its own now.')
                          : t('It is called “{{name}}” now.', { name }),
                      undo: () => rename.mutateAsync({ walletAccountId, name: account.name ?? '' }),
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
        about={t('Shows the private key of this one account. The wallet’s other accounts are not in it.')}
        title={t('Export the account’s private key')}
      >
        {(close) => (
          <ExportForm
            submit={exportAccount}
            parameters={{ address: account.address }}
            what="privateKey"
            outcomes={[
              t(
                'The key comes to this window, encrypted to a key that it has just drawn. It is shown when you ask for it.',
              ),
              t('Whoever has it can sign as this account, for good.'),
              t('The log says that it was exported, and not the key.'),
            ]}
            onDone={close}
          >
            {(secret) => <PrivateKeyTexts secret={secret} curve={account.curve} />}
          </ExportForm>
        )}
      </ManageAction>
      <ManageAction
        name={t('Delete')}
        about={t('Takes the account off the wallet, which can derive it again.')}
        title={t('Delete the account')}
        danger
      >
        {(close) => (
          <DeleteForm
            what="account"
            outcomes={[
              t('The vault no longer knows this address, and scripts that sign with it are refused.'),
              <>
                <Trans
                  i18nKey="Nothing is lost while the wallet is here: add an account at <span>{{path}}</span> and it is back, with the same address."
                  values={{ path: account.path }}
                  components={{ span: <span className="lk-mono lk-nowrap" /> }}
                />
              </>,
              wallet.exported
                ? t('The wallet was exported: its words hold this account too.')
                : t(
                    'The wallet was never exported: if it is deleted as well, what this account holds is lost for good.',
                  ),
            ]}
            confirm={{ text: ending, as: 'addressEnding' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { walletAccountIds: [account.walletAccountId], deleteWithoutExport: !wallet.exported },
                {
                  onSuccess() {
                    navigate(`/wallets/${wallet.walletId}`, { replace: true });
                    notifications.show({
                      title: t('The account is deleted'),
                      message: t('“{{walletName}}” no longer has it.', { walletName: wallet.walletName }),
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

interface NameFormProps {
  readonly name: string;
  readonly submitting: { readonly isPending: boolean; readonly error: Error | null };
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

/** An account may go without a name, and several may have the same one. */
function NameForm({ name, submitting, onName, onCancel }: NameFormProps): ReactNode {
  const [typed, setTyped] = useState(name);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (typed.trim() === name) onCancel();
    else onName(typed.trim());
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label={t('Name')}
          description={t('Leave it empty to go by the chain.')}
          autoComplete="off"
          data-autofocus
          maxLength={longestName}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
          }}
        />
        <FormEnd
          failed={t('The account was not renamed')}
          error={submitting.error}
          busy={submitting.isPending}
          does={t('Rename')}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}
