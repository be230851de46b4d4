import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { t } from '../../app/i18n/text.ts';
import { useLostVotes } from './held-votes.ts';

/** Says on the locked vault’s screen that its lock came before held votes were sent. */
export function LostVotes(): ReactNode {
  const count = useLostVotes();
  if (count === 0) return null;
  return (
    <Alert color="brass" variant="light" className="kh-brass-alert" icon={<IconAlertTriangle aria-hidden />}>
      {t('{{count}} votes were not sent. Unlock and vote again.', { count })}
    </Alert>
  );
}
