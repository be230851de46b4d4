import type { ReactNode } from 'react';
import { Alert, Text } from '@mantine/core';
import { IconSnowflake } from '@tabler/icons-react';
import { t } from '../../app/i18n/text.ts';
import { useStatus } from '../../app/rpc/vault.tsx';
import { exactTime } from '../../ui/text/time.ts';

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
