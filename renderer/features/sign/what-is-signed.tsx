import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Stack } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { toBeSigned } from '../../../main/lib/text/to-be-signed.ts';
import type { ToBeSigned } from '../../../main/lib/text/to-be-signed.ts';
import { isShort } from './description.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import { describing, TransactionSummary } from './transaction-summary.tsx';
import { useRpc } from '../../app/rpc/vault.tsx';

/** Each is a question to the service: of many, so many at first, and then more at a time. */
const atFirst = 10;
const growth = 10;

export interface Reading {
  readonly requests: readonly ToBeSigned[];
  readonly shown: number;
  readonly showMore: () => void;
  /** Says that all of a long one is shown. */
  readonly showWhole: (index: number) => void;
  /** Number of parts that are readable on the screen now, to their end, or unreadable at all. */
  readonly read: number;
}

/** Progress of describing an activity's payloads; there are none unless it signs. */
export function useReading(activity: Activity): Reading {
  const rpc = useRpc();
  const [most, setMost] = useState(atFirst);
  const [whole, setWhole] = useState<ReadonlySet<number>>(new Set());
  const requests = toBeSigned(activity);
  const shown = Math.min(most, requests.length);
  const asked = useQueries({
    queries: requests.slice(0, shown).map((request) => describing(rpc, request)),
  });
  return {
    requests,
    shown,
    showMore: () => {
      setMost(most * growth);
    },
    showWhole: (index) => {
      setWhole((before) => new Set([...before, index]));
    },
    read: asked.filter(
      ({ isPending, data }, index) =>
        !isPending && (data === undefined || isShort(data.description) || whole.has(index)),
    ).length,
  };
}

/** Describes an activity's payloads in plain language; empty unless it signs. */
export function WhatIsSigned({ activity }: { readonly activity: Activity }): ReactNode {
  return <InWords reading={useReading(activity)} />;
}

export function InWords({ reading }: { readonly reading: Reading }): ReactNode {
  const { requests, shown, showMore, showWhole } = reading;
  if (requests.length === 0) return null;
  const rest = requests.length - shown;
  return (
    <Stack gap="lg">
      {requests.slice(0, shown).map((request, index) => (
        <TransactionSummary
          key={index}
          request={request}
          onWhole={() => {
            showWhole(index);
          }}
          {...(requests.length > 1
            ? { position: t('{{index}} of {{requests}}', { index: index + 1, requests: requests.length }) }
            : {})}
        />
      ))}
      {rest > 0 && (
        <div>
          <Button variant="default" onClick={showMore}>
            {t('Show more ({{rest}})', { rest })}
          </Button>
        </div>
      )}
    </Stack>
  );
}
