import { useState } from 'react';
import type { ReactNode } from 'react';
import { Checkbox, Stack, Textarea } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import './value-field.css';

interface Props {
  readonly value: string;
  readonly problem: string | null;
  readonly onType: (value: string) => void;
}

/** The longest value that the vault takes, in bytes. */
const mostBytes = 65_536;

/** Why a value cannot be stored; null when it can. */
export function valueProblem(value: string): string | null {
  if (value === '') return t('Enter the value.');
  return new TextEncoder().encode(value).length > mostBytes ? t('The value is longer than 64 KiB.') : null;
}

/** A value of one line or several, which is dots until it is asked for. */
export function ValueField({ value, problem, onType }: Props): ReactNode {
  const [shown, setShown] = useState(false);
  return (
    <Stack gap="xs">
      <Textarea
        label={t('Value')}
        description={t('Stored to the letter, with its line breaks.')}
        autosize
        minRows={2}
        maxRows={10}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        required
        className={shown ? 'kh-mono-input' : 'kh-mono-input kh-dots'}
        value={value}
        error={problem}
        onChange={(event) => {
          onType(event.currentTarget.value);
        }}
      />
      <Checkbox
        label={t('Show the value')}
        checked={shown}
        onChange={(event) => {
          setShown(event.currentTarget.checked);
        }}
      />
    </Stack>
  );
}
