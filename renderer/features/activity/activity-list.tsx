import type { ReactNode } from 'react';
import { memo, useCallback, useId, useMemo, useRef, useState } from 'react';
import { Button, TextInput } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ActivityExport } from './activity-export.tsx';
import { ActivityFilters, anything, filterOf, startOfDay } from './activity-filters.tsx';
import { StatusBadge } from './activity-parts.tsx';
import { describeType } from './activity-words.ts';
import { Spoken } from './spoken.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import type { LongRowsHandle } from '../../ui/lists/long-rows.tsx';
import { Panel } from '../../ui/page.tsx';
import type { ActivityLine } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/lists/row-time.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { numeral, t } from '../../app/i18n/text.ts';
import { useActivityList } from '../../ui/lists/use-long-list.ts';
import type { ActivityFilter } from '../../ui/lists/use-long-list.ts';
import '../../ui/rows.css';

const none: ActivityFilter = {};

interface Props {
  readonly fixed?: ActivityFilter;
  /** True where the vault has no such object, which may have had activities. */
  readonly isMissing?: boolean;
}

/** All activities, or those that fit a filter that stays, searched and filtered further. */
export function ActivityList({ fixed = none, isMissing = false }: Props): ReactNode {
  const [wish, setWish] = useState(anything);
  const kept = JSON.stringify(fixed);
  const own = useMemo(() => filterOf(wish), [wish]);
  const filter = useMemo(() => ({ ...own, ...(JSON.parse(kept) as ActivityFilter) }), [own, kept]);
  const { list, retry } = useActivityList(filter);
  const rows = useRef<LongRowsHandle>(null);
  const dayId = useId();
  const isFiltered = Object.keys(own).length > 0;
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
            title={
              isFiltered ? t('No matching activity') : isMissing ? t('No activity') : t('No activity yet')
            }
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
                : isMissing
                  ? t('The log has no entry about it.')
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
