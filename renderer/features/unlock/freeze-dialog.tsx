import type { ReactNode } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { layers } from '../../app/layers.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatusCall } from '../../app/rpc/vault.tsx';

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Confirms once, says what a freeze costs, and freezes the vault. */
export function FreezeDialog({ opened, onClose }: DialogProps): ReactNode {
  const freeze = useStatusCall((rpc) => rpc.freeze());
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Freeze all signing')} zIndex={layers.freeze}>
      <Stack>
        <Text>
          {t(
            'Signing stops until you unlock with the password or recovery phrase. Waiting requests are then rejected.',
          )}
        </Text>
        <Failure title={t('Couldn’t complete the freeze')} error={freeze.error} />
        <Group gap="sm">
          <Button
            color="red"
            loading={freeze.isPending}
            data-autofocus
            onClick={() => {
              freeze.mutate(undefined);
            }}
          >
            {t('Freeze now')}
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
