/** `latchkey sessions`: who is signed in, and what ends it. */
import type { Config } from '../config.ts';
import { count, when } from './backup.ts';
import { requireRunning, type Running } from './client.ts';
import { dataDirectory } from './control.ts';
import { CommandError, exitCodeOfRefusal, exitCodes, print } from './output.ts';

interface Moment {
  readonly seconds: string;
}

interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly sessionType: string;
  readonly sessionName: string;
  readonly createdAt: Moment;
  readonly expiresAt: Moment;
}

/** @param userId Whose; everybody's unless given. */
export async function listSessions(config: Config, userId: string | undefined, json: boolean): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const sessions = await sessionsOf(running, userId);
  print(json, { sessions }, sessions.length === 0 ? 'Nobody is signed in.' : sessions.map(line).join('\n'));
}

const line = ({ sessionId, userId, sessionType, sessionName, createdAt, expiresAt }: Session): string =>
  `${sessionId}  ${sessionName}${sessionType === 'SESSION_TYPE_READ_ONLY' ? ' (may only read)' : ''}  user ${userId}  since ${moment(createdAt)}  until ${moment(expiresAt)}`;

const moment = ({ seconds }: Moment): string => when(Number(seconds) * 1000);

/** Ends the sessions that are named, or all of a user's. */
export async function revokeSessions(
  config: Config,
  ids: readonly string[],
  { user, json }: { readonly user?: string; readonly json: boolean },
): Promise<void> {
  if (ids.length === 0 && user === undefined) {
    throw new CommandError(
      exitCodes.usage,
      'missing <ids...> or --user: the sessions to end, as `latchkey sessions list` names them, or whose are all to end',
    );
  }
  const running = await requireRunning(dataDirectory(config));
  const present = await sessionsOf(running, user);
  const ended = ids.length === 0 ? present : ids.map((id) => named(present, id));
  for (const [userId, sessions] of Map.groupBy(ended, (session) => session.userId)) {
    await call(running, 'submit/delete_sessions', {
      type: 'ACTIVITY_TYPE_DELETE_SESSIONS',
      parameters: { userId, sessionIds: sessions.map(({ sessionId }) => sessionId) },
    });
  }
  print(
    json,
    { ended: ended.map(({ sessionId }) => sessionId) },
    ended.length === 0 ? 'There was none to end.' : `${count(ended.length, 'session')} ended.`,
  );
}

function named(sessions: readonly Session[], id: string): Session {
  const session = sessions.find(({ sessionId }) => sessionId === id.toLowerCase());
  if (session !== undefined) return session;
  throw new CommandError(
    exitCodes.failed,
    `there is no session ${JSON.stringify(id)}: \`latchkey sessions list\` names those that there are`,
  );
}

async function sessionsOf(running: Running, userId: string | undefined): Promise<readonly Session[]> {
  const body = await call(running, 'query/list_sessions', userId === undefined ? {} : { userId });
  return body['sessions'] as readonly Session[];
}

/** Asks as the vault's owner. */
async function call(
  running: Running,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const answer = await running.call('call', `/public/v1/${path}`, body);
  const answered = answer.body as Record<string, unknown>;
  if (answer.status === 200) return answered;
  throw new CommandError(exitCodeOfRefusal(answered['turnkeyErrorCode']), String(answered['message']));
}
