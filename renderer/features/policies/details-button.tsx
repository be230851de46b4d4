import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';

interface Props {
  /** The name of the row, in words. */
  readonly of: string;
  readonly open: boolean;
  readonly onToggle: (open: boolean) => void;
}

/** Shows more of a row of a list, and hides it again. */
export const DetailsButton = ({ of, open, onToggle }: Props): ReactNode => (
  <Button
    size="compact-xs"
    variant="default"
    flex="none"
    aria-expanded={open}
    aria-label={t('Details: {{activity}}', { activity: of })}
    onClick={() => {
      onToggle(!open);
    }}
  >
    {t('Details')}
  </Button>
);
