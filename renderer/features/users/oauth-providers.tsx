import type { ReactNode } from 'react';
import { Text } from '@mantine/core';
import { visibleName } from '../../main/lib/visible-text.ts';
import { Facts, Panel } from './page.tsx';
import type { User } from './resources.ts';
import { t } from './text.ts';
import './rows.css';

/** The accounts elsewhere by which a user signs in, as their ID tokens name them. */
export function OauthProviders({ user: { userName, oauthProviders } }: { readonly user: User }): ReactNode {
  return (
    <Panel title={t('OAuth providers')} kind="plain">
      {oauthProviders.length === 0 ? (
        <div className="lk-rows-foot" data-first>
          <Text c="dimmed" size="sm">
            {t('None: {{userName}} signs in with no account of Google, Apple or the like.', { userName })}
          </Text>
        </div>
      ) : (
        <ul className="lk-rows" aria-label={t('OAuth providers')}>
          {oauthProviders.map(({ providerId, providerName, issuer, audience, subject }) => (
            <li key={providerId} className="lk-rows-item">
              <span className="lk-row-name">{visibleName(providerName)}</span>
              <Facts
                rows={[
                  [t('Issuer'), issuer],
                  [t('Audience'), audience],
                  [t('Subject'), subject],
                ].map(([name = '', value]) => [
                  name,
                  <span key={name} className="lk-row-more lk-mono">
                    {visibleName(value ?? '')}
                  </span>,
                ])}
              />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
