import type { ReactNode } from 'react';
import { Select } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import { lifetimes } from './lifetimes.ts';

interface Props {
  /** Seconds as digits; empty for no end. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The field for how long a key lasts. */
export function LifetimeSelect({ value, onChange }: Props): ReactNode {
  return (
    <Select
      label={t('Expires')}
      data={lifetimes}
      value={value}
      allowDeselect={false}
      maw={240}
      onChange={(chosen) => {
        onChange(chosen ?? '');
      }}
    />
  );
}
