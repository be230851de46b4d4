import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { longestName } from './names.ts';

interface Props {
  readonly label?: string;
  readonly description?: string;
  readonly value: string;
  readonly problem: string | null;
  readonly onType: (value: string) => void;
  /** Takes the focus when its dialog opens. */
  readonly first?: boolean;
}

/** The name of something in the vault. */
export function NameField({
  label = 'Name',
  description = 'For you and your scripts; names are unique in the vault.',
  value,
  problem,
  onType,
  first = false,
}: Props): ReactNode {
  return (
    <TextInput
      label={label}
      description={description}
      autoComplete="off"
      required
      value={value}
      maxLength={longestName}
      error={problem}
      data-autofocus={first || undefined}
      onChange={(event) => {
        onType(event.currentTarget.value);
      }}
    />
  );
}
