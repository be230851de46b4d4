import type { ReactNode } from 'react';
import { Text } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Facts, Panel } from '../../ui/page.tsx';
import type { User } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

/** The accounts elsewhere by which a user signs in, as their ID tokens name them. */
export function OauthProviders({ user: { userName, oauthProviders } }: { readonly user: User }): ReactNode {
  return (
    <Panel title={t('OAuth providers')} kind="plain">
      {oauthProviders.length === 0 ? (
        <div className="kh-rows-foot" data-first>
          <Text c="dimmed" size="sm">
            {t('None. {{userName}} has no linked account, such as Google or Apple.', { userName })}
          </Text>
        </div>
      ) : (
        <ul className="kh-rows" aria-label={t('OAuth providers')}>
          {oauthProviders.map(({ providerId, providerName, issuer, audience, subject }) => (
            <li key={providerId} className="kh-rows-item">
              <span className="kh-row-name">{visibleName(providerName)}</span>
              <Facts
                rows={[
                  [t('Issuer'), issuer],
                  [t('Audience'), audience],
                  [t('Subject'), subject],
                ].map(([name = '', value]) => [
                  name,
                  <span key={name} className="kh-row-more kh-mono">
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
