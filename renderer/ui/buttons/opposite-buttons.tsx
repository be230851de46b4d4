import type { ReactNode } from 'react';
import { Button } from '@mantine/core';

interface Way {
  readonly text: string;
  /** For a text that alone does not say what it is about. */
  readonly label?: string;
  readonly act: () => void;
}

interface Props {
  readonly isDone: boolean;
  readonly busy: boolean;
  readonly does: Way;
  /** Takes it back. */
  readonly undoes: Way;
  readonly size?: 'xs' | 'sm';
}

/** An act and its opposite. A button keeps its place and meaning: the second press of a hasty person takes nothing back. */
export const OppositeButtons = ({ isDone, busy, does, undoes, size = 'sm' }: Props): ReactNode => (
  <>
    {isDone && (
      <Button variant="default" size={size} loading={busy} aria-label={undoes.label} onClick={undoes.act}>
        {undoes.text}
      </Button>
    )}
    <Button
      variant="default"
      size={size}
      loading={busy && !isDone}
      disabled={isDone}
      aria-label={does.label}
      onClick={does.act}
    >
      {does.text}
    </Button>
  </>
);
