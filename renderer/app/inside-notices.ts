import { useEffect } from 'react';
import { notifications, notificationsStore } from '@mantine/notifications';

let stopRefusing = (): void => undefined;

/**
 * Notices of what this part shows go with it, those too that come later: an answer that is on its way when the vault is locked,
 * or a person signs out, is for no other person.
 */
export function useInsideNotices(): void {
  useEffect(() => {
    stopRefusing();
    return () => {
      notifications.clean();
      stopRefusing = notificationsStore.subscribe(({ notifications: shown }) => {
        if (shown.length > 0) notifications.clean();
      });
    };
  }, []);
}
