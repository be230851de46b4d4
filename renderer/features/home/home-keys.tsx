import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { useLastUses } from '../../ui/last-use.tsx';
import { useNow } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useStatus } from '../../app/rpc/vault.tsx';
import { keysToReview, unusedDays } from './keys-to-review.ts';
import '../../ui/rows.css';

const most = 5;

/** API keys that never expire, or that nothing has used for long. */
export function KeysToReview(): ReactNode {
  const { windowKey } = useStatus();
  const { data } = useApiQuery('list_users');
  const uses = useLastUses();
  const now = useNow();
  if (data === undefined || uses === undefined) return null;
  const keys = keysToReview(data.users, uses, { now, windowKey });
  if (keys.length === 0) return null;
  return (
    <Panel
      kind="plain"
      title={t('API keys to review')}
      aside={
        <Link href="/users" className="kh-link">
          {keys.length > most ? t('{{more}} more', { more: String(keys.length - most) }) : t('All users')}
        </Link>
      }
    >
      <ul className="kh-rows" aria-label={t('API keys to review')}>
        {keys.slice(0, most).map(({ apiKeyId, apiKeyName, userId, userName, unused, neverExpires }) => (
          <li key={apiKeyId}>
            <Link href={`/users/${userId}`} className="kh-row">
              <span>
                <span className="kh-row-name">{visibleName(apiKeyName)}</span>
                <br />
                <span className="kh-row-more">{visibleName(userName)}</span>
              </span>
              <span className="kh-row-side">
                {unused && t('not used for {{unusedDays}} days', { unusedDays: String(unusedDays) })}
                {unused && neverExpires && <br />}
                {neverExpires && t('never expires')}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
