import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSignature } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressDialogs, AddressRow } from '../accounts/address-row.tsx';
import { curveLabel, describeFormat } from '../accounts/chains.ts';
import { ExportForm, PrivateKeyTexts } from '../accounts/export-form.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { longestName } from '../../ui/text/names.ts';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import type { Wallet as WalletRecord, WalletAccount as AccountRecord } from '../../app/rpc/resources.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { queryApi, useApiQuery, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { onText } from '../../ui/on-text.ts';
import '../../ui/rows.css';

interface Props {
  readonly walletId: string;
  readonly address: string;
}

/** One account of a wallet: what it is, its key, and its end. */
export function WalletAccount({ walletId, address }: Props): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_wallet_account', {
    walletId,
    address,
  });
  const wallet = useApiQuery('get_wallet', { walletId });
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
              {t('Sign with this account')}
            </Button>
          )
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the account')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the account')} error={error} onRetry={() => void refetch()} />
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
                  <span key="path" className="kh-mono">
                    {account.path}
                  </span>,
                ],
                [
                  t('Public key'),
                  <Copyable key="public" text={account.publicKey} copy={t('Copy public key')} />,
                ],
                [t('ID'), <ShortId key="id" text={account.walletAccountId} copy={t('Copy account ID')} />],
                [t('Created'), <RelativeTime key="made" at={account.createdAt} exact />],
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

interface ManageProps {
  readonly account: AccountRecord;
  readonly wallet: WalletRecord;
}

function ManageAccount({ account, wallet }: ManageProps): ReactNode {
  const [, navigate] = useLocation();
  const rpc = useRpc();
  const exporting = useSubmit('ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT');
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS');
  const rename = useSubmit('ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME');
  const { walletId, address } = account;
  const ending = address.slice(-6);
  return (
    <DangerZone>
      <DangerAction
        name={t('Rename')}
        about={t('Shown instead of the chain. Address and key stay the same.')}
        title={t('Rename account')}
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
                      title: t('Account renamed'),
                      message: name === '' ? t('Name removed') : t('New name: “{{name}}”', { name }),
                      isAsDone: async () => {
                        const { account: now } = await queryApi(rpc, 'get_wallet_account', {
                          walletId,
                          address,
                        });
                        return (now.name ?? '') === name;
                      },
                      undo: () => rename.mutateAsync({ walletAccountId, name: account.name ?? '' }),
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
        about={t('Show this account’s private key, and no other.')}
        title={t('Export account key')}
      >
        {(close) => (
          <ExportForm
            submit={(targetPublicKey) => exporting.mutateAsync({ address: account.address, targetPublicKey })}
            what="privateKey"
            outcomes={[
              t('The key arrives encrypted and is shown on request.'),
              t('Anyone with the key controls this account permanently.'),
              t('The log records the export, not the key.'),
            ]}
            onDone={close}
          >
            {(secret) => <PrivateKeyTexts secret={secret} curve={account.curve} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Remove the account. The wallet can derive it again.')}
        title={t('Delete account')}
        danger
      >
        {(close) => (
          <DeleteForm
            what="account"
            outcomes={[
              t('Scripts can no longer sign with this address.'),
              <>
                <Trans
                  i18nKey="To restore the same address, add an account at <span>{{path}}</span>."
                  values={{ path: account.path }}
                  components={{ span: <span className="kh-mono kh-nowrap" /> }}
                />
              </>,
              wallet.exported
                ? t('The exported seed phrase also covers this account.')
                : t('The wallet was never exported. Without it, this account is lost.'),
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
                      title: t('Account deleted'),
                      message: t('Removed from “{{walletName}}”', { walletName: wallet.walletName }),
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
          description={t('Leave empty to show the chain.')}
          autoComplete="off"
          data-autofocus
          maxLength={longestName}
          value={typed}
          onChange={onText(setTyped)}
        />
        <FormEnd
          failed={t('Couldn’t rename the account')}
          error={submitting.error}
          busy={submitting.isPending}
          does={t('Rename')}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}
