import type { ReactNode } from 'react';
import { PageHead } from '../../ui/page.tsx';
import { Sessions as SessionList } from './session-list.tsx';
import { SessionProfiles } from './session-profiles.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

/** The sessions of all users together. */
export function Sessions(): ReactNode {
  const { data } = useApiQuery('list_users');
  return (
    <>
      <PageHead title={t('Sessions')} lead={t('Users who are signed in. You can end a session early.')} />
      <SessionList names={new Map(data?.users.map(({ userId, userName }) => [userId, userName]))} />
      <SessionProfiles />
    </>
  );
}
