/** `keyhearth sessions`: who is signed in, and what ends it. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { count, when } from '../backup/backup.ts';
import type { Answer } from '../../operations/api.ts';
import { queryAsOwner } from '../../rpc/owner-calls.ts';
import { activityKind } from '../shared/api.ts';
import { ownerOf, requireRunning, type Running } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { findNamed } from '../shared/named.ts';
import { CommandError, exitCodes, print, refusedHere } from '../shared/output.ts';
import { ownerApiOf } from '../shared/owner-api.ts';
import { table } from '../shared/table.ts';

type Session = Answer<'list_sessions'>['sessions'][number];

const deleteSessionsActivity = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_SESSIONS',
  result: z.object({ sessionIds: z.array(z.string()) }),
});

/** @param user The user; all users unless given. */
export async function listSessions(config: Config, user: string | undefined, json: boolean): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const sessions = await sessionsOf(running, user);
  print(
    json,
    { sessions },
    sessions.length === 0
      ? 'No active sessions.'
      : table(['ID', 'Name', 'Access', 'User', 'Created', 'Expires'], sessions.map(row)),
  );
}

const row = ({
  sessionId,
  userId,
  sessionType,
  sessionName,
  credential,
  createdAt,
  expiresAt,
}: Session): readonly string[] => [
  sessionId,
  sessionName,
  accessOf(sessionType, credential),
  userId,
  moment(createdAt),
  moment(expiresAt),
];

const accessOf = (type: Session['sessionType'], credential: Session['credential']): string => {
  if (type === 'SESSION_TYPE_READ_ONLY') return 'read only';
  return credential?.sessionProfileId === undefined ? 'full' : 'limited';
};

const moment = ({ seconds }: Session['createdAt']): string => when(Number(seconds) * 1000);

/** Ends the sessions that are named, or all of a user's. */
export async function revokeSessions(
  config: Config,
  ids: readonly string[],
  { user, json }: { readonly user?: string; readonly json: boolean },
): Promise<void> {
  if (ids.length === 0 && user === undefined) {
    throw new CommandError(
      exitCodes.usage,
      'missing <ids...> or --user: give sessions from `keyhearth sessions list`, or a user to revoke all of their sessions',
    );
  }
  const running = await requireRunning(dataDirectory(config));
  const present = await sessionsOf(running, user);
  const ended =
    ids.length === 0
      ? present
      : distinct(ids.map((id) => findNamed('session', id, present, ({ sessionId }) => ({ id: sessionId }))));
  const api = ownerApiOf(config, running, {});
  for (const [userId, sessions] of Map.groupBy(ended, (session) => session.userId)) {
    const sessionIds = sessions.map(({ sessionId }) => sessionId);
    await api.submit(deleteSessionsActivity, { userId, sessionIds });
  }
  print(
    json,
    { ended: ended.map(({ sessionId }) => sessionId) },
    ended.length === 0 ? 'No sessions to revoke.' : `Revoked ${count(ended.length, 'session')}.`,
  );
}

const distinct = <T>(items: readonly T[]): readonly T[] => [...new Set(items)];

/** @param user The user; all users unless given. */
async function sessionsOf(running: Running, user: string | undefined): Promise<readonly Session[]> {
  const userId = user === undefined ? undefined : await userIdOf(running, user);
  const answer = await queryAsOwner(
    ownerOf(running),
    'list_sessions',
    userId === undefined ? {} : { userId },
  );
  if (answer.isRefused) throw refusedHere(answer.body);
  return answer.body.sessions;
}

/** @param wanted The user's id, how it begins, or the name. */
async function userIdOf(running: Running, wanted: string): Promise<string> {
  const answer = await queryAsOwner(ownerOf(running), 'list_users', {});
  if (answer.isRefused) throw refusedHere(answer.body);
  return findNamed('user', wanted, answer.body.users, ({ userId, userName }) => ({
    id: userId,
    name: userName,
  })).userId;
}
