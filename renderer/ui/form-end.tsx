import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { Link } from 'wouter';
import { Failure } from './feedback.tsx';
import { t } from '../app/i18n/text.ts';

interface Props {
  /** Says what did not happen, above the reason. */
  readonly failed: string;
  readonly error: Error | null;
  readonly busy: boolean;
  /** The text of the button. */
  readonly does: string;
  readonly danger?: boolean;
  /** The address where one goes who does not want it, or what ends the form. */
  readonly back: string | (() => void);
  /** The text of the link back once there is nothing left to cancel. */
  readonly done?: string | undefined;
}

/** The end of a form: why it was refused, its button, and the way back. */
export function FormEnd({ failed, error, busy, does, danger = false, back, done }: Props): ReactNode {
  const way = typeof back === 'string' ? { component: Link, href: back } : { onClick: back };
  return (
    <>
      <Failure title={failed} error={error} />
      <Group gap="sm">
        <Button type="submit" loading={busy} {...(danger ? { color: 'red' } : {})}>
          {does}
        </Button>
        <Button variant="subtle" color="gray" {...way}>
          {done ?? t('Cancel')}
        </Button>
      </Group>
    </>
  );
}
