import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconSnowflake } from '@tabler/icons-react';
import type { VaultStatus } from '../../../preload/contract.ts';
import { laterDialog } from '../../app/later.tsx';
import { t } from '../../app/i18n/text.ts';
import { useStatus } from '../../app/rpc/vault.tsx';
import './freeze.css';

const label = t('Freeze all signing');

/** Confirms once, says what a freeze costs, and freezes the vault. */
export const FreezeDialog = laterDialog(async () => (await import('./freeze-dialog.tsx')).FreezeDialog);

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
      <Button
        variant="default"
        size="xs"
        leftSection={<IconSnowflake size={15} aria-hidden />}
        aria-label={label}
        data-hint={label}
        aria-haspopup="dialog"
        onClick={() => {
          setAsking(true);
        }}
      >
        {t('Freeze')}
      </Button>
      <FreezeDialog
        opened={asking}
        onClose={() => {
          setAsking(false);
        }}
      />
    </>
  );
}
