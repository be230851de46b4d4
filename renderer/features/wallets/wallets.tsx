import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Fieldset, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileImport, IconPlus, IconWallet } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { BackupAges } from '../backups/backup-ages.tsx';
import { accountAt, chains } from '../accounts/chains.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { FirstAccounts } from '../accounts/first-accounts.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

export function Wallets(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_wallets');
  const ways = (
    <Group gap="sm">
      <Button component={Link} href="/wallets/new" leftSection={<IconPlus size={16} aria-hidden />}>
        {t('Create wallet')}
      </Button>
      <Button
        component={Link}
        href="/wallets/import"
        variant="default"
        leftSection={<IconFileImport size={16} aria-hidden />}
      >
        {t('Import wallet')}
      </Button>
    </Group>
  );
  return (
    <>
      <PageHead
        title={t('Wallets')}
        lead={t('A wallet derives accounts on many chains from one seed.')}
        action={data !== undefined && data.wallets.length > 0 ? ways : undefined}
      />
      <BackupAges />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading wallets')} />}
        <Failure title={t('Couldn’t load the wallets')} error={error} onRetry={() => void refetch()} />
        {data?.wallets.length === 0 && (
          <Empty title={t('No wallets yet')} action={ways} icon={IconWallet}>
            <p>
              {t(
                'Keyhearth generates the seed and keeps it sealed. Each chain you choose gets an address and a key.',
              )}
            </p>
            <p>{t('Already have a seed phrase? Import the wallet.')}</p>
          </Empty>
        )}
        {data !== undefined && data.wallets.length > 0 && (
          <ul className="kh-rows" aria-label={t('Wallets')}>
            {data.wallets.map((wallet) => (
              <li key={wallet.walletId}>
                <Link href={`/wallets/${wallet.walletId}`} className="kh-row">
                  <span>
                    <span className="kh-row-name">{visibleName(wallet.walletName)}</span>{' '}
                    <OutsideBadges of={wallet} />
                  </span>
                  <span className="kh-row-side">
                    <Trans
                      i18nKey="Created <moment/>"
                      components={{ moment: <RelativeTime at={wallet.createdAt} /> }}
                    />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

export function NewWallet(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_wallets');
  const taken = existing?.wallets.map((wallet) => wallet.walletName) ?? [];
  const suggested = freeName('Wallet', taken);
  const [typedName, setTypedName] = useState<string | null>(null);
  const [words, setWords] = useState<'12' | '24'>('12');
  const [chosen, setChosen] = useState<readonly string[]>(['ethereum']);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_WALLET');
  const name = typedName ?? suggested;
  // Once the wallet is created its own name is taken, while this form is still on the screen.
  const problem = create.isSuccess ? null : nameProblem(name, taken);
  const accounts = chains.filter((chain) => chosen.includes(chain.id));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    create.mutate(
      {
        walletName: name.trim(),
        accounts: accounts.map((chain) => accountAt(chain, 0)),
        mnemonicLength: words === '24' ? 24 : 12,
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('Created “{{name}}”', { name: name.trim() }),
            message:
              result.addresses.length === 0
                ? t('The wallet has no accounts yet.')
                : t('The wallet has {{count}} accounts.', {
                    count: result.addresses.length,
                  }),
          });
          navigate(`/wallets/${result.walletId}`, { replace: true });
        },
      },
    );
  };

  return (
    <>
      <PageHead title={t('Create wallet')} back={{ to: '/wallets', label: t('Wallets') }} />
      <form onSubmit={submit} noValidate className="kh-beside">
        <Panel>
          <Stack gap="lg">
            <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
            <FirstAccounts
              about={t('Add more at any time. Other wallets find an account by the same path.')}
              chosen={chosen}
              onChoose={setChosen}
            />
            <Fieldset legend={t('Seed phrase length')} variant="unstyled">
              <SegmentedControl
                aria-label={t('Seed phrase length')}
                value={words}
                onChange={setWords}
                data={[
                  { value: '12', label: t('12 words') },
                  { value: '24', label: t('24 words') },
                ]}
              />
              <Text size="sm" c="dimmed" mt="xs">
                {t('Both are secure. Choose 24 if another system expects it.')}
              </Text>
            </Fieldset>
            <FormEnd
              failed={t('Couldn’t create the wallet')}
              error={create.error}
              busy={create.isPending}
              does={t('Create wallet')}
              back="/wallets"
            />
          </Stack>
        </Panel>
        <aside>
          <Expectations
            items={[
              t('A {{words}}-word seed phrase is generated on this computer and sealed in the vault.', {
                words,
              }),
              accounts.length === 0
                ? t('The wallet has no address until you add an account.')
                : t('Adds {{count}} accounts: {{accounts}}.', {
                    count: accounts.length,
                    accounts: accounts.map((chain) => chain.label).join(', '),
                  }),
            ]}
          />
        </aside>
      </form>
    </>
  );
}
