/**
 * Requests of programs that come to their door over HTTP. A bearer token says which program asks, and nothing else. It stands in
 * the `Authorization` header, or, for programs that can set none, in the path: `/rpc/TOKEN`.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Router, type RequestHandler } from 'express';
import { KeyhearthError } from '../lib/errors.ts';
import type { OnFault } from '../lib/faults.ts';
import { doorKinds, doorNames, type DoorName } from '../lib/policies/doors.ts';
import { rawBody } from './answer.ts';
import { whenGone } from './waiters.ts';

export interface ProgramRequest {
  /** Its `url` begins after the door's path, and its body is read. */
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly raw: Uint8Array;
  /** Aborted when the caller has gone, or has its answer, or is revoked. */
  readonly gone: AbortSignal;
}

/** Answers a request of the program that a token belongs to. @returns undefined where there is none at this door. */
export type AnswerProgram = (
  door: DoorName,
  token: string,
  request: ProgramRequest,
) => Promise<void> | undefined;

const endpoints = doorNames.flatMap((door) => {
  const { endpoint } = doorKinds[door];
  return endpoint === undefined ? [] : [{ door, endpoint }];
});

/** The segment after a door's own. What comes after a token is shorter, and no secret. */
const withToken = new RegExp(
  `^/(${endpoints.map(({ endpoint }) => endpoint).join('|')})/([^/?]{20,})(.*)$`,
  'i',
);

/** A token at a place where it counts for nothing, as in a misspelled URL: `//rpc/TOKEN`. */
const strayToken = /kht_[0-9A-Za-z]{20,}/g;

/** Moves a token from the path into the header, before anything may log the path or quote it in an error. */
export const withoutTokens =
  (app: RequestListener): RequestListener =>
  (request, response) => {
    const [, endpoint, token, rest] = withToken.exec(request.url ?? '') ?? [];
    if (endpoint !== undefined && token !== undefined) {
      request.url = `/${endpoint}${rest ?? ''}`;
      request.headers.authorization = `Bearer ${token}`;
    }
    request.url = request.url?.replace(strayToken, 'kht_');
    app(request, response);
  };

/** @param checks Run before each request. */
export function doorRoutes(answer: AnswerProgram, onFault: OnFault, ...checks: RequestHandler[]): Router {
  const router = Router();
  for (const { door, endpoint } of endpoints) {
    router.use(`/${endpoint}`, ...checks, async (request, response) => {
      const [, token] = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? '') ?? [];
      const gone = whenGone(response, onFault);
      const answering = token && answer(door, token, { request, response, raw: rawBody(request.body), gone });
      if (!answering) {
        response.setHeader('WWW-Authenticate', 'Bearer');
        throw unknownProgram();
      }
      await answering;
    });
  }
  return router;
}

/** One refusal for all: a caller without a token does not learn which doors are on, nor which programs there are. */
const unknownProgram = (): KeyhearthError =>
  new KeyhearthError('UNAUTHENTICATED', 'request not authorized: no program here has this token');
