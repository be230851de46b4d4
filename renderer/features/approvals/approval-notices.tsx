import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { describeType } from '../activity/activity-words.ts';
import { dropHeldVotes } from './held-votes.ts';
import { t } from '../../app/i18n/text.ts';
import { queryApi, useRpc } from '../../app/rpc/vault.tsx';

/** Says on every screen that something came which needs the owner's vote. */
export function ApprovalNotices(): null {
  const rpc = useRpc();
  // Mounted while the vault is open: what was not sent by its lock is not sent after it.
  useEffect(() => dropHeldVotes, []);
  useEffect(
    () =>
      rpc.onEvent((event) => {
        if (event.kind !== 'activity') return;
        const notice = t('approval {{id}}', { id: event.id });
        if (event.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
          notifications.hide(notice);
          return;
        }
        void queryApi(rpc, 'get_activity', { activityId: event.id }).then(
          ({ activity }) => {
            if (!activity.canApprove) return;
            notifications.show({
              id: notice,
              title: t('A request needs your approval'),
              message: t('{{type}}, requested by {{userName}}. See Approvals.', {
                type: describeType(activity.type),
                userName: activity.votes[0]?.user.userName ?? 'unknown',
              }),
              autoClose: false,
            });
          },
          // The unlock screen itself says that the vault is locked.
          () => undefined,
        );
      }),
    [rpc],
  );
  return null;
}
