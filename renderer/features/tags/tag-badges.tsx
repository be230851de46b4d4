import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { Tag } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';
import '../../ui/lists/long-rows.css';

/** The tags of something in a long list, on one line. */
export function TagBadges({ tags }: { readonly tags: readonly Tag[] }): ReactNode {
  if (tags.length === 0) return null;
  return (
    <span className="kh-tags kh-one-line">
      {tags.map(({ tagId, tagName }) => (
        <span key={tagId} className="kh-badge kh-tag">
          <span className="kh-unseen">{t('tagged')} </span>
          {visibleName(tagName)}
        </span>
      ))}
    </span>
  );
}
