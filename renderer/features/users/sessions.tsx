import type { ReactNode } from 'react';
import { PageHead } from '../parts/page.tsx';
import type { User } from '../parts/resources.ts';
import { Sessions as SessionList } from '../parts/sessions.tsx';
import { t } from '../parts/text.ts';
import { useAsk } from '../parts/vault.tsx';

/** Who is signed in, everybody's sessions together. */
export function Sessions(): ReactNode {
  const { data } = useAsk<{ users: readonly User[] }>('list_users');
  return (
    <>
      <PageHead
        title={t('Sessions')}
        lead={t(
          'Who is signed in to the vault now, and until when. A session ends by itself; you can end it at once.',
        )}
      />
      <SessionList names={new Map(data?.users.map(({ userId, userName }) => [userId, userName]))} />
    </>
  );
}
