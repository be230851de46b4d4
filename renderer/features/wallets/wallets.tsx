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
        {t('New wallet')}
      </Button>
      <Button
        component={Link}
        href="/wallets/import"
        variant="default"
        leftSection={<IconFileImport size={16} aria-hidden />}
      >
        {t('Import a wallet')}
      </Button>
    </Group>
  );
  return (
    <>
      <PageHead
        title={t('Wallets')}
        lead={t('A wallet is one seed from which accounts on many chains are derived.')}
        action={data !== undefined && data.wallets.length > 0 ? ways : undefined}
      />
      <BackupAges />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading wallets')} />}
        <Failure title={t('The wallets could not be read')} error={error} onRetry={() => void refetch()} />
        {data?.wallets.length === 0 && (
          <Empty title={t('No wallet yet')} action={ways} icon={IconWallet}>
            <p>
              {t(
                'Keyhearth draws the seed itself and keeps it sealed. You choose the chains; each gets an address to receive with and a key to sign with.',
              )}
            </p>
            <p>
              {t(
                'Making a wallet costs nothing and sends nothing anywhere. If you have the words of a wallet already, import it.',
              )}
            </p>
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
                      i18nKey="Made <moment/>"
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
  const problem = create.isSuccess ? null : nameProblem(name, 'wallet', taken);
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
            title: t('“{{name}}” is made', { name: name.trim() }),
            message:
              result.addresses.length === 0
                ? t('Its seed is sealed in the vault. It has no account yet.')
                : t('Its seed is sealed in the vault, with {{count}} accounts.', {
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
      <PageHead title={t('New wallet')} back={{ to: '/wallets', label: t('Wallets') }} />
      <form onSubmit={submit} noValidate className="kh-beside">
        <Panel>
          <Stack gap="lg">
            <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
            <FirstAccounts
              about={t(
                'More can be added at any time. The path says where in the wallet an account sits; other wallets find it by the same one.',
              )}
              chosen={chosen}
              onChoose={setChosen}
            />
            <Fieldset legend={t('Length of its seed phrase')} variant="unstyled">
              <SegmentedControl
                aria-label={t('Length of its seed phrase')}
                value={words}
                onChange={setWords}
                data={[
                  { value: '12', label: t('12 words') },
                  { value: '24', label: t('24 words') },
                ]}
              />
              <Text size="sm" c="dimmed" mt="xs">
                {t('Both are out of reach of guessing. Take 24 where another system expects it.')}
              </Text>
            </Fieldset>
            <FormEnd
              failed={t('The wallet was not made')}
              error={create.error}
              busy={create.isPending}
              does={t('Make the wallet')}
              back="/wallets"
            />
          </Stack>
        </Panel>
        <aside>
          <Expectations
            items={[
              t(
                'A seed of {{words}} words is drawn on this computer and sealed in the vault. It is not shown.',
                { words },
              ),
              accounts.length === 0
                ? t('No account is derived yet: the wallet has no address until you add one.')
                : t('{{count}} accounts are derived: {{accounts}}.', {
                    count: accounts.length,
                    accounts: accounts.map((chain) => chain.label).join(', '),
                  }),
              t('It is written to the activity log. Nothing is sent anywhere.'),
            ]}
          />
        </aside>
      </form>
    </>
  );
}
