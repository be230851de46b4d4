import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Title } from '@mantine/core';
import { useScreenTitle } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';

interface FrameProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly next: string;
  readonly busy?: boolean;
  readonly onBack?: () => void;
  readonly onNext: () => void;
}

/** One step: its heading, its fields, and the buttons for next and back. Enter is next. */
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
      <Group mt="xl" gap="sm" className="kh-noprint">
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
