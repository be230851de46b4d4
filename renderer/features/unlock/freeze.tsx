import { useState } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { IconSnowflake } from '@tabler/icons-react';
import type { VaultStatus } from '../../../preload/contract.ts';
import { Failure } from '../../ui/feedback.tsx';
import { layers } from '../../app/layers.ts';
import { t } from '../../app/i18n/text.ts';
import { exactTime } from '../../ui/text/time.ts';
import { useStatus, useStatusCall } from '../../app/rpc/vault.tsx';
import './freeze.css';

const label = t('Freeze all signing');

/** True if a frozen vault could be opened again: the keychain alone does not open it. */
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

/** Confirms once, says what a freeze costs, and freezes the vault. */
export function FreezeDialog({ opened, onClose }: DialogProps): ReactNode {
  const freeze = useStatusCall((rpc) => rpc.freeze());
  return (
    <Modal opened={opened} onClose={onClose} title={label} zIndex={layers.freeze}>
      <Stack>
        <Text>
          {t(
            'Signing stops until you unlock with the password or the recovery phrase. Requests that wait for approval are then rejected.',
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
    </Modal>
  );
}

/** On the unlock screen: explains what frozen means. Renders nothing for a vault that is not frozen. */
export function FrozenNotice(): ReactNode {
  const { frozen } = useStatus();
  if (frozen === null) return null;
  return (
    <Alert color="blue" icon={<IconSnowflake aria-hidden />} title={t('All signing is frozen')}>
      {t('Since {{time}}. Only the password or the recovery phrase ends the freeze.', {
        time: exactTime(frozen.at),
      })}
      {frozen.lastSignature !== null && (
        <Text size="sm">{t('Last signature: {{time}}.', { time: exactTime(frozen.lastSignature.at) })}</Text>
      )}
      {frozen.unsaved !== null && (
        <Text size="sm">
          {t('The freeze was not saved: the keychain may open the vault after a restart.')}
        </Text>
      )}
    </Alert>
  );
}
