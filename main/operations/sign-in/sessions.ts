/** Sessions: what a user who is signed in has, on one device for a while. */
import { z } from 'zod';
import { activity, older, query, type ActivityContext } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import {
  deleteApiKey,
  listApiKeyRows,
  listApiKeysOfUser,
  toApiKey,
  type ApiKeyRow,
} from '../../storage/tables/api-keys.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import {
  deleteReadOnlySession,
  insertReadOnlySession,
  listReadOnlySessions,
  listReadOnlySessionsOfUser,
  type ReadOnlySessionRow,
} from '../../storage/tables/read-only-sessions.ts';
import { getUserRow, type UserRow } from '../../storage/tables/users.ts';
import { isOver, timestamp } from '../../lib/clock.ts';
import { ownCredentials, thatUser } from '../credentials/authority.ts';
import { emailAddress, holderOf, holdersOf } from '../users/contacts.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, orNotFound, id, ids } from '../shared/parameters.ts';
import { secretToken, shownSession, uuid, uuids } from '../shared/resources.ts';
import {
  addSessionKey,
  makeSessionKey,
  sessionCredentialTypes,
  sessionKeyParams,
  sessionToken,
} from './session-keys.ts';

const signedIn = {
  organizationId: uuid,
  organizationName: z.string(),
  userId: uuid,
  username: z.string(),
};

const describe = (
  { tx, organizationId }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId'>,
  user: UserRow,
) => ({
  organizationId,
  organizationName: getOrganization(tx, organizationId)?.name ?? '',
  userId: user.id,
  username: user.name,
});

const forUser = sessionKeyParams.extend({ userId: id.optional() });

/** Users were named by their email addresses first. */
type ReadWriteSession = z.output<typeof forUser> & { readonly email?: string };

