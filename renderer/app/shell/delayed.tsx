import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { t, Trans } from '../i18n/text.ts';
import { useStatus } from '../rpc/vault.tsx';
import './delayed.css';

/**
 * Deliveries that wait for the network, on every screen while there is none; the home screen shows other
 * failures.
 */
export function DelayedNotice(): ReactNode {
  const { delayed } = useStatus();
  if (delayed === null || delayed.why === 'failing') return null;
  const { why, messages, endpoints } = delayed;
  return (
    <Alert
      className="kh-delayed"
      role="status"
      color="gray"
      icon={<IconCloudOff aria-hidden />}
      title={
        why === 'offline'
          ? t('This computer is not connected to a network')
          : t('The network is switched off')
      }
    >
      <ul>
        {messages > 0 && (
          <li>
            <Trans
              i18nKey="<to>{{count}} messages</to> wait to be sent. A code that has expired by then is not sent."
              count={messages}
              components={{ to: <Link href="/messages" className="kh-link" /> }}
            />
          </li>
        )}
        {endpoints > 0 && (
          <li>
            <Trans
              i18nKey="Events wait for <to>{{count}} webhook endpoints</to>."
              count={endpoints}
              components={{ to: <Link href="/webhooks" className="kh-link" /> }}
            />
          </li>
        )}
      </ul>
      {why === 'offline' ? (
        t('What waits is sent as soon as there is a network again. Everything else works without one.')
      ) : (
        <Trans
          i18nKey="What waits is sent once the network is switched on in the <to>settings</to>."
          components={{ to: <Link href="/settings" className="kh-link" /> }}
        />
      )}
    </Alert>
  );
}
