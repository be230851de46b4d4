/** When credentials were last used: an unused key can be deleted. */

import type { ReactNode } from 'react';
import { RelativeTime } from './relative-time.tsx';
import { t } from '../app/i18n/text.ts';
import { Trans } from '../app/i18n/trans.ts';
import type { Timestamp } from './text/time.ts';
import { useApiQuery } from '../app/rpc/vault.tsx';

/** By credential; undefined while it is not known. */
export type LastUses = ReadonlyMap<string, Timestamp> | undefined;

export function useLastUses(): LastUses {
  const { data } = useApiQuery('list_credential_uses');
  return (
    data && new Map(data.credentialUses.map(({ credentialId, lastUsedAt }) => [credentialId, lastUsedAt]))
  );
}

/** @param at Undefined for what was never used. */
export function LastUse({ at }: { readonly at: Timestamp | undefined }): ReactNode {
  return at === undefined ? (
    t('not used yet')
  ) : (
    <Trans i18nKey="last used <moment/>" components={{ moment: <RelativeTime at={at} /> }} />
  );
}
