import type { ReactNode } from 'react';
import { notifications } from '@mantine/notifications';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { LastUse, useLastUses } from '../../ui/last-use.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import type { ApiKey, User } from '../../app/rpc/resources.ts';
import { Empty } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { millisecondsOf } from '../../ui/text/time.ts';
import { useStatus, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

interface Props {
  readonly title: string;
  /** Null while it is not known. */
  readonly user: User | null;
  /** Shown instead of the list. */
  readonly instead: ReactNode;
  readonly aside?: ReactNode;
}

/** A user's API keys, each with its end. */
export function ApiKeys({ title, user, instead, aside }: Props): ReactNode {
  const { windowKey } = useStatus();
  const uses = useLastUses();
  const keys = user?.apiKeys.filter(isLasting) ?? [];
  return (
    <Panel title={title} kind="plain" aside={aside}>
      {instead}
      {user !== null && keys.length === 0 && (
        <Empty title={t('No API keys yet')} level={3}>
          <p>{t('Scripts sign requests with an API key. The vault stores only the public key.')}</p>
        </Empty>
      )}
      {user !== null && keys.length > 0 && (
        <ul className="kh-rows" aria-label={title}>
          {keys.map((key) => (
            <li key={key.apiKeyId} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">{visibleName(key.apiKeyName)}</span>
                <br />
                <ShortId
                  text={key.credential.publicKey}
                  copy={t('Copy public key of {{apiKeyName}}', { apiKeyName: key.apiKeyName })}
                />
                <br />
                <span className="kh-row-more">
                  {describeCredential(key)}
                  <Trans
                    i18nKey="Created <moment/>"
                    components={{ moment: <RelativeTime at={key.createdAt} /> }}
                  />
                  {' · '}
                  <Expiry of={key} />
                  {uses !== undefined && (
                    <>
                      {' · '}
                      <LastUse at={uses.get(key.apiKeyId)} />
                    </>
                  )}
                </span>
              </div>
              {key.credential.publicKey === windowKey ? (
                <span className="kh-row-more">{t('This window')}</span>
              ) : (
                <DeleteApiKey of={key} user={user} />
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The keys of sign-ins are listed as sessions. */
const isLasting = ({ credential: { type } }: ApiKey): boolean => type.startsWith('CREDENTIAL_TYPE_API_KEY_');

/** P-256 goes without saying. */
const describeCredential = ({ credential: { type } }: ApiKey): string =>
  type.endsWith('_SECP256K1') ? 'secp256k1 · ' : type.endsWith('_ED25519') ? 'Ed25519 · ' : '';

export function Expiry({ of: { createdAt, expirationSeconds } }: { readonly of: ApiKey }): ReactNode {
  const present = useNow();
  if (expirationSeconds === undefined) return t('does not expire');
  const seconds = Math.floor(millisecondsOf(createdAt) / 1000) + Number(expirationSeconds);
  const moment = <RelativeTime at={{ seconds: String(seconds), nanos: '0' }} ahead />;
  return seconds * 1000 <= present ? (
    <Trans i18nKey="expired <moment/>" components={{ moment }} />
  ) : (
    <Trans i18nKey="expires <moment/>" components={{ moment }} />
  );
}

function DeleteApiKey({ of, user }: { readonly of: ApiKey; readonly user: User }): ReactNode {
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_API_KEYS');
  const { apiKeyId, apiKeyName } = of;
  return (
    <DialogButton
      name={t('Delete…')}
      label={t('Delete key {{apiKeyName}}', { apiKeyName })}
      title={t('Delete “{{apiKeyName}}”', { apiKeyName })}
      danger
    >
      {(close) => (
        <DeleteForm
          what="apiKey"
          outcomes={[
            t('Requests it signs for {{userName}} are refused.', {
              userName: user.userName,
            }),
            t('This can’t be undone.'),
          ]}
          submitting={remove}
          onCancel={close}
          onDelete={() => {
            remove.mutate(
              { userId: user.userId, apiKeyIds: [apiKeyId] },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: t('API key deleted'),
                    message: t('“{{apiKeyName}}” no longer works.', { apiKeyName }),
                  });
                },
              },
            );
          }}
        />
      )}
    </DialogButton>
  );
}
