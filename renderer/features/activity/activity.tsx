import type { ReactNode } from 'react';
import { memo, useCallback, useId, useMemo, useRef, useState } from 'react';
import { Button, Drawer, Stack, TextInput, Title } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ActivityExport } from './activity-export.tsx';
import { ActivityFilters, anything, filterOf, startOfDay } from './activity-filters.tsx';
import { firstOf, Json, Original, StatusBadge, Votes } from './activity-parts.tsx';
import { LogEntries } from './log-entries.tsx';
import { describeType } from './activity-words.ts';
import { Spoken, useDescriptions } from './spoken.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { LogPanel } from './log-panel.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import type { LongRowsHandle } from '../../ui/lists/long-rows.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import type { Activity as ActivityResource, ActivityLine } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/row-time.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { numeral, t } from '../../app/i18n/text.ts';
import { exactTime, millisecondsOf } from '../../ui/text/time.ts';
import { useActivityList } from '../../ui/lists/use-long-list.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { WhatIsSigned } from '../sign/what-is-signed.tsx';
import '../../ui/rows.css';

/** The activity log, newest first; an activity's own address opens it over the list. */
export function Activity({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  return (
    <>
      <PageHead
        title={t('Activity')}
        lead={t('All changes and signatures, newest first. Entries are chained and never removed.')}
      />
      <ActivityList />
      <LogPanel />
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

function ActivityList(): ReactNode {
  const [wish, setWish] = useState(anything);
  const filter = useMemo(() => filterOf(wish), [wish]);
  const { list, retry } = useActivityList(filter);
  const rows = useRef<LongRowsHandle>(null);
  const dayId = useId();
  const isFiltered = Object.keys(filter).length > 0;
  const onShow = useCallback(
    (first: number, last: number) => {
      list.show(first, last);
    },
    [list],
  );
  return (
    <>
      {(isFiltered || list.total > 0) && <ActivityFilters wish={wish} onWish={setWish} />}
      {list.total > 0 && (
        <div className="kh-list-foot">
          <span role="status">
            {list.isComplete
              ? t('{{count}} activities', { count: list.total })
              : t('{{count}} activities so far, still searching', { count: list.total })}
          </span>
          <span className="kh-list-ways">
            <label htmlFor={dayId}>{t('Go to date')}</label>
            <TextInput
              id={dayId}
              type="date"
              size="xs"
              onChange={(event) => {
                const end = startOfDay(event.currentTarget.value, 1);
                if (end !== undefined) rows.current?.scrollTo(list.indexAtTime(end - 1));
              }}
            />
            <ActivityExport filter={filter} />
          </span>
        </div>
      )}
      <Panel kind="plain">
        {list.total === 0 && !list.isComplete && list.error === null && (
          <LoadingRows label={t('Loading the activity log')} rows={6} />
        )}
        <Failure title={t('Couldn’t load the activity log')} error={list.error} onRetry={retry} />
        {list.isComplete && list.total === 0 && (
          <Empty
            title={isFiltered ? t('No matching activity') : t('No activity yet')}
            icon={IconHistory}
            action={
              isFiltered && (
                <Button
                  variant="default"
                  onClick={() => {
                    setWish(anything);
                  }}
                >
                  {t('Clear filters')}
                </Button>
              )
            }
          >
            <p>
              {isFiltered
                ? t('No activity matches all filters.')
                : t('Changes and signatures by you and your scripts appear here.')}
            </p>
          </Empty>
        )}
        {list.total > 0 && (
          <LongRows
            key={JSON.stringify(filter)}
            ref={rows}
            count={list.total}
            label={t('Activities')}
            height={{ wide: 3.5, narrow: 6.25 }}
            prepended={list.prepended}
            isComplete={list.isComplete}
            onShow={onShow}
            row={(index) => <Row line={list.lineAt(index)} />}
          />
        )}
      </Panel>
    </>
  );
}

const tooLong = (size: number): string =>
  t('{{size}} KiB, open to see the request', { size: numeral(Math.ceil(size / 1024)) });

const placeTitle = t('Number in the log');

/** It stays as it is while the list moves. */
const Row = memo(function Row({ line }: { readonly line: ActivityLine | undefined }): ReactNode {
  if (line === undefined) return <span className="kh-row-waiting" aria-label={t('Loading')} role="img" />;
  return (
    // A link of the router would listen to the address.
    <a href={`#/activity/${line.id}`} className="kh-row">
      <span className="kh-clamp">
        <span className="kh-row-name">{describeType(line.type)}</span>{' '}
        <span className="kh-row-more">
          {line.about === undefined ? tooLong(line.intentSize) : <Spoken parts={line.about} />}
        </span>
      </span>
      <span className="kh-row-side kh-activity-side">
        <span className="kh-activity-who">{visibleName(line.userName)}</span>
        <StatusBadge status={line.status} />
        <RowTime at={line.createdAt} />
        <span className="kh-place-number" title={placeTitle}>
          {numeral(line.place)}
        </span>
      </span>
    </a>
  );
});

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
