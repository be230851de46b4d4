import { useState } from 'react';
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { ReactNode } from 'react';
import { SegmentedControl } from '@mantine/core';
import { ApiKeys } from './api-keys.tsx';
import { ApiReference } from './api-reference.tsx';
import { MadeApiKey } from './made-api-key.tsx';
import { NewBot } from './new-bot.tsx';
import { NewApiKey } from './new-api-key.tsx';
import type { NamedPair } from './new-api-key.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { RequestInspector } from './request-inspector.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery, useSettings, useStatus } from '../../app/rpc/vault.tsx';

/** Lets a script in: a key pair of its own, what it needs to know, and code to start from. */
export function Connect(): ReactNode {
  const { owner } = useStatus();
  const [made, setMade] = useState<NamedPair | null>(null);
  const [scope, setScope] = useState<'budget' | 'everything'>('budget');
  const userId = owner?.userId ?? '';
  const { data, error, isPending, refetch } = useApiQuery('get_user', owner === null ? null : { userId });
  const user = data?.user ?? null;
  return (
    <>
      <PageHead
        title={t('Connect')}
        lead={t('Let programs on this computer use the vault, each with its own key.')}
      />
      <Locks />
      {made === null && (
        <SegmentedControl
          mb="lg"
          aria-label={t('Permissions')}
          value={scope}
          onChange={setScope}
          data={[
            { value: 'budget', label: t('Pay within a budget') },
            { value: 'everything', label: t('Everything') },
          ]}
        />
      )}
      {made === null && scope === 'budget' && <NewBot onMade={setMade} />}
      {made === null && scope === 'everything' && (
        <NewApiKey
          title={t('Script key')}
          userId={userId}
          userName={owner?.userName ?? 'you'}
          taken={user?.apiKeys.map((key) => key.apiKeyName) ?? []}
          onMade={setMade}
        />
      )}
      {made !== null && (
        <MadeApiKey
          pair={made}
          onDone={() => {
            setMade(null);
            setScope('budget');
          }}
        />
      )}
      <ApiKeys
        title={t('Your API keys')}
        user={user}
        instead={
          <>
            {isPending && <LoadingRows label={t('Loading your API keys')} />}
            <Failure title={t('Couldn’t load your API keys')} error={error} onRetry={() => void refetch()} />
          </>
        }
      />
      {made === null && <FirstRequest />}
      <RequestInspector />
      <ApiReference />
    </>
  );
}

/** A script needs an unlocked vault: when it locks by itself, and whether requests count as use. */
function Locks(): ReactNode {
  const { data } = useSettings();
  if (data?.autoLock.idleMinutes == null) return null;
  const { idleMinutes: count, requestsKeepOpen } = data.autoLock;
  const components = { settings: <Anchor component={Link} href="/settings" inherit underline="always" /> };
  return (
    <Text size="sm" mb="md">
      {requestsKeepOpen ? (
        <Trans
          i18nKey="The vault locks after {{count}} minutes without use, and then signs nothing. <settings>Auto-lock settings</settings>"
          values={{ count }}
          components={components}
        />
      ) : (
        <Trans
          i18nKey="The vault locks after {{count}} minutes without you, even while scripts use it. <settings>Auto-lock settings</settings>"
          values={{ count }}
          components={components}
        />
      )}
    </Text>
  );
}

/** The address that programs need, and a request that needs no key. */
function FirstRequest(): ReactNode {
  const { url, organization } = useStatus();
  const request = `curl ${url}/public/v1/discovery/keys`;
  return (
    <Panel title={t('For scripts')}>
      <Facts
        rows={[
          [t('API address'), <Copyable key="url" text={url} copy={t('Copy API address')} />],
          [
            t('Organization ID'),
            <ShortId key="organization" text={organization?.id ?? ''} copy={t('Copy organization ID')} />,
          ],
          [t('First request'), <Copyable key="request" text={request} copy={t('Copy request')} />],
        ]}
      />
    </Panel>
  );
}
