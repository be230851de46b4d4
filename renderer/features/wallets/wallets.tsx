import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Checkbox, Fieldset, Group, NativeSelect, SegmentedControl, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileImport, IconPlus, IconWallet } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { BackupAges } from '../backups/backup-ages.tsx';
import { accountAt, chains } from '../accounts/chains.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { FirstAccounts } from '../accounts/first-accounts.tsx';
import { ListSearch } from '../../ui/lists/list-search.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import type { Answer } from '../../../main/operations/api.ts';
import { Tags } from './wallet-labels.tsx';
import { findWallets, ofArchive, orderWallets, walletOrders, type WalletOrder } from './wallet-order.ts';
import { ChainMarks, useWalletSummaries, WalletFacts } from './wallet-summaries.tsx';
import '../../ui/rows.css';

type WalletRow = Answer<'list_wallets'>['wallets'][number];

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
      {data !== undefined && data.wallets.length > 0 ? (
        <WalletList wallets={data.wallets} />
      ) : (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading wallets')} />}
          <Failure title={t('Couldn’t load the wallets')} error={error} onRetry={() => void refetch()} />
          {data !== undefined && (
            <Empty title={t('No wallets yet')} action={ways} icon={IconWallet}>
              <p>
                {t('Keyhearth generates and seals the seed. Each chosen chain gets an address and a key.')}
              </p>
              <p>{t('Already have a seed phrase? Import the wallet.')}</p>
            </Empty>
          )}
        </Panel>
      )}
    </>
  );
}

/** Lists that are longer have a search. */
const searchedFrom = 6;

function WalletList({ wallets }: { readonly wallets: readonly WalletRow[] }): ReactNode {
  const summaries = useWalletSummaries();
  const [typed, setTyped] = useState('');
  const [order, setOrder] = useState<WalletOrder>('created');
  const [tag, setTag] = useState('');
  const [isArchive, setIsArchive] = useState(false);
  const archived = ofArchive(wallets, summaries, true).length;
  const tags = [...new Set([...(summaries?.values() ?? [])].flatMap((each) => each.tags))].sort((a, b) =>
    a.localeCompare(b),
  );
  const listed = ofArchive(wallets, summaries, isArchive && archived > 0).filter(
    ({ walletId }) => tag === '' || summaries?.get(walletId)?.tags.includes(tag),
  );
  const found = orderWallets(findWallets(listed, summaries, typed), order, summaries);
  return (
    <>
      {wallets.length >= searchedFrom && (
        <ListSearch
          label={t('Search wallets')}
          placeholder={t('Name, chain or tag')}
          typed={typed}
          onType={setTyped}
        >
          <NativeSelect
            label={t('Order')}
            value={order}
            data={[
              { value: 'created', label: t('Creation') },
              { value: 'used', label: t('Last use') },
              { value: 'name', label: t('Name') },
            ]}
            onChange={({ currentTarget }) => {
              setOrder(walletOrders.find((each) => each === currentTarget.value) ?? order);
            }}
          />
          {tags.length > 0 && (
            <NativeSelect
              label={t('Tag')}
              value={tag}
              data={[
                { value: '', label: t('All tags') },
                ...tags.map((each) => ({ value: each, label: visibleName(each) })),
              ]}
              onChange={({ currentTarget }) => {
                setTag(currentTarget.value);
              }}
            />
          )}
        </ListSearch>
      )}
      {archived > 0 && (
        <Checkbox
          label={t('Show the archive ({{count}})', { count: archived })}
          checked={isArchive}
          onChange={({ currentTarget }) => {
            setIsArchive(currentTarget.checked);
          }}
          mb="md"
        />
      )}
      <Panel kind="plain">
        {found.length === 0 &&
          (!isArchive && archived === wallets.length ? (
            <Empty title={t('All wallets are archived')}>
              <p>{t('Select “Show the archive” to see them.')}</p>
            </Empty>
          ) : (
            <Empty title={t('No results')}>
              <p>{t('No wallet has this name, chain or tag.')}</p>
            </Empty>
          ))}
        <ul className="kh-rows" aria-label={t('Wallets')}>
          {found.map((wallet) => {
            const summary = summaries?.get(wallet.walletId);
            return (
              <li key={wallet.walletId}>
                <Link href={`/wallets/${wallet.walletId}`} className="kh-row">
                  <span>
                    <span className="kh-row-name">{visibleName(wallet.walletName)}</span>{' '}
                    {summary && <ChainMarks of={summary} />} {summary && <Tags of={summary.tags} />}{' '}
                    <OutsideBadges of={wallet} />
                  </span>
                  <span className="kh-row-side">
                    <WalletFacts of={summary} />
                  </span>
                </Link>
              </li>
            );
          })}
        </ul>
      </Panel>
    </>
  );
}

export function NewWallet(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_wallets');
  const taken = existing?.wallets.map((wallet) => wallet.walletName) ?? [];
  const suggested = freeName('Wallet', taken);
  const [typedName, setTypedName] = useDraftState<string | null>('typedName', null);
  const [words, setWords] = useDraftState<'12' | '24'>('words', '12');
  const [chosen, setChosen] = useDraftState<readonly string[]>('chosen', ['ADDRESS_FORMAT_ETHEREUM']);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_WALLET');
  const name = typedName ?? suggested;
  // Once the wallet is created its own name is taken, while this form is still on the screen.
  const problem = create.isPending || create.isSuccess ? null : nameProblem(name, taken);
  const accounts = chains.filter((chain) => chosen.includes(chain.format));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
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
      <OutcomeForm
        onSubmit={submit}
        outcomes={[
          t('A {{words}}-word seed phrase is generated here and sealed in the vault.', {
            words,
          }),
          accounts.length === 0
            ? t('The wallet has no address until you add an account.')
            : t('Adds {{count}} accounts: {{accounts}}.', {
                count: accounts.length,
                accounts: accounts.map((chain) => chain.label).join(', '),
              }),
        ]}
      >
        <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
        <FirstAccounts
          about={t('Add more at any time. Other wallets use the same paths.')}
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
      </OutcomeForm>
    </>
  );
}
