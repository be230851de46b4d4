import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Select } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeType } from '../activity/activity-words.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import type { Delivery, Endpoint } from '../../app/rpc/resources.ts';
import '../../ui/rows.css';

const shownDeliveries = '50';

const stateWords: Readonly<Record<Delivery['state'], string>> = {
  waiting: t('Pending'),
  delivered: t('Delivered'),
  refused: t('Rejected'),
  parked: t('Failed'),
};

const filterStates = ['waiting', 'delivered', 'refused', 'parked'] as const;

const tones: Readonly<Partial<Record<Delivery['state'], string>>> = {
  waiting: 'waiting',
  refused: 'failed',
  parked: 'failed',
};

/** The delivery log of the last events. */
export function Deliveries({ endpoints }: { readonly endpoints: readonly Endpoint[] }): ReactNode {
  const [state, setState] = useState<Delivery['state'] | ''>('');
  const [endpointId, setEndpointId] = useState('');
  const { data, error, isPending, refetch } = useApiQuery('list_webhook_deliveries', {
    paginationOptions: { limit: shownDeliveries },
    ...(state === '' ? {} : { state }),
    ...(endpointId === '' ? {} : { endpointId }),
  });
  const filtered = state !== '' || endpointId !== '';
  const names = new Map(endpoints.map(({ endpointId, name }) => [endpointId, name]));
  return (
    <Panel
      title={t('Delivery log')}
      kind="plain"
      aside={
        <Group gap="xs">
          <Select
            aria-label={t('Endpoint')}
            size="xs"
            w={170}
            maw="100%"
            data={[
              { value: '', label: t('All endpoints') },
              ...endpoints.map((each) => ({ value: each.endpointId, label: visibleName(each.name) })),
            ]}
            value={endpointId}
            allowDeselect={false}
            onChange={(value) => {
              setEndpointId(value ?? '');
            }}
          />
          <Select
            aria-label={t('Status')}
            size="xs"
            w={140}
            maw="100%"
            data={[
              { value: '', label: t('Any status') },
              ...filterStates.map((value) => ({ value, label: stateWords[value] })),
            ]}
            value={state}
            allowDeselect={false}
            onChange={(value) => {
              setState(value ?? '');
            }}
          />
        </Group>
      }
    >
      {isPending && <LoadingRows label={t('Loading the delivery log')} rows={2} />}
      <Failure title={t('Couldn’t load the delivery log')} error={error} onRetry={() => void refetch()} />
      {data?.deliveries.length === 0 && (
        <Empty title={filtered ? t('No matching deliveries') : t('No deliveries')} level={3}>
          <p>{t('Every event and its result. Send a test to see one.')}</p>
        </Empty>
      )}
      {data !== undefined && data.deliveries.length > 0 && (
        <ul className="kh-rows" aria-label={t('Delivery log')}>
          {data.deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.deliveryId}
              delivery={delivery}
              to={
                names.get(delivery.endpointId) ??
                t('“Webhook URL” of the organization, or a deleted endpoint')
              }
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function DeliveryRow({ delivery, to }: { readonly delivery: Delivery; readonly to: string }): ReactNode {
  const { deliveryId, endpointId, activityType, state, attempts, lastResult, nextAttemptAt, createdAt } =
    delivery;
  const replaying = useSubmit('ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES');
  const what = describeType(activityType);
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{what}</span>{' '}
        <span className="kh-badge" data-tone={tones[state]}>
          {state === 'waiting' && attempts > 0 ? t('Retrying') : stateWords[state]}
        </span>
        <br />
        <span className="kh-row-more">
          {visibleName(to)} · <RelativeTime at={createdAt} exact />
          {attempts > 1 && ` · ${t('{{count}} attempts', { count: attempts })}`}
          {nextAttemptAt !== undefined && (
            <>
              {' · '}
              <Trans
                i18nKey="next attempt <moment/>"
                components={{ moment: <RelativeTime at={nextAttemptAt} ahead exact /> }}
              />
            </>
          )}
        </span>
        {lastResult !== undefined && state !== 'delivered' && (
          <>
            <br />
            <span className="kh-row-more">{visibleName(lastResult)}</span>
          </>
        )}
        <Failure title={t('Couldn’t resend')} error={replaying.error} />
      </div>
      <Button
        variant="default"
        size="xs"
        aria-label={t('Resend {{what}} to {{to}}', { what, to })}
        loading={replaying.isPending}
        onClick={() => {
          replaying.mutate({ endpointId, deliveryId });
        }}
      >
        {t('Resend')}
      </Button>
    </li>
  );
}
