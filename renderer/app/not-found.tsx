import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PageHead } from '../ui/page.tsx';
import { t } from './i18n/text.ts';

export function NotFound(): ReactNode {
  return (
    <>
      <PageHead title={t('There is nothing here')} lead={t('This address names no screen of Keyhearth.')} />
      <Link href="/" className="kh-link">
        {t('Go to the vault’s home')}
      </Link>
    </>
  );
}
