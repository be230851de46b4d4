import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { t } from '../../app/i18n/text.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { apiQueryKey, queryApi, useRpc } from '../../app/rpc/vault.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { StatusBadge } from '../activity/activity-parts.tsx';
import { useDescriptions } from '../activity/spoken.tsx';
import { ActivityRow } from '../activity/activity-row.tsx';
import '../../ui/rows.css';

interface Page {
  readonly activities: readonly Activity[];
  /** The last activity that was read; absent at the end of the log. */
  readonly next?: string;
}

/** The person’s requests, the requests that the person voted on, and those that wait for the person. */
export function OwnActivity(): ReactNode {
  const rpc = useRpc();
  const query = useInfiniteQuery({
    queryKey: apiQueryKey('list_activities', { own: true }),
    queryFn: ({ pageParam }): Promise<Page> =>
      queryApi(rpc, 'list_activities', {
        paginationOptions: pageParam === null ? {} : { after: pageParam },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next ?? null,
  });
  const list = query.data?.pages.flatMap(({ activities }) => activities) ?? [];
  const described = useDescriptions(list.map(({ id }) => id));
  return (
    <>
      <PageHead title={t('Activity')} lead={t('Your requests, and requests that you voted on.')} />
      <Panel kind="plain">
        {query.isPending && <LoadingRows label={t('Loading your activity')} />}
        <Failure
          title={t('Couldn’t load your activity')}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
        {query.isSuccess && list.length === 0 && (
          <Empty title={t('No activity yet')} icon={IconHistory}>
            <p>{t('Your requests and votes appear here.')}</p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="kh-rows" aria-label={t('Activities')}>
            {list.map((activity) => (
              <ActivityRow
                key={activity.id}
                activity={activity}
                about={described.get(activity.id)?.about}
                href={`/approvals/${activity.id}`}
              >
                <StatusBadge status={activity.status} />
              </ActivityRow>
            ))}
          </ul>
        )}
      </Panel>
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('Load more')}
        </Button>
      )}
    </>
  );
}
