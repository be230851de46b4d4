import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { t } from './text.ts';
import { useBridge } from './vault.tsx';

/** Longer ones are for a program to read. */
const longestCode = 32;

/** Says on every screen that a code came which is shown on this computer. */
export function MessageNotices(): null {
  const bridge = useBridge();
  useEffect(
    () =>
      bridge.onEvent((event) => {
        if (event.kind !== 'message') return;
        void bridge.shownMessages().then(
          (messages) => {
            const message = messages.find(({ id }) => id === event.id);
            if (message === undefined) return;
            notifications.show({
              id: `message ${message.id}`,
              title: t('A code for {{to}}', { to: message.to }),
              message: message.code.length <= longestCode ? message.code : t('It is under Messages.'),
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
