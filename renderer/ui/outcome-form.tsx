/** A form, and beside it what will happen. */
import { Stack } from '@mantine/core';
import type { ReactNode, SyntheticEvent } from 'react';
import { Expectations, Panel } from './page.tsx';

interface Props {
  /** Of the form, where the page has others. */
  readonly title?: string;
  readonly onSubmit: (event: SyntheticEvent) => void;
  /** True where a secret is typed, which no browser should keep or fill in. */
  readonly secret?: boolean;
  readonly outcomes: readonly ReactNode[];
  /** Stands below the outcomes. */
  readonly more?: ReactNode;
  /** The fields, and the buttons at the end. */
  readonly children: ReactNode;
}

export const OutcomeForm = ({
  title,
  onSubmit,
  secret = false,
  outcomes,
  more,
  children,
}: Props): ReactNode => (
  <form onSubmit={onSubmit} noValidate className="kh-beside" autoComplete={secret ? 'off' : undefined}>
    <Panel {...(title !== undefined && { title })}>
      <Stack gap="lg">{children}</Stack>
    </Panel>
    <aside>
      <Expectations items={outcomes} />
      {more}
    </aside>
  </form>
);
