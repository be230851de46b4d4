import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { longestName, nameHint } from './text/names.ts';
import { t } from '../app/i18n/text.ts';
import { onText } from './on-text.ts';

interface Props {
  readonly label?: string;
  readonly description?: string;
  readonly value: string;
  readonly problem: string | null;
  /** Names that it should not be taken for. */
  readonly others?: readonly string[] | undefined;
  readonly onType: (value: string) => void;
  /** Takes the focus when its dialog opens. */
  readonly first?: boolean;
}

/** The name of something in the vault. */
export function NameField({
  label = t('Name'),
  description = t('A unique name.'),
  value,
  problem,
  others = [],
  onType,
  first = false,
}: Props): ReactNode {
  const hint = nameHint(value, others);
  return (
    <TextInput
      label={label}
      description={
        <>
          {description}
          {hint !== null && <strong className="kh-name-hint"> {hint}</strong>}
        </>
      }
      autoComplete="off"
      required
      value={value}
      maxLength={longestName}
      error={problem}
      data-autofocus={first || undefined}
      onChange={onText(onType)}
    />
  );
}
