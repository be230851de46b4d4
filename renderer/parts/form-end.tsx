import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { Link } from 'wouter';
import { Failure } from './states.tsx';
import { t } from './text.ts';

interface Props {
  /** Says what did not happen, above the reason. */
  readonly failed: string;
  readonly error: Error | null;
  readonly busy: boolean;
  /** What the button does. */
  readonly does: string;
  /** Where one goes who does not want it. */
  readonly back: string;
}

/** The end of a form: why it was refused, its button, and the way back. */
export function FormEnd({ failed, error, busy, does, back }: Props): ReactNode {
  return (
    <>
      <Failure title={failed} error={error} />
      <Group gap="sm">
        <Button type="submit" loading={busy}>
          {does}
        </Button>
        <Button variant="subtle" color="gray" component={Link} href={back}>
          {t('Cancel')}
        </Button>
      </Group>
    </>
  );
}
