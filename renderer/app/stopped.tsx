import type { ReactNode } from 'react';
import { Code, Loader, Text, Title } from '@mantine/core';
import { Expectations, useScreenTitle } from '../ui/page.tsx';
import { t, Trans } from './i18n/text.ts';
import { AuthLayout } from '../ui/auth-layout.tsx';

/** The service does not answer. The window keeps trying by itself and goes on where it was. */
export function Stopped(): ReactNode {
  const heading = useScreenTitle(t('The service stopped'));
  return (
    <div role="alert">
      <AuthLayout
        latch="away"
        aside={
          <>
            <p>
              <strong>{t('No answer.')}</strong>
            </p>
            <p className="kh-auth-aside-more">
              {t('A service that is stopped has no key in memory: the vault is locked.')}
            </p>
          </>
        }
      >
        <Title order={1} ref={heading} tabIndex={-1}>
          {t('Keyhearth’s service stopped')}
        </Title>
        <p className="kh-prose">
          {t(
            'This window asks the service on this computer for everything it shows, and it does not answer. What was confirmed is kept. If you were waiting for an answer just now, look under Activity before you ask again.',
          )}
        </p>
        <Expectations
          title={t('What to do')}
          items={[
            <>
              <Trans
                i18nKey="Start it again where you started it, for example with <code>npm start</code> or <code>keyhearth serve --ui</code>."
                components={{ code: <Code /> }}
              />
            </>,
            t(
              'This window notices by itself and goes on. If it asks for a new link then, the service was started anew.',
            ),
          ]}
        />
        <Text size="sm" c="dimmed" mt="md" className="kh-trying">
          <Loader size={14} aria-hidden /> {t('Trying again every few seconds')}
        </Text>
      </AuthLayout>
    </div>
  );
}
