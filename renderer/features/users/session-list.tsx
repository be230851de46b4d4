import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDevices } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { LastUse } from '../../ui/last-use.tsx';
import { ConfirmForm, DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Session } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The way in which a user signed in, by the credential of the session. */
const ways: Readonly<Record<string, string>> = {
  CREDENTIAL_TYPE_OAUTH_KEY_P256: t('OAuth'),
  CREDENTIAL_TYPE_OTP_AUTH_KEY_P256: t('one-time code'),
  CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256: t('email'),
  CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256: t('another credential'),
  CREDENTIAL_TYPE_RECOVER_USER_KEY_P256: t('email recovery'),
  CREDENTIAL_TYPE_LOGIN: t('the client’s own key'),
};

interface Props {
  readonly title?: string;
  /** The user; all users unless given. */
  readonly userId?: string;
  /** Names by id, where several users' are shown. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Sessions that have not ended, each with what ends it now. */
export function Sessions({ title, userId, names }: Props): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery(
    'list_sessions',
    userId === undefined ? {} : { userId },
  );
  return (
    <Panel {...(title === undefined ? {} : { title })} kind="plain">
      {isPending && <LoadingRows label={t('Loading sessions')} />}
      <Failure title={t('Couldn’t load the sessions')} error={error} onRetry={() => void refetch()} />
      {data?.sessions.length === 0 && (
        <Empty
          title={t('No active sessions')}
          level={title === undefined ? 2 : 3}
          {...(userId === undefined
            ? {
                icon: IconDevices,
                steps: [
                  t('Add an email address or phone number to a user.'),
                  t('Set up delivery under Messages.'),
                  t('Your app requests a code for the user and signs in with it.'),
                ],
                action: (
                  <Button component={Link} href="/messages" variant="default">
                    {t('Set up messages')}
                  </Button>
                ),
              }
            : {})}
        >
          <p>{t('Sign-ins by code, email or OAuth appear here until the session ends.')}</p>
        </Empty>
      )}
      {data !== undefined && data.sessions.length > 0 && (
        <ul className="kh-rows" aria-label={title ?? t('Sessions')}>
          {data.sessions.map((session) => (
            <li key={session.sessionId} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">
                  {visibleName(names?.get(session.userId) ?? session.sessionName)}
                </span>
                <br />
                {session.credential !== undefined && (
                  <>
                    <ShortId
                      text={session.credential.publicKey}
                      copy={t('Copy public key of {{sessionName}}', { sessionName: session.sessionName })}
                    />
                    <br />
                  </>
                )}
                <span className="kh-row-more">
                  {wayOf(session)}
                  <SessionProfile of={session} />
                  {' · '}
                  <Trans
                    i18nKey="started <begun/>, ends <ends/>"
                    components={{
                      begun: <RelativeTime at={session.createdAt} />,
                      ends: <RelativeTime at={session.expiresAt} ahead />,
                    }}
                  />
                  {' · '}
                  <LastUse at={session.lastUsedAt} />
                </span>
              </div>
              <EndSession of={session} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The name of the profile that limits the session, if one does. */
function SessionProfile({ of: { credential } }: { readonly of: Session }): ReactNode {
  const { data } = useApiQuery('get_session_profiles', {});
  const profileId = credential?.sessionProfileId;
  if (profileId === undefined) return null;
  const profile = data?.sessionProfiles.find((each) => each.sessionProfileId === profileId);
  const name = visibleName(profile?.sessionProfileName ?? profileId);
  return <span title={profile?.scope}>{` · ${t('limited by “{{name}}”', { name })}`}</span>;
}

const wayOf = ({ credential }: Session): string =>
  credential === undefined
    ? t('Read-only')
    : t('Signed in with {{ways}}', { ways: ways[credential.type] ?? t('key') });

function EndSession({ of: { sessionId, sessionName, userId } }: { readonly of: Session }): ReactNode {
  const end = useSubmit('ACTIVITY_TYPE_DELETE_SESSIONS');
  return (
    <DialogButton
      name={t('End…')}
      label={t('End session {{sessionName}}', { sessionName })}
      title={t('End “{{sessionName}}”', { sessionName })}
      danger
    >
      {(close) => (
        <ConfirmForm
          does={t('End session')}
          failed={t('Couldn’t end the session')}
          outcomes={[
            t('Requests in this session are refused.'),
            t('The user can sign in again, unless you remove the way to sign in.'),
          ]}
          submitting={end}
          onCancel={close}
          onConfirm={() => {
            end.mutate(
              { userId, sessionIds: [sessionId] },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: t('Session ended'),
                    message: t('“{{sessionName}}” no longer works.', { sessionName }),
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
