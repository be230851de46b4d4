import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Fieldset, SegmentedControl, Stack, Text } from '@mantine/core';
import { curves, formatsFor } from './chains.ts';
import type { FormatRow, Curve } from './chains.ts';
import { t } from '../../app/i18n/text.ts';

interface Props {
  readonly curve: Curve;
  readonly onCurve: (curve: Curve) => void;
  /** Address formats that are ticked, of any curve. */
  readonly formats: readonly string[];
  readonly onFormats: (formats: readonly string[]) => void;
  /** Fields between the two that depend on the curve. */
  readonly children?: ReactNode;
}

/** The curve of a single key, and the addresses it gets. */
export function KeyChoices({ curve, onCurve, formats, onFormats, children }: Props): ReactNode {
  const [all, setAll] = useState(false);
  const fitting = formatsFor(curve);
  const common = fitting.filter(({ group }) => group === 'common');
  const others = fitting.filter(({ group }) => group !== 'common');
  return (
    <>
      <Fieldset legend={t('Curve')} variant="unstyled">
        <SegmentedControl
          aria-label={t('Curve')}
          size="xs"
          value={curve}
          onChange={onCurve}
          data={(Object.keys(curves) as Curve[]).map((value) => ({ value, label: curves[value].label }))}
        />
        <Text size="sm" c="dimmed" mt="xs">
          {t('{{use}}. The curve can’t be changed later.', { use: curves[curve].use })}
        </Text>
      </Fieldset>
      {children}
      <Fieldset legend={t('Addresses (optional)')} variant="unstyled">
        <Text size="sm" c="dimmed" mb="sm">
          {t('Select none for a key without an address.')}
        </Text>
        <Checkbox.Group value={[...formats]} onChange={onFormats} aria-label={t('Addresses')}>
          <Stack gap="xs">
            <Rows of={common} />
            {all && <Rows of={others} />}
          </Stack>
        </Checkbox.Group>
        {others.length > 0 && (
          <Button
            variant="subtle"
            size="xs"
            mt="xs"
            aria-expanded={all}
            onClick={() => {
              setAll(!all);
            }}
          >
            {all ? t('Fewer formats') : t('More formats')}
          </Button>
        )}
      </Fieldset>
    </>
  );
}

const Rows = ({ of }: { readonly of: readonly FormatRow[] }): ReactNode =>
  of.map((row) => <Checkbox key={row.format} value={row.format} label={row.label} description={row.about} />);
