import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import '../../ui/rows.css';

/** The person’s passkeys and API keys, to read. The owner changes them. */
export function OwnCredentials({ userId }: { readonly userId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_user', { userId });
  const user = data?.user;
  return (
    <>
      <PageHead
        title={t('Credentials')}
        lead={t('Keys that act for you. Tell the vault’s owner of any you don’t know.')}
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading your credentials')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load your credentials')} error={error} onRetry={() => void refetch()} />
      {user !== undefined && (
        <>
          <Credentials
            title={t('Passkeys')}
            rows={user.authenticators.map((each) => ({
              id: each.authenticatorId,
              name: each.authenticatorName,
              createdAt: each.createdAt,
            }))}
          />
          <Credentials
            title={t('API keys')}
            rows={user.apiKeys.map((each) => ({
              id: each.apiKeyId,
              name: each.apiKeyName,
              createdAt: each.createdAt,
            }))}
          />
        </>
      )}
    </>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly createdAt: { readonly seconds: string; readonly nanos: string };
}

function Credentials({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }): ReactNode {
  if (rows.length === 0) return null;
  return (
    <Panel title={title} kind="plain">
      <ul className="kh-rows" aria-label={title}>
        {rows.map(({ id, name, createdAt }) => (
          <li key={id} className="kh-row">
            <span className="kh-row-name">{visibleName(name)}</span>
            <span className="kh-row-side">
              <Trans
                i18nKey="Registered <moment/>"
                components={{ moment: <RelativeTime at={createdAt} /> }}
              />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
