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
import { ObjectTabs } from '../activity/object-tabs.tsx';
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
            {t('Sign with this key')}
          </Button>
        }
      />
      <ObjectTabs of={`/private-keys/${privateKeyId}`} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the private key')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the private key')} error={error} onRetry={() => void refetch()} />
      {key !== undefined && (
        <>
          <Panel>
            <Facts
              rows={[
                [t('ID'), <ShortId key="id" text={key.privateKeyId} copy={t('Copy private key ID')} />],
                [t('Curve'), curveLabel(key.curve)],
                [
                  t('Public key'),
                  <Group key="public" gap="xs" wrap="nowrap">
                    <Grouped text={key.publicKey} />
                    <CopyButton text={key.publicKey} copy={t('Copy public key')} />
                  </Group>,
                ],
                [t('Created'), <RelativeTime key="made" at={key.createdAt} exact />],
                [t('Copies'), originWords(key)],
              ]}
            />
          </Panel>
          <Panel title={t('Addresses')} kind={key.addresses.length > 0 ? 'plain' : 'usual'}>
            {key.addresses.length === 0 ? (
              <Text c="dimmed">{t('No address. Sign with the key’s ID.')}</Text>
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
  if (imported) return exported ? t('Imported and exported') : t('Imported: a copy may exist elsewhere');
  return exported ? t('Exported: a copy exists') : t('None: generated here, never exported');
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
        about={t('Show the private key, to copy or use elsewhere.')}
        title={t('Export private key')}
      >
        {(close) => (
          <ExportForm
            submit={(targetPublicKey) => exporting.mutateAsync({ privateKeyId, targetPublicKey })}
            what="privateKey"
            outcomes={[
              t('The key arrives encrypted and is shown on request.'),
              t('Anyone with the key can sign permanently.'),
              t('The log records the export, not the key.'),
            ]}
            onDone={close}
          >
            {(secret) => <PrivateKeyTexts secret={secret} curve={curve} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Remove the key from this vault.')}
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
                    title: imported ? t('Make sure there is another copy') : t('There is no other copy'),
                    text: t('Without a copy, everything that depends on this key is lost. Export it first.'),
                  }
            }
            outcomes={[
              addresses.length === 0
                ? t('The key is erased.')
                : t('The key and its {{count}} addresses are erased.', {
                    count: addresses.length,
                  }),
              exported
                ? t('The key was exported: anyone with a copy can import it.')
                : t('Only a copy restores the key. No seed phrase covers it.'),
              t('Scripts can no longer sign. Log entries stay.'),
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
                      title: t('Key deleted'),
                      message: t('“{{privateKeyName}}”', { privateKeyName }),
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
