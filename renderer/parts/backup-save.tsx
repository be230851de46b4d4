import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { BackupRecord } from '../../preload/contract.ts';
import { Failure } from './states.tsx';
import { useTask } from './task.ts';
import { t } from './text.ts';
import { useBridge } from './vault.tsx';

/** Hands a copy of a backup to the person, to be kept elsewhere. */
export function SaveBackup({ backup }: { readonly backup: BackupRecord }): ReactNode {
  const bridge = useBridge();
  const saving = useTask();
  return (
    <>
      <Failure title={t('No copy was saved')} error={saving.error} />
      <Button
        variant="default"
        size="xs"
        loading={saving.isPending}
        aria-label={t('Save a copy {{file}}', { file: backup.file })}
        onClick={() => {
          saving.run(async () => {
            const name = await bridge.saveBackup(backup.id);
            if (name !== null) {
              notifications.show({
                title: t('Here is your copy'),
                message: t('{{name}}. Keep it elsewhere than on this computer.', { name }),
              });
            }
          });
        }}
      >
        {t('Save a copy')}
      </Button>
    </>
  );
}
