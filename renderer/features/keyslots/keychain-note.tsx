import type { ReactNode } from 'react';
import { Button, Group, Text } from '@mantine/core';
import { whyNoKeychain } from './keyslot-texts.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatus, useStatusCall } from '../../app/rpc/vault.tsx';

interface Props {
  /** Says what cannot be done, and why. */
  readonly says: (reason: string) => string;
  /** Told when the keychain, looked for again, is there. */
  readonly onFound?: () => void;
}

/** The reason why the keychain cannot be used, and a button to check again after a fix. */
export function KeychainNote({ says, onFound }: Props): ReactNode {
  const { keychain } = useStatus();
  const look = useStatusCall((rpc) => rpc.probeKeychain());
  if (keychain.available) {
    return look.isSuccess && <Text role="status">{t('The keychain is available again.')}</Text>;
  }
  return (
    <Group gap="xs" align="center">
      <Text size="sm" c="dimmed" role="status">
        {says(whyNoKeychain(keychain))}
      </Text>
      {keychain.off !== true && (
        <Button
          variant="default"
          size="xs"
          loading={look.isPending}
          onClick={() => {
            look.mutate(undefined, {
              onSuccess(status) {
                if (status.keychain.available) onFound?.();
              },
            });
          }}
        >
          {t('Retry')}
        </Button>
      )}
    </Group>
  );
}
