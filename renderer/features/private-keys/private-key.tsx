import type { ReactNode } from 'react';
import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSignature } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressDialogs, AddressRow } from '../accounts/address-row.tsx';
import { curveLabel } from '../accounts/chains.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ExportForm, PrivateKeyTexts } from '../accounts/export-form.tsx';
import { Grouped, ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import type { PrivateKey as PrivateKeyRecord } from '../../app/rpc/resources.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { TagEditor } from '../tags/tag-editor.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

export function PrivateKey({ privateKeyId }: { readonly privateKeyId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_private_key', {
    privateKeyId,
  });
  const key = data?.privateKey;
  return (
    <>
      <PageHead
        title={key?.privateKeyName ?? t('Private key')}
        back={{ to: '/private-keys', label: t('Private keys') }}
        action={
          <Button
            component={Link}
            href={`/sign/key/${privateKeyId}`}
            leftSection={<IconSignature size={16} aria-hidden />}
          >
            {t('Sign with it')}
          </Button>
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the private key')} />
        </Panel>
      )}
      <Failure title={t('The private key could not be read')} error={error} onRetry={() => void refetch()} />
      {key !== undefined && (
        <>
          <Panel>
            <Facts
              rows={[
                [t('Id'), <ShortId key="id" text={key.privateKeyId} copy={t('Copy private key id')} />],
                [t('Curve'), curveLabel(key.curve)],
                [
                  t('Public key'),
                  <Group key="public" gap="xs" wrap="nowrap">
                    <Grouped text={key.publicKey} />
                    <CopyButton text={key.publicKey} copy={t('Copy public key')} />
                  </Group>,
                ],
                [t('Made'), <RelativeTime key="made" at={key.createdAt} exact />],
                [t('Outside this vault'), originWords(key)],
              ]}
            />
          </Panel>
          <Panel title={t('Addresses')} kind={key.addresses.length > 0 ? 'plain' : 'usual'}>
            {key.addresses.length === 0 ? (
              <Text c="dimmed">{t('It was made without an address. Sign with it by its id.')}</Text>
            ) : (
              <AddressDialogs>
                <ul className="kh-rows" aria-label={t('Addresses')}>
                  {key.addresses.map(({ format, address }) => (
                    <li key={format}>
                      <AddressRow format={format} address={address} detail={curveLabel(key.curve)} />
                    </li>
                  ))}
                </ul>
              </AddressDialogs>
            )}
          </Panel>
          <TagEditor kind="privateKey" holderId={key.privateKeyId} tagIds={key.privateKeyTags} />
          <ManagePrivateKey of={key} />
        </>
      )}
    </>
  );
}

function originWords({ exported, imported }: PrivateKeyRecord): string {
  if (imported)
    return exported ? t('Imported, and exported since') : t('Imported, so a copy may exist elsewhere');
  return exported ? t('Exported, so a copy exists') : t('Never: it was drawn here and not exported');
}

function lossOf({ imported, addresses }: PrivateKeyRecord): string {
  if (addresses.length === 0) {
    return imported
      ? t(
          'This key was never exported from here. Without a copy, whatever depends on it is lost for good. Export it first, unless you are sure.',
        )
      : t(
          'This key was never exported. Without a copy, whatever depends on it is lost for good. Export it first, unless you are sure.',
        );
  }
  return imported
    ? t(
        'This key was never exported from here. Without a copy, whatever depends on it, and whatever its addresses hold, is lost for good. Export it first, unless you are sure.',
      )
    : t(
        'This key was never exported. Without a copy, whatever depends on it, and whatever its addresses hold, is lost for good. Export it first, unless you are sure.',
      );
}

function ManagePrivateKey({ of }: { readonly of: PrivateKeyRecord }): ReactNode {
  const { privateKeyId, privateKeyName, exported, imported, curve, addresses } = of;
  const [, navigate] = useLocation();
  const exporting = useSubmit('ACTIVITY_TYPE_EXPORT_PRIVATE_KEY');
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_PRIVATE_KEYS');
  return (
    <DangerZone>
      <DangerAction
        name={t('Export')}
        about={t('Shows the key itself: to keep a copy, or to use it in another program.')}
        title={t('Export the private key')}
      >
        {(close) => (
          <ExportForm
            submit={(targetPublicKey) => exporting.mutateAsync({ privateKeyId, targetPublicKey })}
            what="privateKey"
            outcomes={[
              t(
                'The key comes to this window, encrypted to a key that it has just drawn. It is shown when you ask for it.',
              ),
              t('Whoever has it can sign with it, for good.'),
              t('It is marked as exported. The log says so, and does not hold the key.'),
            ]}
            onDone={close}
          >
            {(secret) => <PrivateKeyTexts secret={secret} curve={curve} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Takes the key out of this vault.')}
        title={t('Delete “{{privateKeyName}}”', { privateKeyName })}
        danger
      >
        {(close) => (
          <DeleteForm
            what="key"
            loss={
              exported
                ? undefined
                : {
                    title: imported ? t('Be sure that there is another copy') : t('There is no other copy'),
                    text: lossOf(of),
                  }
            }
            outcomes={[
              addresses.length === 0
                ? t('The key is erased from this vault.')
                : t('The key is erased from this vault, with its {{count}} addresses.', {
                    count: addresses.length,
                  }),
              exported
                ? t('It was exported: whoever kept the copy can import it again.')
                : t('Without a copy nobody can bring it back: it follows from no seed phrase.'),
              t('Scripts that sign with it are refused from then on. Its entries in the log stay.'),
            ]}
            confirm={{ text: privateKeyName, as: 'name' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { privateKeyIds: [privateKeyId], deleteWithoutExport: !exported },
                {
                  onSuccess() {
                    navigate('/private-keys', { replace: true });
                    notifications.show({
                      title: t('The key is deleted'),
                      message: t('“{{privateKeyName}}” is gone.', { privateKeyName }),
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
