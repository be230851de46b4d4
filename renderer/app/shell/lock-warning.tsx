import { useEffect } from 'react';
import { notifications } from '@mantine/notifications';
import { t } from '../i18n/text.ts';
import { useRpc } from '../rpc/vault.tsx';
import { onUse } from '../rpc/window-use.ts';

const id = 'lock-soon';

/** Says on every screen that the vault locks soon, until a person uses the window. */
export function LockWarning(): null {
  const rpc = useRpc();
  useEffect(() => {
    // Listens while there is a warning alone: keys and moves of the pointer are many.
    let stopUse: (() => void) | undefined;
    const hide = () => {
      stopUse?.();
      stopUse = undefined;
      notifications.hide(id);
    };
    const stopEvents = rpc.onEvent((event) => {
      if (event.kind !== 'lockSoon') return;
      hide();
      if (event.seconds === null) return;
      notifications.show({
        id,
        title: t('The vault locks in {{count}} seconds', { count: event.seconds }),
        message: t('Press a key or move the pointer to keep it open. What you typed stays.'),
        autoClose: false,
      });
      stopUse = onUse(hide);
    });
    return () => {
      stopEvents();
      hide();
    };
  }, [rpc]);
  return null;
}
