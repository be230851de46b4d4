import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { Spoken } from '../activity/spoken.tsx';
import { describeType } from '../activity/activity-words.ts';
import { beginHolding } from './held-votes.ts';
import { sayUnsent, takeUnsentVotes } from './unsent-votes.ts';
import { t } from '../../app/i18n/text.ts';
import { queryApi, useRpc, useStatus } from '../../app/rpc/vault.tsx';
import type { WindowRpc } from '../../../preload/contract.ts';

/** One notice stands for all requests that began to wait. */
const notice = 'approvals';

/**
 * Says on every screen that requests came which need the owner's vote, one by its content and several by their number; and which
 * votes were not sent.
 */
export function ApprovalNotices(): null {
  const rpc = useRpc();
  const { organization, owner } = useStatus();
  const organizationId = organization?.id;
  const userId = owner?.userId;
  // Mounted while the vault is open: what was not sent by its lock is not sent after it.
  useEffect(() => beginHolding(), []);
  useEffect(() => {
    if (organizationId === undefined || userId === undefined) return;
    // A failure leaves the notes for the next window.
    takeUnsentVotes(rpc, organizationId, userId).then(sayUnsent, () => undefined);
  }, [rpc, organizationId, userId]);
  useEffect(() => {
    const waiting = new Set<string>();
    const show = async (): Promise<void> => {
      const [id, ...others] = waiting;
      if (id === undefined) {
        notifications.hide(notice);
        return;
      }
      const said = others.length > 0 ? several(waiting.size) : await one(rpc, id);
      // It was decided, or another came, while its description was on the way.
      if (said === null || !waiting.has(id) || waiting.size !== others.length + 1) return;
      const shown = { id: notice, autoClose: false, ...said } as const;
      notifications.show(shown);
      notifications.update(shown);
    };
    const stop = rpc.onEvent((event) => {
      if (event.kind !== 'activity') return;
      const waits = event.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
      if (!waits && !waiting.delete(event.id)) return;
      if (!waits) {
        void show();
        return;
      }
      void queryApi(rpc, 'get_activity', { activityId: event.id }).then(
        ({ activity }) => {
          if (!activity.canApprove) return;
          waiting.add(activity.id);
          void show();
        },
        // The unlock screen itself says that the vault is locked.
        () => undefined,
      );
    });
    return () => {
      stop();
      notifications.hide(notice);
    };
  }, [rpc]);
  return null;
}

const several = (count: number) => ({
  title: t('{{count}} requests need your approval.', { count }),
  message: t('See Approvals.'),
});

/** @returns null where the vault was locked meanwhile. */
async function one(rpc: WindowRpc, activityId: string) {
  try {
    const { activity } = await queryApi(rpc, 'get_activity', { activityId });
    const { descriptions } = await queryApi(rpc, 'describe_activities', { activityIds: [activityId] });
    const about = descriptions[0]?.about ?? [];
    return {
      title: t('A request needs your approval'),
      message: (
        <>
          {describeType(activity.type)}
          {about.length > 0 && ': '}
          <Spoken parts={about} />{' '}
          {t('Requested by {{userName}}. See Approvals.', {
            userName: activity.votes[0]?.user.userName ?? t('unknown'),
          })}
        </>
      ),
    };
  } catch {
    return null;
  }
}
