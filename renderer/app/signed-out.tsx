import type { ReactNode } from 'react';
import { Code, Title } from '@mantine/core';
import { Expectations, useScreenTitle } from '../ui/page.tsx';
import { t } from './i18n/text.ts';
import { Trans } from './i18n/trans.ts';
import { AuthLayout } from '../ui/auth-layout.tsx';

/** A browser window without a session: what that means, and how to get a new link. */
export function SignedOut(): ReactNode {
  const heading = useScreenTitle(t('This window needs a new link'));
  return (
    <AuthLayout
      latch="away"
      aside={
        <>
          <p>
            <strong>{t('Signed out.')}</strong>
          </p>
          <p className="kh-auth-aside-more">
            {t('Each browser window signs in with a link that works once.')}
          </p>
        </>
      }
    >
      <Title order={1} ref={heading} tabIndex={-1}>
        {t('This window needs a new link')}
      </Title>
      <p className="kh-prose">{t('The link was used, has expired, or Keyhearth restarted.')}</p>
      <Expectations
        title={t('How to sign in again')}
        items={[
          <>
            <Trans
              i18nKey="Run <code>keyhearth open</code> in a terminal, or <code>./keyhearth open</code> in the folder of <code>npm start</code>."
              components={{ code: <Code /> }}
            />
          </>,
          t('The command prints a new link and opens it.'),
          t('You can also paste the link into this window.'),
        ]}
      />
    </AuthLayout>
  );
}
