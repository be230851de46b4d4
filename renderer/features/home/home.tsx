import { Suspense } from 'react';
import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { IconCheck, IconHistory, IconPlus, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { StatusBadge } from '../activity/activity-parts.tsx';
import { ActivityRow } from '../activity/activity-row.tsx';
import { useDescriptions } from '../activity/spoken.tsx';
import { useAttention } from './attention.ts';
import { useSetUp } from './checks.ts';
import { Health, SetUp } from './health.tsx';
import { KeysToReview } from './home-keys.tsx';
import { HomeWallets } from './home-wallets.tsx';
import { SigningDays } from './signing-chart.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { later } from '../../app/later.tsx';
import { LoadBoundary } from '../../app/load-boundary.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import './home.css';

/** The code that the budgets share with policies would make the first load longer by 11 kB. */
const HomeBudgets = later(async () => (await import('./home-budgets.tsx')).HomeBudgets);

/** The vault at a glance: its issues, what it signed, its health, its wallets and keys. */
export function Home(): ReactNode {
  return (
    <>
      <PageHead
        title={t('Home')}
        action={
          <Group gap="sm">
            <Button component={Link} href="/wallets/new" leftSection={<IconPlus size={16} aria-hidden />}>
              {t('Create wallet')}
            </Button>
            <Button
              component={Link}
              href="/sign"
              variant="default"
              leftSection={<IconSignature size={16} aria-hidden />}
            >
              {t('Sign something')}
            </Button>
          </Group>
        }
      />
      <SetUp />
      <NeedsAttention />
      <div className="kh-home">
        <SigningDays />
        <Health />
        <HomeWallets />
        <LoadBoundary>
          <Suspense>
            <HomeBudgets />
          </Suspense>
        </LoadBoundary>
        <KeysToReview />
      </div>
      <Recent />
    </>
  );
}

/** Issues that the steps of a new vault show too. */
const inSetUp = /^(recovery|backup none|backup unproven)$/;

/** The issues; a calm notice if there are none. */
function NeedsAttention(): ReactNode {
  const isNew = useSetUp() !== undefined;
  const attention = useAttention()?.filter(({ id }) => !isNew || !inSetUp.test(id));
  if (attention === undefined) return <LoadingRows label={t('Loading the vault’s state')} rows={1} />;
  if (attention.length === 0) {
    if (isNew) return null;
    return (
      <p className="kh-home-well" role="status">
        <IconCheck size={18} aria-hidden />
        {t('Nothing needs your attention.')}
      </p>
    );
  }
  return (
    <Panel kind="brass" title={t('Needs your attention')}>
      <ul className="kh-home-attention" aria-label={t('Needs your attention')}>
        {attention.map(({ id, text, to, does }) => (
          <li key={id}>
            <span>{text}</span>
            <Link href={to} className="kh-link">
              {does}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const recent = 5;

function Recent(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_activities', {
    paginationOptions: { limit: String(recent) },
  });
  const described = useDescriptions(data?.activities.map(({ id }) => id) ?? []);
  return (
    <Panel
      kind="plain"
      title={t('Recent activity')}
      aside={
        <Link href="/activity" className="kh-link">
          {t('All activity')}
        </Link>
      }
    >
      {isPending && <LoadingRows label={t('Loading the recent activity')} />}
      <Failure title={t('Couldn’t load the recent activity')} error={error} onRetry={() => void refetch()} />
      {data?.activities.length === 0 && (
        <Empty title={t('No activity yet')} icon={IconHistory} level={3}>
          <p>{t('Requests by you and your scripts appear here, in a tamper-evident log.')}</p>
        </Empty>
      )}
      {data !== undefined && data.activities.length > 0 && (
        <ul className="kh-rows" aria-label={t('Recent activity')}>
          {data.activities.map((activity) => (
            <ActivityRow
              key={activity.id}
              activity={activity}
              about={described.get(activity.id)?.about}
              href={`/activity/${activity.id}`}
              more={activity.votes[0] && t('by {{name}}', { name: activity.votes[0].user.userName })}
            >
              <StatusBadge status={activity.status} />
            </ActivityRow>
          ))}
        </ul>
      )}
    </Panel>
  );
}
