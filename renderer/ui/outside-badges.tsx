import type { ReactNode } from 'react';
import { t } from '../app/i18n/text.ts';

interface Props {
  readonly of: { readonly exported: boolean; readonly imported: boolean };
}

/** Badges for a seed or key that has been outside this vault. */
export function OutsideBadges({ of }: Props): ReactNode {
  return (
    <>
      {of.imported && (
        <span className="kh-badge" data-tone="waiting">
          {t('Imported')}
        </span>
      )}{' '}
      {of.exported && (
        <span className="kh-badge" data-tone="waiting">
          {t('Exported')}
        </span>
      )}
    </>
  );
}
