import type { ReactNode } from 'react';
import { Code, Loader, Text, Title } from '@mantine/core';
import { Expectations, useScreenTitle } from '../ui/page.tsx';
import { t } from './i18n/text.ts';
import { Trans } from './i18n/trans.ts';
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
            <p className="kh-auth-aside-more">{t('A stopped service holds no keys: the vault is locked.')}</p>
          </>
        }
      >
        <Title order={1} ref={heading} tabIndex={-1}>
          {t('The Keyhearth service stopped')}
        </Title>
        <p className="kh-prose">{t('Confirmed changes are kept. Check Activity before you retry.')}</p>
        <Expectations
          title={t('What to do')}
          items={[
            <>
              <Trans
                i18nKey="Start it again: <code>npm start</code> or <code>keyhearth serve --ui</code>."
                components={{ code: <Code /> }}
              />
            </>,
            t('This window then reconnects. It may ask for a new link.'),
          ]}
        />
        <Text size="sm" c="dimmed" mt="md" className="kh-trying">
          <Loader size={14} aria-hidden /> {t('Reconnecting…')}
        </Text>
      </AuthLayout>
    </div>
  );
}
