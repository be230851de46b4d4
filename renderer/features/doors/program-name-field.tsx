import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { onText } from '../../ui/on-text.ts';

interface Props {
  readonly label: string;
  readonly description: string;
  readonly value: string;
  /** As `programNameProblem` says it. */
  readonly problem: string | null;
  readonly onType: (value: string) => void;
}

/** The name of a program, which commands and addresses have in them. */
export function ProgramNameField({ label, description, value, problem, onType }: Props): ReactNode {
  return (
    <TextInput
      label={label}
      description={description}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      required
      data-autofocus
      value={value}
      error={problem}
      onChange={onText(onType)}
    />
  );
}
