/** Shared by the port and the control channel: raw bodies with a limit, and errors rendered in one place. */
import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { KeyhearthError } from '../lib/errors.ts';
import { sendJson } from './answer.ts';
import { erasePartsOfBody, notePartsOfBody } from './erase-reads.ts';
import { callersRefusal, type Service } from './handle.ts';
import { takeNotes } from './request-journal.ts';

const bodyLimit = 4 * 1024 * 1024;

export function bareApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  return app;
}

/**
 * Names a request's target as Express reads it: a path. For any other form it would fall back to what Node warns of on
 * standard error.
 */
export const withPaths =
  (app: RequestListener): RequestListener =>
  (request, response) => {
    request.url = pathOf(request.url ?? '/');
    app(request, response);
  };

/** @param target `/path`, or as proxies write it `http://host/path`. The host that counts is the header's. */
function pathOf(target: string): string {
  const [path = ''] = (target.startsWith('/') ? target : absolutePath(target)).split(/[#\s\ufeff]/, 1);
  return path;
}

function absolutePath(target: string): string {
  const url = /^https?:/i.test(target) ? URL.parse(target) : null;
  return url === null ? `/${target}` : `${url.pathname}${url.search}`;
}

export const rawBodies = (): RequestHandler[] => [
  notePartsOfBody,
  express.raw({ type: () => true, limit: bodyLimit, inflate: false }),
  erasePartsOfBody,
];

export function refuseTheRest(request: Request): never {
  throw new KeyhearthError('NOT_FOUND', `there is nothing at ${JSON.stringify(request.path.slice(0, 200))}`);
}

export const renderErrors =
  (service: Pick<Service, 'onFault'>): ErrorRequestHandler =>
  (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const told = fromExpress(error);
    const { status, body, headers } = callersRefusal(service, told);
    const notes = takeNotes(response);
    if (told instanceof KeyhearthError) notes.refused = told;
    notes.answerBytes = sendJson(response, status, body, headers);
  };

/** Express and its body parser refuse with errors of their own, which carry an HTTP status. */
function fromExpress(error: unknown): unknown {
  if (error instanceof KeyhearthError || typeof error !== 'object' || error === null) return error;
  const { status, type } = error as { readonly status?: unknown; readonly type?: unknown };
  if (type === 'entity.too.large') {
    return new KeyhearthError(
      'PAYLOAD_TOO_LARGE',
      `request body is too large: at most ${String(bodyLimit)} bytes`,
    );
  }
  if (type === 'encoding.unsupported') {
    return new KeyhearthError('UNSUPPORTED_MEDIA_TYPE', 'expected a body without Content-Encoding');
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new KeyhearthError('INVALID_ARGUMENT', 'bad request');
  }
  return error;
}
