import type { ReactNode } from 'react';
import { Button, Drawer, Stack, Title } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { ActivityList } from './activity-list.tsx';
import { firstOf, Json, Original, StatusBadge, Votes } from './activity-parts.tsx';
import { LogEntries } from './log-entries.tsx';
import { describeType } from './activity-words.ts';
import { Spoken, useDescriptions } from './spoken.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { LogPanel } from './log-panel.tsx';
import { useTopmost } from '../../ui/dialog/topmost.ts';
import { Facts, PageHead } from '../../ui/page.tsx';
import type { Activity as ActivityResource } from '../../app/rpc/resources.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { exactTime, millisecondsOf } from '../../ui/text/time.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { WhatIsSigned } from '../sign/what-is-signed.tsx';

/** The activity log, newest first; an activity's own address opens it over the list. */
export function Activity({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  const isTopmost = useTopmost(activityId !== undefined);
  return (
    <>
      <PageHead
        title={t('Activity')}
        lead={t('All changes and signatures, newest first. Entries are chained, never removed.')}
        action={
          <Button component={Link} href="/activity/security" variant="default">
            {t('Security timeline')}
          </Button>
        }
      />
      <ActivityList />
      <LogPanel />
      <Drawer
        opened={activityId !== undefined}
        onClose={() => {
          if (isTopmost()) navigate('/activity');
        }}
        position="right"
        size={680}
        title={t('Activity')}
      >
        {activityId !== undefined && <ActivityDetail activityId={activityId} />}
      </Drawer>
    </>
  );
}

function ActivityDetail({ activityId }: { readonly activityId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_activity', {
    activityId,
  });
  if (isPending) return <LoadingRows label={t('Loading the activity')} />;
  if (data === undefined) {
    return <Failure title={t('Couldn’t load the activity')} error={error} onRetry={() => void refetch()} />;
  }
  return <Described activity={data.activity} />;
}

function Described({ activity }: { readonly activity: ActivityResource }): ReactNode {
  const { failure } = activity;
  const about = useDescriptions([activity.id]).get(activity.id)?.about ?? [];
  return (
    <Stack gap="lg">
      <div>
        <Title order={2}>{describeType(activity.type)}</Title>
        <p className="kh-lead">
          <Spoken parts={about} links />
        </p>
      </div>
      <Facts
        rows={[
          [t('Status'), <StatusBadge key="outcome" status={activity.status} />],
          ...(failure?.message === undefined ? [] : ([[t('Error'), failure.message]] as const)),
          [t('Time'), exactTime(millisecondsOf(activity.createdAt))],
          [t('ID'), <ShortId key="id" text={activity.id} copy={t('Copy activity ID')} />],
          [
            t('Fingerprint'),
            <ShortId key="fingerprint" text={activity.fingerprint} copy={t('Copy fingerprint')} />,
          ],
        ]}
      />
      <WhatIsSigned activity={activity} />
      <Votes activity={activity} />
      <LogEntries activityId={activity.id} />
      <Original>
        <Json title={t('Request')} copy={t('Copy request JSON')} value={firstOf(activity.intent)} />
        <Json title={t('Result')} copy={t('Copy result JSON')} value={firstOf(activity.result)} />
      </Original>
    </Stack>
  );
}
