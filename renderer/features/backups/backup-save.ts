import { useState } from 'react';
import { notifications } from '@mantine/notifications';
import type { BackupRecord } from '../../../preload/contract.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';

interface Saving {
  readonly error: Error | null;
  /** The id of the backup that is being saved. */
  readonly saves: string | null;
  readonly save: (backup: BackupRecord) => void;
}

/** Hands copies of backups to the person, to be kept elsewhere; one at a time. */
export function useSaveBackup(): Saving {
  const rpc = useRpc();
  const { error, isPending, run } = useAsyncAction();
  const [last, setLast] = useState('');
  return {
    error,
    saves: isPending ? last : null,
    save({ id }) {
      setLast(id);
      run(async () => {
        const name = await rpc.saveBackup(id);
        if (name === null) return;
        notifications.show({
          title: t('Copy saved'),
          message: t('Keep {{name}} on another computer or disk.', { name }),
        });
      });
    },
  };
}
