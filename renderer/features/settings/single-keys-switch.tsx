import type { ReactNode } from 'react';
import { Switch } from '@mantine/core';
import { switchSingleKeys, useSingleKeys } from '../../app/shell/single-keys.ts';
import { t } from '../../app/i18n/text.ts';

/** Switches off the keys without a modifier, in this browser. */
export const SingleKeysSwitch = (): ReactNode => (
  <Switch
    label={t('Single-key shortcuts')}
    description={t('A, D, J and K in Approvals, and ? for the list of shortcuts.')}
    checked={useSingleKeys()}
    onChange={(event) => {
      switchSingleKeys(event.currentTarget.checked);
    }}
  />
);
