import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Fieldset, Stack, Text } from '@mantine/core';
import { accountAt, chainsIn } from './chains.ts';
import type { Chain } from './chains.ts';
import { t } from '../../app/i18n/text.ts';

interface Props {
  readonly about: string;
  /** The address formats of chains. */
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Chooses a wallet's initial accounts, the first of each chain. */
export function FirstAccounts({ about, chosen, onChoose }: Props): ReactNode {
  const [all, setAll] = useState(false);
  return (
    <Fieldset legend={t('First accounts')} variant="unstyled">
      <Text size="sm" c="dimmed" mb="sm">
        {about}
      </Text>
      <Checkbox.Group value={[...chosen]} onChange={onChoose} aria-label={t('First accounts')}>
        <Stack gap="xs">
          <Rows of={chainsIn('common')} />
          {all && <Rows of={[...chainsIn('more'), ...chainsIn('test')]} />}
        </Stack>
      </Checkbox.Group>
      <Button
        variant="subtle"
        size="xs"
        mt="xs"
        aria-expanded={all}
        onClick={() => {
          setAll(!all);
        }}
      >
        {all ? t('Fewer chains') : t('More chains')}
      </Button>
    </Fieldset>
  );
}

const Rows = ({ of }: { readonly of: readonly Chain[] }): ReactNode =>
  of.map((chain) => (
    <Checkbox
      key={chain.format}
      value={chain.format}
      label={chain.label}
      description={
        <>
          <span className="kh-mono">{accountAt(chain, 0).path}</span> · {chain.about}
        </>
      }
    />
  ));
