import { Alert, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Facts } from './page.tsx';
import { Failure } from './states.tsx';
import { useAsk } from './vault.tsx';

/** What is to be signed: the parameters of `sign_transaction` or of `sign_raw_payload`. */
export type ToBeSigned = Readonly<Record<string, unknown>>;

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

/** What signing it does, in plain language: the service reads it, nothing is asked of anybody else. */
export function TransactionSummary({ request }: { readonly request: ToBeSigned }): ReactNode {
  const { data, error } = useAsk<{ description: Description }>('describe_payload', request);
  if (error !== null) return <Failure title="It cannot be read" error={error} />;
  if (data === undefined) return <Skeleton height={80} aria-label="Reading it" />;
  const { title, lines, parts, warnings, digests } = data.description;
  return (
    <section aria-label="What it does">
      <Stack gap="sm">
        <Title order={2} size="h3" style={breaking}>
          {title}
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
            <Text fw={600}>To compare with what another program shows</Text>
            <Lines lines={digests} />
          </div>
        )}
      </Stack>
    </section>
  );
}
