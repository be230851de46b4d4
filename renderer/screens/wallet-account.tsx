import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSignature } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressRow } from '../parts/address-row.tsx';
import { curveLabel, describeFormat } from '../parts/chains.ts';
import { ExportForm, PrivateKeyTexts } from '../parts/export-form.tsx';
import { ShortId } from '../parts/identifier.tsx';
import { DeleteForm, Manage, ManageAction } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { Facts, PageHead, Panel } from '../parts/page.tsx';
import type { Wallet as WalletRecord, WalletAccount as AccountRecord } from '../parts/resources.ts';
import { Failure, LoadingRows } from '../parts/states.tsx';
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
  const back = { to: `/wallets/${walletId}`, label: wallet.data?.wallet.walletName ?? 'Wallet' };
  return (
    <>
      <PageHead
        title={account === undefined ? 'Account' : accountTitle(account)}
        back={back}
        action={
          account !== undefined && (
            <Button
              component={Link}
              href={`/sign/account/${walletId}/${account.walletAccountId}`}
              leftSection={<IconSignature size={16} aria-hidden />}
            >
              Sign with it
            </Button>
          )
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows what="the account" />
        </Panel>
      )}
      <Failure title="The account could not be read" error={error} onRetry={() => void refetch()} />
      {account !== undefined && (
        <>
          <Panel kind="plain">
            <AddressRow
              format={account.addressFormat}
              address={account.address}
              detail={curveLabel(account.curve)}
            />
          </Panel>
          <Panel>
            <Facts
              rows={[
                [
                  'Path',
                  <span key="path" className="lk-mono">
                    {account.path}
                  </span>,
                ],
                ...(account.publicKey === undefined
                  ? []
                  : ([
                      ['Public key', <Value key="public" text={account.publicKey} what="public key" />],
                    ] as const)),
                ['Id', <ShortId key="id" text={account.walletAccountId} what="account id" />],
                ['Made', <Moment key="made" at={account.createdAt} />],
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
  name === undefined || name === '' ? `${describeFormat(addressFormat).label} account` : name;

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
  const ending = account.address.slice(-6);
  return (
    <Manage>
      <ManageAction
        name="Export"
        about="Shows the private key of this one account. The wallet’s other accounts are not in it."
        title="Export the account’s private key"
      >
        {(close) => (
          <ExportForm
            submit={exportAccount}
            parameters={{ address: account.address }}
            what="private key"
            outcomes={[
              'The key comes to this window, encrypted to a key that it has just drawn. It is shown when you ask for it.',
              'Whoever has it can sign as this account, for good.',
              'The log says that it was exported, and not the key.',
            ]}
            onDone={close}
          >
            {(secret) => <PrivateKeyTexts secret={secret} curve={account.curve} />}
          </ExportForm>
        )}
      </ManageAction>
      <ManageAction
        name="Delete"
        about="Takes the account off the wallet, which can derive it again."
        title="Delete the account"
        danger
      >
        {(close) => (
          <DeleteForm
            what="account"
            outcomes={[
              'The vault no longer knows this address, and scripts that sign with it are refused.',
              <>
                Nothing is lost while the wallet is here: add an account at{' '}
                <span className="lk-mono lk-nowrap">{account.path}</span> and it is back, with the same
                address.
              </>,
              wallet.exported
                ? 'The wallet was exported: its words hold this account too.'
                : 'The wallet was never exported: if it is deleted as well, what this account holds is lost for good.',
            ]}
            confirm={{ text: ending, what: 'the last six characters of its address' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { walletAccountIds: [account.walletAccountId], deleteWithoutExport: !wallet.exported },
                {
                  onSuccess() {
                    navigate(`/wallets/${wallet.walletId}`, { replace: true });
                    notifications.show({
                      title: 'The account is deleted',
                      message: `“${wallet.walletName}” no longer has it.`,
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
