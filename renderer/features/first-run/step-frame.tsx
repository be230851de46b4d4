import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Title } from '@mantine/core';
import { useScreenTitle } from './page.tsx';
import { t } from './text.ts';

interface FrameProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly next: string;
  readonly busy?: boolean;
  readonly onBack?: () => void;
  readonly onNext: () => void;
}

/** One step: its heading, what it asks, and the way on and back. Enter goes on. */
export function StepFrame({ title, children, next, busy = false, onBack, onNext }: FrameProps): ReactNode {
  const heading = useScreenTitle(title);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onNext();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Title order={1} ref={heading} tabIndex={-1} mb="xs">
        {title}
      </Title>
      {children}
      <Group mt="xl" gap="sm" className="lk-noprint">
        <Button type="submit" size="md" loading={busy}>
          {next}
        </Button>
        {onBack !== undefined && (
          <Button variant="subtle" size="md" color="gray" c="dimmed" onClick={onBack} disabled={busy}>
            {t('Back')}
          </Button>
        )}
      </Group>
    </form>
  );
}
