import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ShortId } from './identifier.tsx';
import { DialogButton } from './manage.tsx';
import { Moment } from './moment.tsx';
import { Outcomes, Panel } from './page.tsx';
import type { Session } from './resources.ts';
import { Empty, Failure, LoadingRows } from './states.tsx';
import { useAsk, useSubmit } from './vault.tsx';
import './rows.css';

/** How somebody signed in, by the credential that it made. */
const ways: Readonly<Record<string, string>> = {
  CREDENTIAL_TYPE_OAUTH_KEY_P256: 'an account elsewhere',
  CREDENTIAL_TYPE_OTP_AUTH_KEY_P256: 'a one-time code',
  CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256: 'a mail',
  CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256: 'another credential',
  CREDENTIAL_TYPE_RECOVER_USER_KEY_P256: 'a mail, to recover',
  CREDENTIAL_TYPE_LOGIN: 'a key of the client’s own',
};

const deleteSessions = {
  operation: 'delete_sessions',
  type: 'ACTIVITY_TYPE_DELETE_SESSIONS',
  result: 'deleteSessionsResult',
} as const;

interface Props {
  readonly title?: string;
  /** Whose; everybody's unless given. */
  readonly userId?: string;
  /** Names by id, where several users' are shown. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Sessions that have not ended, each with what ends it now. */
export function Sessions({ title, userId, names }: Props): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ sessions: readonly Session[] }>(
    'list_sessions',
    userId === undefined ? {} : { userId },
  );
  return (
    <Panel {...(title === undefined ? {} : { title })} kind="plain">
      {isPending && <LoadingRows what="sessions" />}
      <Failure title="The sessions could not be read" error={error} onRetry={() => void refetch()} />
      {data?.sessions.length === 0 && (
        <Empty title="Nobody is signed in" level={title === undefined ? 2 : 3}>
          <p>
            Whoever signs in by a code, a mail or an account elsewhere gets a key that lasts a while. It is
            listed here until it ends.
          </p>
        </Empty>
      )}
      {data !== undefined && data.sessions.length > 0 && (
        <ul className="lk-rows" aria-label={title ?? 'Sessions'}>
          {data.sessions.map((session) => (
            <li key={session.sessionId} className="lk-row lk-manage">
              <div>
                <span className="lk-row-name">{names?.get(session.userId) ?? session.sessionName}</span>
                <br />
                {session.credential !== undefined && (
                  <>
                    <ShortId
                      text={session.credential.publicKey}
                      what={`public key of ${session.sessionName}`}
                    />
                    <br />
                  </>
                )}
                <span className="lk-row-more">
                  {wayOf(session)} · began <Moment at={session.createdAt} /> · ends{' '}
                  <Moment at={session.expiresAt} ahead />
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
  credential === undefined ? 'May only read' : `Signed in by ${ways[credential.type] ?? 'a key'}`;

function EndSession({ of: { sessionId, sessionName, userId } }: { readonly of: Session }): ReactNode {
  const end = useSubmit<{ userId: string; sessionIds: readonly string[] }, unknown>(deleteSessions);
  return (
    <DialogButton name="End…" label={`End the session ${sessionName}`} title={`End “${sessionName}”`} danger>
      {(close) => (
        <Stack gap="md">
          <Outcomes
            items={[
              'Requests of this session are refused from now on.',
              'Its user can sign in again, unless you take away what they sign in by.',
            ]}
          />
          <Failure title="The session was not ended" error={end.error} />
          <Group gap="sm">
            <Button
              color="red"
              loading={end.isPending}
              onClick={() => {
                end.mutate(
                  { userId, sessionIds: [sessionId] },
                  {
                    onSuccess() {
                      close();
                      notifications.show({
                        title: 'The session has ended',
                        message: `“${sessionName}” opens nothing now.`,
                      });
                    },
                  },
                );
              }}
            >
              End the session
            </Button>
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
          </Group>
        </Stack>
      )}
    </DialogButton>
  );
}
