/**
 * The approver's window, served under `/approver`: a user of the API signs in with a passkey, and the passkey signs each vote.
 * Votes go to the API as those of any client. The owner's sessions and calls are not here.
 */
import { Router, type Request } from 'express';
import { z } from 'zod';
import type { VaultRpc } from '../../../preload/contract.ts';
import { isSealedForAsker } from '../../activities/answer/askers-secrets.ts';
import { parse } from '../../lib/parse.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';
import { rawBody, sendJson } from '../answer.ts';
import { handle, type Service } from '../handle.ts';
import { ApproverAnswers, ApproverRefusal } from './answers.ts';
import { ApproverSessions, type ApproverSession } from './sessions.ts';

const signIn = 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION';
const passkeyHeader = 'x-stamp-webauthn';

const stampOfPasskey = z.object({ credentialId: z.string() });
const signInBody = z.looseObject({ type: z.literal(signIn), challenge: z.string().max(100) });
const signInAnswer = z.object({
  activity: z.object({
    result: z.object({
      createReadOnlySessionResult: z.object({
        session: z.string(),
        organizationId: z.string(),
        organizationName: z.string(),
        userId: z.string(),
        username: z.string(),
      }),
    }),
  }),
});

/** @param rpc Says which organization the vault is. */
export function approverRoutes(service: Service, rpc: Pick<VaultRpc, 'status'>): Router {
  const router = Router();
  const sessions = new ApproverSessions();

  router.post('/{*path}', (request, _response, next) => {
    checkOwnPage(request);
    next();
  });

  router.post('/challenge', async (_request, response) => {
    service.keys.checkUnlocked();
    const { organization } = await rpc.status();
    sendJson(response, 200, {
      challenge: sessions.newChallenge(),
      organizationId: organization?.id,
      rpId: service.rpId,
    });
  });

  router.post('/session', async (request, response) => {
    const raw = rawBody(request.body);
    const { challenge } = parse(signInBody, json(request));
    if (!sessions.isOpen(challenge)) throw usedSignIn();
    // Only a passkey signs in here: all other proofs are left out.
    const stamp = request.headers[passkeyHeader];
    const headers = typeof stamp === 'string' ? { [passkeyHeader]: stamp } : {};
    const { status, body } = await handle(service, { path: 'submit/create_read_only_session', headers, raw });
    if (status !== 200) {
      sendJson(response, status, body);
      return;
    }
    const answer = signInAnswer.safeParse(body);
    if (!answer.success) {
      throw new KeyhearthError('PERMISSION_DENIED', 'request not authorized: this sign-in needs approvals');
    }
    const { session, ...who } = answer.data.activity.result.createReadOnlySessionResult;
    // The same sign-in may have come twice at one time, or from a reader of the log.
    if (isSealedForAsker(session) || !sessions.spend(challenge)) throw usedSignIn();
    const { organizationId, userId, username, organizationName } = who;
    const { credentialId } = stampOfPasskey.parse(parsePlainJson(String(stamp)));
    const opened = sessions.open({ organizationId, userId, credentialId, token: session });
    response.setHeader(
      'Set-Cookie',
      `${cookieName(request)}=${opened.cookie}; HttpOnly; SameSite=Strict; Path=/approver`,
    );
    sendJson(response, 200, {
      token: opened.token,
      organizationId,
      organizationName,
      userId,
      userName: username,
      rpId: service.rpId,
    });
  });

  router.post('/end', (request, response) => {
    sessions.end(request.headers, cookieName(request));
    sendJson(response, 200, {});
  });

  router.post('/query/:name', async (request, response) => {
    const session = requireSession(sessions, request);
    // A locked or frozen vault shows approvers nothing.
    service.keys.checkUnlocked();
    const answers = new ApproverAnswers(service, session);
    try {
      if (!(await answers.hasPasskey())) {
        sessions.end(request.headers, cookieName(request));
        throw new KeyhearthError(
          'UNAUTHENTICATED',
          'the passkey of this window was deleted: sign in with another one, or ask the owner to register one',
          { turnkeyErrorCode: 'CREDENTIAL_NOT_FOUND' },
        );
      }
      sendJson(response, 200, await answers.answer(request.params.name, json(request)));
    } catch (error) {
      if (!(error instanceof ApproverRefusal)) throw error;
      sendJson(response, error.status, error.body);
    }
  });

  return router;
}

const usedSignIn = (): KeyhearthError =>
  new KeyhearthError('UNAUTHENTICATED', 'this sign-in was used or is too old: sign in again');

function requireSession(sessions: ApproverSessions, request: Request): ApproverSession {
  const session = sessions.of(request.headers, cookieName(request));
  if (session !== undefined) return session;
  throw new KeyhearthError('UNAUTHENTICATED', 'this window is signed out: sign in with your passkey');
}

/** Origins that are paired use the API. This window’s routes are for pages of this very port alone. */
function checkOwnPage({ headers }: Request): void {
  const { origin, host } = headers;
  if (origin !== undefined && URL.parse(origin)?.host !== host) {
    throw new KeyhearthError('PERMISSION_DENIED', 'request not authorized: a page of another origin sent it');
  }
}

const cookieName = (request: Request): string => `keyhearth_approver_${String(request.socket.localPort)}`;

function json(request: Request): unknown {
  try {
    return parsePlainJson(Buffer.from(rawBody(request.body)).toString('utf8'));
  } catch {
    throw new KeyhearthError('INVALID_ARGUMENT', 'bad request body: expected a JSON object');
  }
}
