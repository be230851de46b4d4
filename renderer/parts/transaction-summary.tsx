import type { ReactNode } from 'react';
import { Alert, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryOptions } from '@tanstack/react-query';
import type { Bridge } from '../../preload/contract.ts';
import { Facts } from './page.tsx';
import { Failure } from './states.tsx';
import { t } from './text.ts';
import type { ToBeSigned } from './to-be-signed.ts';
import { ask, askKey, useBridge } from './vault.tsx';

interface Line {
  readonly label: string;
  readonly value: string;
}

interface Description {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly parts: readonly { readonly title: string; readonly lines: readonly Line[] }[];
  readonly warnings: readonly string[];
  readonly digests: readonly Line[];
}

/** Addresses and hashes have nowhere to break. */
const breaking = { overflowWrap: 'anywhere' } as const;

const Lines = ({ lines }: { readonly lines: readonly Line[] }): ReactNode => (
  <Facts
    rows={lines.map(
      ({ label, value }) =>
        [
          label,
          <code key={label} style={breaking}>
            {value}
          </code>,
        ] as const,
    )}
  />
);

const reading = <Skeleton height={80} aria-hidden />;

/** How long one stops typing before it is read, in milliseconds. */
const pause = 250;

/** The summary of what is being typed. What is shown is always of the text as it stands. */
export function TypedSummary({ request }: { readonly request: ToBeSigned }): ReactNode {
  const typed = JSON.stringify(request);
  const [written] = useDebouncedValue(typed, pause);
  return written === typed ? <TransactionSummary request={request} /> : reading;
}

interface Props {
  readonly request: ToBeSigned;
  /** Which of several it is: "2 of 3". */
  readonly place?: string;
}

/** The question of what a request does. */
export const describing = (
  bridge: Bridge,
  request: ToBeSigned,
): UseQueryOptions<{ readonly description: Description }> => ({
  queryKey: askKey('describe_payload', request),
  queryFn: () => ask(bridge, 'describe_payload', request),
});

/** What signing it does, in plain language: the service reads it, nothing is asked of anybody else. */
export function TransactionSummary({ request, place }: Props): ReactNode {
  const { data, error } = useQuery(describing(useBridge(), request));
  if (error !== null) {
    return (
      <Failure
        title={place === undefined ? t('It cannot be read') : t('{{place}}: It cannot be read', { place })}
        error={error}
      />
    );
  }
  if (data === undefined) return reading;
  const { title, lines, parts, warnings, digests } = data.description;
  return (
    <section
      translate="no"
      aria-label={place === undefined ? t('What it does') : t('{{place}}: What it does', { place })}
    >
      <Stack gap="sm">
        <Title order={2} size="h3" style={breaking}>
          {place === undefined ? title : t('{{place}}: {{title}}', { place, title })}
        </Title>
        {warnings.map((warning) => (
          <Alert key={warning} color="orange" role="note">
            {warning}
          </Alert>
        ))}
        <Lines lines={lines} />
        {parts.map((part, index) => (
          <div key={index}>
            <Text fw={600} style={breaking}>
              {part.title}
            </Text>
            <Lines lines={part.lines} />
          </div>
        ))}
        {digests.length > 0 && (
          <div>
            <Text fw={600}>{t('To compare with what another program shows')}</Text>
            <Lines lines={digests} />
          </div>
        )}
      </Stack>
    </section>
  );
}
