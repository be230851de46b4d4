import { useState } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryOptions } from '@tanstack/react-query';
import type { ToBeSigned } from '../../../main/lib/text/to-be-signed.ts';
import type { WindowRpc } from '../../../preload/contract.ts';
import { beginningOf, rowsOf } from './description.ts';
import type { Description, Line } from './description.ts';
import { Link } from 'wouter';
import { Grouped } from '../../ui/identifier.tsx';
import { ReceiverUse, useReceiverUses } from '../addresses/receiver-use.tsx';
import { Exact } from '../../ui/text/exact.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { queryApi, apiQueryKey, useRpc } from '../../app/rpc/vault.tsx';
import '../../ui/page.css';
import './transaction-summary.css';

/** Labels may be foreign, and of one name. */
const Lines = ({ lines }: { readonly lines: readonly Line[] }): ReactNode => (
  <dl className="kh-facts">
    {lines.map(({ label, value }, index) => (
      <div key={index}>
        <dt>
          <Exact text={label} />
        </dt>
        <dd>
          <code>
            <Exact text={value} />
          </code>
        </dd>
      </div>
    ))}
  </dl>
);

const reading = <Skeleton height={80} aria-hidden />;

/** Milliseconds without typing before it is read. */
const pause = 250;

/** The summary of what is being typed. What is shown is always of the text as it stands. */
export function TypedSummary({ request }: { readonly request: ToBeSigned }): ReactNode {
  const typed = JSON.stringify(request);
  const [written] = useDebouncedValue(typed, pause);
  return written === typed ? <TransactionSummary key={typed} request={request} /> : reading;
}

/** Receivers that are listed with a way to name them. */
const mostStrangers = 5;

/** Addresses without a name here, to be compared and named. */
function Strangers({ addresses }: { readonly addresses: readonly string[] }): ReactNode {
  const shown = addresses.slice(0, mostStrangers);
  const found = useReceiverUses(shown);
  if (shown.length === 0) return null;
  return (
    <div>
      <Text fw={600}>{t('Not in the address book')}</Text>
      {shown.map((address) => (
        <Group key={address} gap="sm">
          <Grouped text={address} />
          <ReceiverUse address={address} found={found} />
          <Link
            href={`/addresses/${encodeURIComponent(address)}`}
            className="kh-link"
            aria-label={t('Name the address that ends in {{end}}', { end: address.slice(-4) })}
          >
            {t('Name…')}
          </Link>
        </Group>
      ))}
    </div>
  );
}

interface Props {
  readonly request: ToBeSigned;
  /** Its position among several: "2 of 3". */
  readonly position?: string;
  /** Called when all of a long one is shown. */
  readonly onWhole?: () => void;
}

/** The question of what a request does. */
export const describing = (
  rpc: WindowRpc,
  request: ToBeSigned,
): UseQueryOptions<{ readonly description: Description }> => ({
  queryKey: apiQueryKey('describe_payload', request),
  queryFn: () => queryApi(rpc, 'describe_payload', request),
});

/** Describes in plain language what signing does. The service reads it, and no other machine is involved. */
export function TransactionSummary({ request, position, onWhole }: Props): ReactNode {
  const { data, error } = useQuery(describing(useRpc(), request));
  const [isWhole, setIsWhole] = useState(false);
  if (error !== null) {
    return (
      <Failure
        title={
          position === undefined
            ? t('Couldn’t decode the payload')
            : t('{{place}}: couldn’t decode the payload', { place: position })
        }
        error={error}
      />
    );
  }
  if (data === undefined) return reading;
  const { description } = data;
  const { title, warnings, digests, strangers } = description;
  const { lines, parts } = isWhole ? description : beginningOf(description);
  const count = rowsOf(description);
  const left = count - rowsOf({ lines, parts });
  return (
    <section
      translate="no"
      aria-label={position === undefined ? t('Summary') : t('{{place}}: Summary', { place: position })}
    >
      <Stack gap="sm">
        <Title order={2} size="h3">
          {position !== undefined && `${t('{{place}}:', { place: position })} `}
          <Exact text={title} />
        </Title>
        {warnings.map((warning, index) => (
          <Alert key={index} color="orange" role="note">
            <Exact text={warning} />
          </Alert>
        ))}
        <Lines lines={lines} />
        {parts.map((part, index) => (
          <div key={index} className="kh-signed-part">
            <Text fw={600}>
              <Exact text={part.title} />
            </Text>
            <Lines lines={part.lines} />
          </div>
        ))}
        {left > 0 && (
          <div>
            <Text size="sm" fw={600}>
              {t('{{count}} more rows', { count: left })}
            </Text>
            <Button
              variant="default"
              onClick={() => {
                setIsWhole(true);
                onWhole?.();
              }}
            >
              {t('Show all {{count}} rows', { count })}
            </Button>
          </div>
        )}
        <Strangers addresses={strangers} />
        {digests.length > 0 && (
          <div>
            <Text fw={600}>{t('To compare with other programs')}</Text>
            <Lines lines={digests} />
          </div>
        )}
      </Stack>
    </section>
  );
}
