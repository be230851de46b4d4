import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileImport, IconKey, IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { curves, formatsFor } from '../accounts/chains.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import type { Curve } from '../accounts/chains.ts';
import { KeyChoices } from '../accounts/key-choices.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { PrivateKeyList } from './private-key-list.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';

export function PrivateKeys(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_private_keys');
  const ways = (
    <Group gap="sm">
      <Button component={Link} href="/private-keys/new" leftSection={<IconPlus size={16} aria-hidden />}>
        {t('Create private key')}
      </Button>
      <Button
        component={Link}
        href="/private-keys/import"
        variant="default"
        leftSection={<IconFileImport size={16} aria-hidden />}
      >
        {t('Import private key')}
      </Button>
    </Group>
  );
  return (
    <>
      <PageHead
        title={t('Private keys')}
        lead={t('Single keys outside wallets, such as for signing releases.')}
        action={data !== undefined && data.privateKeys.length > 0 ? ways : undefined}
      />
      {data !== undefined && data.privateKeys.length > 0 ? (
        <PrivateKeyList keys={data.privateKeys} />
      ) : (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading private keys')} />}
          <Failure title={t('Couldn’t load the private keys')} error={error} onRetry={() => void refetch()} />
          {data?.privateKeys.length === 0 && (
            <Empty title={t('No private keys yet')} action={ways} icon={IconKey}>
              <p>{t('For one key. For blockchain accounts, a wallet is simpler.')}</p>
            </Empty>
          )}
        </Panel>
      )}
    </>
  );
}

export function NewPrivateKey(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_private_keys');
  const taken = existing?.privateKeys.map((key) => key.privateKeyName) ?? [];
  const suggested = freeName('Key', taken);
  const [typedName, setTypedName] = useState<string | null>(null);
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [formats, setFormats] = useState<readonly string[]>([]);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2');
  const name = typedName ?? suggested;
  // Once the key is created its own name is taken, while this form is still on the screen.
  const problem = create.isPending || create.isSuccess ? null : nameProblem(name, taken);
  const chosen = formatsFor(curve).filter((row) => formats.includes(row.format));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    create.mutate(
      {
        privateKeys: [
          {
            privateKeyName: name.trim(),
            curve,
            privateKeyTags: [],
            addressFormats: chosen.map((row) => row.format),
          },
        ],
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('Created “{{name}}”', { name: name.trim() }),
            message: t('The key is sealed in the vault.'),
          });
          const [made] = result.privateKeys;
          navigate(made === undefined ? '/private-keys' : `/private-keys/${made.privateKeyId}`, {
            replace: true,
          });
        },
      },
    );
  };

  return (
    <>
      <PageHead title={t('Create private key')} back={{ to: '/private-keys', label: t('Private keys') }} />
      <OutcomeForm
        onSubmit={submit}
        outcomes={[
          t('The key ({{label}}) is generated here and sealed in the vault.', {
            label: curves[curve].label,
          }),
          chosen.length === 0
            ? t('No address: sign with the key’s ID.')
            : t('{{count}} addresses: {{chosen}}.', {
                count: chosen.length,
                chosen: chosen.map((row) => row.label).join(', '),
              }),
          t('This vault holds the only copy. No seed phrase covers the key.'),
        ]}
      >
        <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
        <KeyChoices curve={curve} onCurve={setCurve} formats={formats} onFormats={setFormats} />
        <FormEnd
          failed={t('Couldn’t create the key')}
          error={create.error}
          busy={create.isPending}
          does={t('Create private key')}
          back="/private-keys"
        />
      </OutcomeForm>
    </>
  );
}
