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
import { t, Trans } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The way in which a user signed in, by the credential of the session. */
const ways: Readonly<Record<string, string>> = {
  CREDENTIAL_TYPE_OAUTH_KEY_P256: t('an account elsewhere'),
  CREDENTIAL_TYPE_OTP_AUTH_KEY_P256: t('a one-time code'),
  CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256: t('a mail'),
  CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256: t('another credential'),
  CREDENTIAL_TYPE_RECOVER_USER_KEY_P256: t('a mail, to recover'),
  CREDENTIAL_TYPE_LOGIN: t('a key of the client’s own'),
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
      <Failure title={t('The sessions could not be read')} error={error} onRetry={() => void refetch()} />
      {data?.sessions.length === 0 && (
        <Empty
          title={t('Nobody is signed in')}
          level={title === undefined ? 2 : 3}
          {...(userId === undefined
            ? {
                icon: IconDevices,
                steps: [
                  t('Give a user an address or a number, under Users.'),
                  t('Set up how codes reach people, under Messages.'),
                  t('Your app asks for a code in the user’s name, and signs in with it.'),
                ],
                action: (
                  <Button component={Link} href="/messages" variant="default">
                    {t('Set up messages')}
                  </Button>
                ),
              }
            : {})}
        >
          <p>
            {t(
              'Whoever signs in by a code, a mail or an account elsewhere gets a key that lasts a while. It is listed here until it ends.',
            )}
          </p>
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
                  {' · '}
                  <Trans
                    i18nKey="began <begun/>, ends <ends/>"
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

const wayOf = ({ credential }: Session): string =>
  credential === undefined
    ? t('May only read')
    : t('Signed in by {{ways}}', { ways: ways[credential.type] ?? t('a key') });

function EndSession({ of: { sessionId, sessionName, userId } }: { readonly of: Session }): ReactNode {
  const end = useSubmit('ACTIVITY_TYPE_DELETE_SESSIONS');
  return (
    <DialogButton
      name={t('End…')}
      label={t('End the session {{sessionName}}', { sessionName })}
      title={t('End “{{sessionName}}”', { sessionName })}
      danger
    >
      {(close) => (
        <ConfirmForm
          does={t('End the session')}
          failed={t('The session was not ended')}
          outcomes={[
            t('Requests of this session are refused from now on.'),
            t('Its user can sign in again, unless you take away what they sign in by.'),
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
                    title: t('The session has ended'),
                    message: t('“{{sessionName}}” opens nothing now.', { sessionName }),
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
