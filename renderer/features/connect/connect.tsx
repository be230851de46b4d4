import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiKeys } from './api-keys.tsx';
import { ApiReference } from './api-reference.tsx';
import { MadeApiKey } from './made-api-key.tsx';
import { NewApiKey } from './new-api-key.tsx';
import type { NamedPair } from './new-api-key.tsx';
import { PageHead } from '../../ui/page.tsx';
import { RequestInspector } from './request-inspector.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useStatus } from '../../app/rpc/vault.tsx';

/** Lets a script in: a key pair of its own, what it needs to know, and code to start from. */
export function Connect(): ReactNode {
  const { owner } = useStatus();
  const [made, setMade] = useState<NamedPair | null>(null);
  const userId = owner?.userId ?? '';
  const { data, error, isPending, refetch } = useApiQuery('get_user', owner === null ? null : { userId });
  const user = data?.user ?? null;
  return (
    <>
      <PageHead
        title={t('Connect')}
        lead={t(
          'Let a script or program on this computer use the vault. Each gets a key of its own, so that you can tell them apart.',
        )}
      />
      {made === null ? (
        <NewApiKey
          title={t('A key for a script')}
          userId={userId}
          userName={owner?.userName ?? 'you'}
          taken={user?.apiKeys.map((key) => key.apiKeyName) ?? []}
          onMade={setMade}
        />
      ) : (
        <MadeApiKey
          pair={made}
          onDone={() => {
            setMade(null);
          }}
        />
      )}
      <ApiKeys
        title={t('Your API keys')}
        user={user}
        instead={
          <>
            {isPending && <LoadingRows label={t('Loading your API keys')} />}
            <Failure
              title={t('Your API keys could not be read')}
              error={error}
              onRetry={() => void refetch()}
            />
          </>
        }
      />
      <RequestInspector />
      <ApiReference />
    </>
  );
}
