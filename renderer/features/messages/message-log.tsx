import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { MessageDelivery } from '../../../preload/contract.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Failure } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useMessageCall } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The delivery log of the last messages. */
export function MessageLog({ deliveries }: { readonly deliveries: readonly MessageDelivery[] }): ReactNode {
  const retry = useMessageCall((rpc, id: string) => rpc.retryMessage(id));
  return (
    <Panel title={t('What became of them')} kind="plain">
      <Failure title={t('The message is not tried again')} error={retry.error} />
      {deliveries.length === 0 ? (
        <Empty title={t('No message yet')} level={3}>
          <p>{t('Each message is listed here with what became of it; never with its text or its code.')}</p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('What became of messages')}>
          {deliveries.map((delivery) => (
            <li key={delivery.id} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">{visibleName(delivery.to)}</span>{' '}
                <span className="kh-row-more">
                  {delivery.channel === 'email' ? t('mail') : t('SMS')} ·{' '}
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
                  aria-label={t('Try {{to}} again', { to: delivery.to })}
                  disabled={retry.isPending}
                  loading={retry.isPending && retry.variables === delivery.id}
                  onClick={() => {
                    retry.mutate(delivery.id);
                  }}
                >
                  {t('Try again')}
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
  refused: t('Refused'),
  parked: t('Given up'),
  expired: t('Not sent'),
};

function outcomeOf({ state, attempts, note, nextAt }: MessageDelivery): ReactNode {
  const tried = attempts > 1 ? `, ${t('{{count}} tries', { count: attempts })}` : '';
  return (
    <>
      {states[state]}
      {tried}
      {note !== null && `: ${visibleName(note)}`}
      {nextAt !== null && (
        <>
          {' · '}
          <Trans
            i18nKey="again <moment/>"
            components={{ moment: <RelativeTime at={timestampOf(nextAt)} ahead exact /> }}
          />
        </>
      )}
    </>
  );
}
