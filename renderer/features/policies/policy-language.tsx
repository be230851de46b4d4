/** A policy as text: its effect, and an editor of each expression. */
import type { ReactNode } from 'react';
import { Fieldset, SegmentedControl, Text } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import type { Draft } from './draft.ts';
import type { PolicyField } from './policy-completion.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { useKnownIds, useLanguage } from './policy-queries.ts';
import type { PolicyCheck } from './policy-queries.ts';

export const editors: readonly {
  readonly field: PolicyField;
  readonly label: string;
  readonly about: string;
}[] = [
  {
    field: 'condition',
    label: t('Condition'),
    about: t('When does this apply? Leave empty for everything.'),
  },
  {
    field: 'consensus',
    label: t('Consensus'),
    about: t('Who must approve, the requester included. Leave empty for anyone alone.'),
  },
  {
    field: 'time',
    label: t('Time'),
    about: t('When is the policy in force? Leave empty for always.'),
  },
];

interface Props {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  /** Undefined until the service has checked the text. */
  readonly check: PolicyCheck | undefined;
}

export function PolicyLanguage({ draft, set, check }: Props): ReactNode {
  const language = useLanguage();
  const ids = useKnownIds();
  return (
    <>
      <Fieldset legend={t('Effect')} variant="unstyled">
        <SegmentedControl
          aria-label={t('Effect')}
          value={draft.effect}
          onChange={(value) => {
            set({ effect: value });
          }}
          data={[
            { value: 'EFFECT_ALLOW', label: t('Allow') },
            { value: 'EFFECT_DENY', label: t('Deny') },
          ]}
        />
        <Text size="sm" c="dimmed" mt="xs">
          {t('Deny overrides allow.')}
        </Text>
      </Fieldset>
      {editors.map(({ field, label, about }) => (
        <PolicyEditor
          key={field}
          field={field}
          label={label}
          description={about}
          value={draft[field]}
          onType={(value) => {
            set({ [field]: value });
          }}
          problem={check?.problems.find((each) => each.field === field)}
          warnings={(check?.warnings ?? []).filter((each) => each.field === field)}
          language={language}
          ids={ids}
        />
      ))}
    </>
  );
}
