/** The hours in which a policy is in force. */
import type { ReactNode } from 'react';
import { Group, Select, TextInput } from '@mantine/core';
import { dayChoices } from '../policy-sentence.tsx';
import type { Hours } from '../../../../main/lib/policies/policy-form.ts';
import { t } from '../../../app/i18n/text.ts';

export function HoursFields({
  value,
  onChange,
}: {
  readonly value: Hours;
  readonly onChange: (value: Hours) => void;
}): ReactNode {
  const { days, hour, minute, length, zone } = value;
  const lengths = ['1h', '4h', '8h', '10h', '12h', '1d'];
  return (
    <Group gap="xs" align="end">
      <Select
        label={t('Days')}
        data={[
          ...Object.entries(dayChoices).map(([key, label]) => ({ value: key, label })),
          ...(Object.hasOwn(dayChoices, days) ? [] : [{ value: days, label: days }]),
        ]}
        value={days}
        allowDeselect={false}
        onChange={(chosen) => {
          onChange({ ...value, days: chosen ?? days });
        }}
      />
      <TextInput
        label={t('From')}
        type="time"
        value={`${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`}
        onChange={(event) => {
          const [, hours, minutes] = /^(\d\d):(\d\d)/.exec(event.currentTarget.value) ?? [];
          if (hours !== undefined) onChange({ ...value, hour: Number(hours), minute: Number(minutes) });
        }}
      />
      <Select
        label={t('For')}
        data={lengths.includes(length) ? lengths : [...lengths, length]}
        value={length}
        allowDeselect={false}
        onChange={(chosen) => {
          onChange({ ...value, length: chosen ?? length });
        }}
      />
      <TextInput
        label={t('Time zone')}
        value={zone}
        onChange={(event) => {
          onChange({ ...value, zone: event.currentTarget.value.replaceAll(/[^A-Za-z0-9_/+-]/g, '') });
        }}
      />
    </Group>
  );
}
