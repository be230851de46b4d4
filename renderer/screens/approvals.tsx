import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Button, Drawer, Group, Kbd, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { firstOf, Json, Votes } from '../parts/activity-parts.tsx';
import { ActivityRow } from '../parts/activity-row.tsx';
import { describeType, summarize } from '../parts/activity-words.ts';
import { useVote, useWaiting } from '../parts/approvals.ts';
import { Facts, PageHead, Panel } from '../parts/page.tsx';
import { ShortId } from '../parts/identifier.tsx';
import type { Activity } from '../parts/resources.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { t } from '../parts/text.ts';
import { exactTime, millisecondsOf } from '../parts/time.ts';
import { toBeSignedBy } from '../parts/to-be-signed.ts';
import { useAsk } from '../parts/vault.tsx';
import { WhatIsSigned } from '../parts/what-is-signed.tsx';
import '../parts/rows.css';

/** What waits for votes; an activity's own address opens it over the list. */
export function Approvals({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  const waiting = useWaiting();
  const list = waiting.data?.activities ?? [];
  return (
    <>
      <PageHead
        title={t('Approvals')}
        lead={t(
          'What somebody asked for and others must agree to. An approval counts for a day, counted from the first; one rejection ends it.',
        )}
      />
      <Panel kind="plain">
        {waiting.isPending && <LoadingRows what={t('what waits for approval')} />}
        <Failure
          title={t('What waits for approval could not be read')}
          error={waiting.error}
          onRetry={() => void waiting.refetch()}
        />
        {waiting.isSuccess && list.length === 0 && (
          <Empty title={t('Nothing waits for approval')}>
            <p>
              {t(
                'A policy can ask for more than one person’s vote, and so can the root quorum. Whatever is asked for then waits here until enough have agreed.',
              )}
            </p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="lk-rows" aria-label={t('Waiting for approval')}>
            {list.map((activity) => (
              <ActivityRow
                key={activity.id}
                activity={activity}
                href={`/approvals/${activity.id}`}
                more={<>{t('asked for by {{activity}}', { activity: askedBy(activity) })}</>}
              >
                <span className="lk-badge" data-tone="waiting">
                  {activity.canApprove ? t('Needs your vote') : t('Waits for others')}
                </span>
              </ActivityRow>
            ))}
          </ul>
        )}
      </Panel>
      <Drawer
        opened={activityId !== undefined}
        onClose={() => {
          navigate('/approvals');
        }}
        position="right"
        size={680}
        title={t('Approval')}
      >
        {activityId !== undefined && <Approval key={activityId} activityId={activityId} />}
      </Drawer>
    </>
  );
}

const askedBy = ({ votes }: Activity): string => votes[0]?.user.userName ?? 'somebody';

function Approval({ activityId }: { readonly activityId: string }): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ activity: Activity }>('get_activity', { activityId });
  if (isPending) return <LoadingRows what={t('the activity')} />;
  if (data === undefined) {
    return (
      <Failure title={t('The activity could not be read')} error={error} onRetry={() => void refetch()} />
    );
  }
  const { activity } = data;
  return (
    <Stack gap="lg">
      <div>
        <Title order={2}>{describeType(activity.type)}</Title>
        <p className="lk-lead">{summarize(activity)}</p>
      </div>
      <Facts
        rows={[
          [t('Asked for by'), askedBy(activity)],
          [t('When'), exactTime(millisecondsOf(activity.createdAt))],
          [
            t('Fingerprint'),
            <ShortId key="fingerprint" text={activity.fingerprint} what={t('fingerprint')} />,
          ],
        ]}
      />
      <Asked activity={activity} />
      <Votes activity={activity} />
      <Decide activity={activity} />
    </Stack>
  );
}

/** What is signed in plain language, where something is; the rest as it was sent. */
function Asked({ activity }: { readonly activity: Activity }): ReactNode {
  const json = <Json title={t('What was asked')} what={t('intent')} value={firstOf(activity.intent)} />;
  if (toBeSignedBy(activity).length === 0) return json;
  return (
    <>
      <WhatIsSigned activity={activity} />
      <details>
        <summary>{t('As it was sent')}</summary>
        {json}
      </details>
    </>
  );
}

/** The two buttons, and the keys A and D for who goes through many. */
function Decide({ activity }: { readonly activity: Activity }): ReactNode {
  const [, navigate] = useLocation();
  const approve = useVote('approve');
  const reject = useVote('reject');
  const busy = approve.isPending || reject.isPending;
  const waits = activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

  const vote = (how: 'approve' | 'reject') => {
    (how === 'approve' ? approve : reject).mutate(activity.fingerprint, {
      onSuccess({ status }) {
        notifications.show({ title: describeType(activity.type), message: saidOf(status) });
        navigate('/approvals');
      },
    });
  };

  useEffect(() => {
    if (!waits || busy) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === 'a' && activity.canApprove) vote('approve');
      else if (key === 'd' && activity.canReject) vote('reject');
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  });

  if (!waits) return <Text>{t('It waits for no votes any more.')}</Text>;
  return (
    <Stack gap="sm">
      <Failure title={t('It was not approved')} error={approve.error} />
      <Failure title={t('It was not rejected')} error={reject.error} />
      {!activity.canApprove && (
        <Text size="sm">
          {activity.canReject
            ? t('You have approved this. It waits for others.')
            : t('Your vote is not needed: neither the root quorum nor a policy names you.')}
        </Text>
      )}
      <Group gap="sm">
        <Button
          leftSection={<IconCheck size={16} aria-hidden />}
          rightSection={<Kbd aria-hidden>A</Kbd>}
          aria-keyshortcuts="A"
          disabled={!activity.canApprove || reject.isPending}
          loading={approve.isPending}
          onClick={() => {
            vote('approve');
          }}
        >
          {t('Approve')}
        </Button>
        <Button
          variant="default"
          className="lk-danger-button"
          leftSection={<IconX size={16} aria-hidden />}
          rightSection={<Kbd aria-hidden>D</Kbd>}
          aria-keyshortcuts="D"
          disabled={!activity.canReject || approve.isPending}
          loading={reject.isPending}
          onClick={() => {
            vote('reject');
          }}
        >
          {t('Reject')}
        </Button>
      </Group>
    </Stack>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

function saidOf(status: string): string {
  if (status === 'ACTIVITY_STATUS_COMPLETED') return t('Approved, and done.');
  return status === 'ACTIVITY_STATUS_REJECTED'
    ? t('Rejected, for good.')
    : t('Approved. It waits for others.');
}
