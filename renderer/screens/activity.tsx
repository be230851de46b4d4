import type { ReactNode } from 'react';
import { useState } from 'react';
import { Button, Drawer, Group, Select, Stack, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import {
  describeStatus,
  describeType,
  filterStatuses,
  summarize,
  typeFilters,
} from '../parts/activity-words.ts';
import { ActivityRow } from '../parts/activity-row.tsx';
import { firstOf, Json, StatusBadge, Votes } from '../parts/activity-parts.tsx';
import { ShortId } from '../parts/identifier.tsx';
import { LogPanel } from '../parts/log-panel.tsx';
import { Facts, PageHead, Panel } from '../parts/page.tsx';
import type { Activity as ActivityRecord } from '../parts/resources.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { t } from '../parts/text.ts';
import { exactTime, millisecondsOf } from '../parts/time.ts';
import { ask, askKey, useAsk, useBridge } from '../parts/vault.tsx';
import { WhatIsSigned } from '../parts/what-is-signed.tsx';
import '../parts/rows.css';

const atOnce = 50;

/** The activity log, newest first; an activity's own address opens it over the list. */
export function Activity({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const bridge = useBridge();
  const [, navigate] = useLocation();
  const [type, setType] = useState<string | null>(null);
  const [status, setStatus] = useState<string | null>(null);
  const types = typeFilters.find(({ label }) => label === type)?.types;
  const filter = {
    ...(types === undefined ? {} : { filterByType: types }),
    ...(status === null ? {} : { filterByStatus: [status] }),
  };
  const log = useInfiniteQuery({
    queryKey: askKey('list_activities', filter),
    queryFn: ({ pageParam }) =>
      ask<{ activities: readonly ActivityRecord[] }>(bridge, 'list_activities', {
        ...filter,
        paginationOptions: { limit: String(atOnce), ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ activities }) =>
      activities.length < atOnce ? null : (activities.at(-1)?.id ?? null),
  });
  const list = log.data?.pages.flatMap(({ activities }) => activities) ?? [];
  const filtered = type !== null || status !== null;

  return (
    <>
      <PageHead
        title={t('Activity')}
        lead={t(
          'Everything that changed something or signed something, newest first. Entries are only ever added, and each carries a seal of the one before it.',
        )}
      />
      <LogPanel />
      <Group mb="md" gap="sm" align="end">
        <Select
          label={t('What')}
          placeholder={t('Everything')}
          clearable
          data={typeFilters.map(({ label }) => label)}
          value={type}
          onChange={setType}
          w={240}
        />
        <Select
          label={t('Outcome')}
          placeholder={t('Any')}
          clearable
          data={filterStatuses.map((value) => ({ value, label: describeStatus(value).label }))}
          value={status}
          onChange={setStatus}
          w={190}
        />
      </Group>
      <Panel kind="plain">
        {log.isPending && <LoadingRows what={t('the activity log')} rows={6} />}
        <Failure
          title={t('The activity log could not be read')}
          error={log.error}
          onRetry={() => void log.refetch()}
        />
        {log.isSuccess && list.length === 0 && (
          <Empty
            title={filtered ? t('No activity of this kind') : t('Nothing has happened yet')}
            action={
              filtered && (
                <Button
                  variant="default"
                  onClick={() => {
                    setType(null);
                    setStatus(null);
                  }}
                >
                  {t('Show everything')}
                </Button>
              )
            }
          >
            <p>
              {filtered
                ? t('The log has entries, but none that fits both filters.')
                : t(
                    'Wallets and keys you make and payloads you or your scripts sign appear here, with who asked and what came of it.',
                  )}
            </p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="lk-rows" aria-label={t('Activities')}>
            {list.map((activity) => (
              <ActivityRow key={activity.id} activity={activity} href={`/activity/${activity.id}`}>
                <StatusBadge status={activity.status} />
              </ActivityRow>
            ))}
          </ul>
        )}
      </Panel>
      {log.hasNextPage && (
        <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {t('Load more')}
        </Button>
      )}
      <Drawer
        opened={activityId !== undefined}
        onClose={() => {
          navigate('/activity');
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
  const { data, error, isPending, refetch } = useAsk<{ activity: ActivityRecord }>('get_activity', {
    activityId,
  });
  if (isPending) return <LoadingRows what={t('the activity')} />;
  if (data === undefined) {
    return (
      <Failure title={t('The activity could not be read')} error={error} onRetry={() => void refetch()} />
    );
  }
  const { activity } = data;
  const { failure } = activity;
  return (
    <Stack gap="lg">
      <div>
        <Title order={2}>{describeType(activity.type)}</Title>
        <p className="lk-lead">{summarize(activity)}</p>
      </div>
      <Facts
        rows={[
          [t('Outcome'), <StatusBadge key="outcome" status={activity.status} />],
          ...(failure?.message === undefined ? [] : ([[t('Why it failed'), failure.message]] as const)),
          [t('When'), exactTime(millisecondsOf(activity.createdAt))],
          [
            t('Type'),
            <span key="type" className="lk-mono">
              {activity.type}
            </span>,
          ],
          [t('Id'), <ShortId key="id" text={activity.id} what={t('activity id')} />],
          [
            t('Fingerprint'),
            <ShortId key="fingerprint" text={activity.fingerprint} what={t('fingerprint')} />,
          ],
        ]}
      />
      <WhatIsSigned activity={activity} />
      <Votes activity={activity} />
      <Json title={t('What was asked')} what={t('intent')} value={firstOf(activity.intent)} />
      <Json title={t('What came of it')} what={t('result')} value={firstOf(activity.result ?? {})} />
    </Stack>
  );
}
