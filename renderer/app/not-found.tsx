import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PageHead } from '../ui/page.tsx';
import { t } from './i18n/text.ts';

export function NotFound(): ReactNode {
  return (
    <>
      <PageHead title={t('Page not found')} lead={t('Keyhearth has no page at this address.')} />
      <Link href="/" className="kh-link">
        {t('Go to Home')}
      </Link>
    </>
  );
}
