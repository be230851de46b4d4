import type { ReactNode } from 'react';
import { Code, Title } from '@mantine/core';
import { Expectations, useScreenTitle } from '../ui/page.tsx';
import { t, Trans } from './i18n/text.ts';
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
            <strong>{t('Not signed in.')}</strong>
          </p>
          <p className="kh-auth-aside-more">
            {t(
              'Each browser window gets in with a link that works once, so that no other page on this computer can.',
            )}
          </p>
        </>
      }
    >
      <Title order={1} ref={heading} tabIndex={-1}>
        {t('This window needs a new link')}
      </Title>
      <p className="kh-prose">
        {t(
          'The link was used before, is too old, or Keyhearth was started anew since. Your vault is as you left it.',
        )}
      </p>
      <Expectations
        title={t('How to get in again')}
        items={[
          <>
            <Trans
              i18nKey="Run this in a terminal: <code>keyhearth open</code>, or <code>./keyhearth open</code> in the folder of <code>npm start</code>."
              components={{ code: <Code /> }}
            />
          </>,
          t('It prints a new link and opens it where it can.'),
          t('You can paste the link into this very window. Then close any other copy of it.'),
        ]}
      />
    </AuthLayout>
  );
}
