import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';

/** Longer ones are for a program to read. */
const longestCode = 32;

/** Says on every screen that a code came which is shown on this computer. */
export function MessageNotices(): null {
  const rpc = useRpc();
  useEffect(
    () =>
      rpc.onEvent((event) => {
        if (event.kind !== 'message') return;
        void rpc.shownMessages().then(
          (messages) => {
            const message = messages.find(({ id }) => id === event.id);
            if (message === undefined) return;
            notifications.show({
              id: `message ${message.id}`,
              title: t('Code for {{to}}', { to: message.to }),
              message:
                message.code.length <= longestCode ? message.code : t('Open Messages to see the code.'),
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
