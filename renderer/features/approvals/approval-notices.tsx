import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { describeType } from './activity-words.ts';
import type { Activity } from './resources.ts';
import { t } from './text.ts';
import { ask, useBridge } from './vault.tsx';

/** Says on every screen that something came which needs the owner's vote. */
export function ApprovalNotices(): null {
  const bridge = useBridge();
  useEffect(
    () =>
      bridge.onEvent((event) => {
        if (event.kind !== 'activity') return;
        const notice = t('approval {{id}}', { id: event.id });
        if (event.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
          notifications.hide(notice);
          return;
        }
        void ask<{ readonly activity: Activity }>(bridge, 'get_activity', { activityId: event.id }).then(
          ({ activity }) => {
            if (!activity.canApprove) return;
            notifications.show({
              id: notice,
              title: t('Something needs your vote'),
              message: t('{{type}}, asked for by {{userName}}. It is under Approvals.', {
                type: describeType(activity.type),
                userName: activity.votes[0]?.user.userName ?? 'somebody',
              }),
              autoClose: false,
            });
          },
          // The door says itself that it is shut.
          () => undefined,
        );
      }),
    [bridge],
  );
  return null;
}
