import type { ReactNode } from 'react';
import { Checkbox, Fieldset, Stack, Text } from '@mantine/core';
import { accountAt, describeFormat, firstChains } from './chains.ts';

interface Props {
  readonly about: string;
  /** Ids of chains. */
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Which accounts a wallet has from the start, the first of each chain. */
export function FirstAccounts({ about, chosen, onChoose }: Props): ReactNode {
  return (
    <Fieldset legend="First accounts" variant="unstyled">
      <Text size="sm" c="dimmed" mb="sm">
        {about}
      </Text>
      <Checkbox.Group value={[...chosen]} onChange={onChoose} aria-label="First accounts">
        <Stack gap="xs">
          {firstChains.map((chain) => (
            <Checkbox
              key={chain.id}
              value={chain.id}
              label={chain.label}
              description={
                <>
                  <span className="lk-mono">{accountAt(chain, 0).path}</span> ·{' '}
                  {describeFormat(chain.addressFormat).about}
                </>
              }
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </Fieldset>
  );
}
