import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { MessageDelivery } from '../../../preload/contract.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Failure } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useMessageCall } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The delivery log of the last messages. */
export function MessageLog({ deliveries }: { readonly deliveries: readonly MessageDelivery[] }): ReactNode {
  const retry = useMessageCall((rpc, id: string) => rpc.retryMessage(id));
  return (
    <Panel title={t('Delivery log')} kind="plain">
      <Failure title={t('Couldn’t retry the message')} error={retry.error} />
      {deliveries.length === 0 ? (
        <Empty title={t('No messages')} level={3}>
          <p>{t('Every message and its result, without text and code.')}</p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('Delivery log')}>
          {deliveries.map((delivery) => (
            <li key={delivery.id} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">{visibleName(delivery.to)}</span>{' '}
                <span className="kh-row-more">
                  {delivery.channel === 'email' ? t('email') : t('SMS')} ·{' '}
                  <RelativeTime at={timestampOf(delivery.createdAt)} exact />
                </span>
                <br />
                <span className="kh-row-more">{outcomeOf(delivery)}</span>
              </div>
              {delivery.canRetry && (
                <Button
                  variant="default"
                  size="xs"
                  flex="none"
                  aria-label={t('Retry {{to}}', { to: delivery.to })}
                  disabled={retry.isPending}
                  loading={retry.isPending && retry.variables === delivery.id}
                  onClick={() => {
                    retry.mutate(delivery.id);
                  }}
                >
                  {t('Retry')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

const states: Readonly<Record<MessageDelivery['state'], string>> = {
  waiting: t('Waiting'),
  delivered: t('Sent'),
  refused: t('Rejected'),
  parked: t('Failed'),
  expired: t('Not sent'),
};

function outcomeOf({ state, attempts, note, nextAt }: MessageDelivery): ReactNode {
  const tried = attempts > 1 ? `, ${t('{{count}} attempts', { count: attempts })}` : '';
  return (
    <>
      {state === 'waiting' && attempts > 0 ? t('Retrying') : states[state]}
      {tried}
      {note !== null && `: ${visibleName(note)}`}
      {nextAt !== null && (
        <>
          {' · '}
          <Trans
            i18nKey="next attempt <moment/>"
            components={{ moment: <RelativeTime at={timestampOf(nextAt)} ahead exact /> }}
          />
        </>
      )}
    </>
  );
}
