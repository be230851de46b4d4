/** When credentials were last used: a key that nobody uses any more can go. */

import type { ReactNode } from 'react';
import { Moment } from './moment.tsx';
import { t, Trans } from './text.ts';
import type { Timestamp } from './time.ts';
import { useAsk } from './vault.tsx';

/** By credential; undefined while it is not known. */
export type LastUses = ReadonlyMap<string, Timestamp> | undefined;

export function useLastUses(): LastUses {
  const { data } = useAsk<{
    credentialUses: readonly { readonly credentialId: string; readonly lastUsedAt: Timestamp }[];
  }>('list_credential_uses');
  return (
    data && new Map(data.credentialUses.map(({ credentialId, lastUsedAt }) => [credentialId, lastUsedAt]))
  );
}

/** @param at Undefined for what was never used. */
export function LastUse({ at }: { readonly at: Timestamp | undefined }): ReactNode {
  return at === undefined ? (
    t('not used yet')
  ) : (
    <Trans i18nKey="last used <moment/>" components={{ moment: <Moment at={at} /> }} />
  );
}