export const createReadWriteSession = activity({
  path: 'create_read_write_session',
  summary: 'Makes a short-lived API key for a user, encrypted to the client.',
  title: 'Start a session',
  type: 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2',
  intent: 'createReadWriteSessionIntentV2',
  result: 'createReadWriteSessionResultV2',
  params: forUser.transform((params): ReadWriteSession => params),
  returns: z.object({ ...signedIn, apiKeyId: uuid, credentialBundle: z.string() }),
  accepts: {
    ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: older({
      intent: 'createReadWriteSessionIntent',
      result: 'createReadWriteSessionResult',
      params: sessionKeyParams.omit({ invalidateExisting: true }).extend({ email: emailAddress }),
      upgrade: (params) => params,
    }),
  },
  authority: {
    resource: 'AUTH',
    action: 'CREATE',
    ownCredentials: ({ userId, email }, caller) =>
      email === undefined && (userId === undefined || userId === caller.userId),
    concerns: ({ tx, organizationId, params: { userId, email } }) =>
      email === undefined
        ? userId === undefined
          ? []
          : [userId]
        : holdersOf(tx, organizationId, { channel: 'email', address: email }),
    inCallersOrganization: true,
  },
  stepUp: { for: 'wayIn' },
  prepare: ({ params, random }) => makeSessionKey(random, params.targetPublicKey),
  run(context) {
    const { tx, organizationId, params, prepared, caller } = context;
    const { email, userId = caller.userId } = params;
    const user =
      email === undefined
        ? orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`)
        : holderOf(tx, organizationId, { channel: 'email', address: email });
    const apiKeyId = addSessionKey(context, 'readWriteSession', user.id, prepared, params);
    return { ...describe(context, user), apiKeyId, credentialBundle: prepared.credentialBundle };
  },
});

const hourMs = 3_600_000;

export const createReadOnlySession = activity({
  path: 'create_read_only_session',
  summary: 'Gives the caller a token that asks queries for an hour, in the header `X-Session`.',
  title: 'Start a read-only session',
  type: 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
  intent: 'createReadOnlySessionIntent',
  result: 'createReadOnlySessionResult',
  params: z.object({}),
  returns: z.object({ ...signedIn, session: secretToken, sessionExpiry: z.string() }),
  authority: { resource: 'AUTH', action: 'CREATE', ownCredentials: () => true, inCallersOrganization: true },
  stepUp: { for: 'wayIn' },
  run(context) {
    const { tx, organizationId, random, now } = context;
    const { userId } = context.caller;
    const user = orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    const [oldest, ...others] = listReadOnlySessionsOfUser(tx, userId);
    if (oldest !== undefined && others.length + 1 >= limits.readOnlySessionsPerUser) {
      deleteReadOnlySession(tx, oldest.id);
    }
    const sessionId = uuidV4(random('read-only session', 16));
    const expiresAt = now + hourMs;
    insertReadOnlySession(tx, { id: sessionId, organizationId, userId, expiresAt, createdAt: now });
    const sessionExpiry = Math.floor(expiresAt / 1000);
    const session = sessionToken(context, {
      jti: sessionId,
      exp: sessionExpiry,
      session_type: 'SESSION_TYPE_READ_ONLY',
      user_id: userId,
      organization_id: organizationId,
    });
    return {
      ...describe(context, user),
      session,
      sessionExpiry: String(sessionExpiry),
    };
  },
});

const isSession = ({ credentialType }: ApiKeyRow): boolean => sessionCredentialTypes.includes(credentialType);

const showKey = (key: ApiKeyRow) => ({
  sessionId: key.id,
  userId: key.userId,
  sessionType: 'SESSION_TYPE_READ_WRITE',
  sessionName: key.name,
  credential: toApiKey(key).credential,
  createdAt: timestamp(key.createdAt),
  expiresAt: timestamp(key.expiresAt ?? key.createdAt),
});

const showReadOnly = (session: ReadOnlySessionRow) => ({
  sessionId: session.id,
  userId: session.userId,
  sessionType: 'SESSION_TYPE_READ_ONLY',
  sessionName: 'Read Only Session',
  createdAt: timestamp(session.createdAt),
  expiresAt: timestamp(session.expiresAt),
});

/** Sessions that have not ended, of one user or of all; the vendor's API has none such. */
export const listSessions = query({
  path: 'list_sessions',
  summary: 'Lists the sessions of a user, or of everybody, that have not ended.',
  own: true,
  params: z.object({ userId: id.optional() }),
  returns: z.object({ sessions: z.array(shownSession) }),
  run({ tx, organizationId, params: { userId }, now, lastUses }) {
    if (userId !== undefined)
      orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    const keys = userId === undefined ? listApiKeyRows(tx, organizationId) : listApiKeysOfUser(tx, userId);
    const readOnly =
      userId === undefined
        ? listReadOnlySessions(tx, organizationId)
        : listReadOnlySessionsOfUser(tx, userId);
    const uses = lastUses();
    return {
      sessions: [
        ...keys.filter((key) => isSession(key) && key.expiresAt !== null && !isOver(key, now)).map(showKey),
        ...readOnly.filter((session) => !isOver(session, now)).map(showReadOnly),
      ].map((session) => {
        const usedAt = uses.get(session.sessionId);
        return { ...session, ...(usedAt === undefined ? {} : { lastUsedAt: timestamp(usedAt) }) };
      }),
    };
  },
});

/** Ends sessions before their time. */
export const deleteSessions = activity({
  path: 'delete_sessions',
  summary: 'Ends sessions of a user before their time.',
  title: 'End sessions',
  own: true,
  type: 'ACTIVITY_TYPE_DELETE_SESSIONS',
  intent: 'deleteSessionsIntent',
  result: 'deleteSessionsResult',
  params: z.object({ userId: id, sessionIds: ids.min(1) }),
  returns: z.object({ sessionIds: uuids }),
  authority: { resource: 'CREDENTIAL', action: 'DELETE', ownCredentials, concerns: thatUser },
  run({ tx, organizationId, params: { userId, sessionIds } }) {
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    checkDistinct('parameters.sessionIds', sessionIds);
    const keys = new Set(
      listApiKeysOfUser(tx, userId)
        .filter(isSession)
        .map((key) => key.id),
    );
    const readOnly = new Set(listReadOnlySessionsOfUser(tx, userId).map((session) => session.id));
    for (const sessionId of sessionIds) {
      if (keys.has(sessionId)) deleteApiKey(tx, sessionId);
      else {
        orNotFound(
          readOnly.has(sessionId) ? sessionId : undefined,
          `unable to find session ${sessionId} of user ${userId}`,
        );
        deleteReadOnlySession(tx, sessionId);
      }
    }
    return { sessionIds };
  },
});
