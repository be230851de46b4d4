import { useState } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { IconSnowflake } from '@tabler/icons-react';
import type { VaultStatus } from '../../preload/contract.ts';
import { Failure } from './states.tsx';
import { layers } from './layers.ts';
import { t } from './text.ts';
import { exactTime } from './time.ts';
import { useStatus, useStatusCall } from './vault.tsx';
import './freeze.css';

const label = t('Freeze all signing');

/** Whether a frozen vault could be opened again: what only the keychain opens could not. */
export const canFreeze = ({ keyslots }: Pick<VaultStatus, 'keyslots'>): boolean =>
  keyslots.some((kind) => kind !== 'keychain');

/** The brake for all signing. */
export function FreezeButton(): ReactNode {
  const status = useStatus();
  const [asking, setAsking] = useState(false);
  if (!canFreeze(status)) return null;
  return (
    <>
      <Tooltip label={label}>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconSnowflake size={15} aria-hidden />}
          aria-label={label}
          aria-haspopup="dialog"
          onClick={() => {
            setAsking(true);
          }}
        >
          {t('Freeze')}
        </Button>
      </Tooltip>
      <FreezeDialog
        opened={asking}
        onClose={() => {
          setAsking(false);
        }}
      />
    </>
  );
}

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Asks once, says what it costs, and locks the vault harder than `Lock` does. */
export function FreezeDialog({ opened, onClose }: DialogProps): ReactNode {
  const freeze = useStatusCall((bridge) => bridge.freeze());
  return (
    <Modal opened={opened} onClose={onClose} title={label} zIndex={layers.freeze}>
      <Stack>
        <Text>
          {t(
            'The keys leave memory at once, and nothing is signed. Only the password or the recovery phrase opens the vault again; the keychain does not. Requests that wait for votes are rejected when it opens.',
          )}
        </Text>
        <Failure title={t('The freeze met a problem')} error={freeze.error} />
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
    </Modal>
  );
}

/** On the threshold of a frozen vault: what that means; nothing where it is not frozen. */
export function FrozenNotice(): ReactNode {
  const { frozen } = useStatus();
  if (frozen === null) return null;
  return (
    <Alert color="blue" icon={<IconSnowflake aria-hidden />} title={t('All signing is frozen')}>
      {t(
        'Since {{time}}. The password or the recovery phrase opens the vault and ends the freeze; the keychain does not.',
        {
          time: exactTime(frozen.at),
        },
      )}
      {frozen.lastSignature !== null && (
        <Text size="sm">
          {t('The last signature was given on {{time}}.', { time: exactTime(frozen.lastSignature.at) })}
        </Text>
      )}
      {frozen.unsaved !== null && (
        <Text size="sm">
          {t('The disk could not note the freeze: after a restart the keychain may open the vault.')}
        </Text>
      )}
    </Alert>
  );
}
