import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Stack } from '@mantine/core';
import type { Activity } from './resources.ts';
import { t } from './text.ts';
import { toBeSignedBy } from './to-be-signed.ts';
import { TransactionSummary } from './transaction-summary.tsx';

/** Each is a question to the service: of many, so many at once. */
const atOnce = 10;

/** What an activity signs, in plain language; nothing where it signs nothing. */
export function WhatIsSigned({ activity }: { readonly activity: Activity }): ReactNode {
  const [shown, setShown] = useState(atOnce);
  const requests = toBeSignedBy(activity);
  if (requests.length === 0) return null;
  const rest = requests.length - shown;
  return (
    <Stack gap="lg">
      {requests.slice(0, shown).map((request, index) => (
        <TransactionSummary
          key={index}
          request={request}
          {...(requests.length > 1
            ? { place: t('{{index}} of {{requests}}', { index: index + 1, requests: requests.length }) }
            : {})}
        />
      ))}
      {rest > 0 && (
        <div>
          <Button
            variant="default"
            onClick={() => {
              setShown(shown + atOnce);
            }}
          >
            {t('Show more: {{rest}} not shown yet', { rest })}
          </Button>
        </div>
      )}
    </Stack>
  );
}
