import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { t } from '../i18n/text.ts';
import { Trans } from '../i18n/trans.ts';
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
      title={why === 'offline' ? t('No network connection') : t('Network access is off')}
    >
      <ul>
        {messages > 0 && (
          <li>
            <Trans
              i18nKey="<to>{{count}} messages</to> are waiting. Expired codes won’t be sent."
              count={messages}
              components={{ to: <Link href="/messages" className="kh-link" /> }}
            />
          </li>
        )}
        {endpoints > 0 && (
          <li>
            <Trans
              i18nKey="Events for <to>{{count}} webhook endpoints</to> are waiting."
              count={endpoints}
              components={{ to: <Link href="/webhooks" className="kh-link" /> }}
            />
          </li>
        )}
      </ul>
      {why === 'offline' ? (
        t('Sending resumes with the network. Everything else works offline.')
      ) : (
        <Trans
          i18nKey="Sending resumes once you turn on network access in the <to>settings</to>."
          components={{ to: <Link href="/settings" className="kh-link" /> }}
        />
      )}
    </Alert>
  );
}
