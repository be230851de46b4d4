/**
 * Routes that only `keyhearth dev` serves, under `/dev/`: an ephemeral vault's snapshots, clock and inbox.
 */
import { Router } from 'express';
import { z } from 'zod';
import { parse } from '../../lib/parse.ts';
import { rawBody, sendJson } from '../answer.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';

/** A message that the vault would have sent, newest last. */
export interface DevMessage {
  readonly id: string;
  readonly channel: 'email' | 'sms';
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly code: string;
  readonly at: number;
}

export interface DevControls {
  /** Keeps the vault as it is now, in memory, under a new name. */
  snapshot(): { readonly id: string };
  /** Goes back to a snapshot, or to the start; the same calls then make the same ids and keys again. */
  reset(id: string | undefined): void;
  /** Messages of all requests that were answered. */
  inbox(): Promise<readonly DevMessage[]>;
  clock(): { readonly mode: 'fixed' | 'real'; readonly now: number };
  moveClock(move: { readonly now: number } | { readonly advanceMs: number }): void;
}

const resetBody = z.object({ id: z.string().max(100).optional() });
const clockBody = z.union([
  z.strictObject({ now: z.int().nonnegative() }),
  z.strictObject({ advanceMs: z.int().nonnegative() }),
]);

export function devRoutes(controls: DevControls): Router {
  const router = Router();
  router.post('/snapshot', (_request, response) => {
    sendJson(response, 200, controls.snapshot());
  });
  router.post('/reset', (request, response) => {
    controls.reset(parse(resetBody, json(request.body)).id);
    sendJson(response, 200, {});
  });
  router.get('/inbox', async (_request, response) => {
    sendJson(response, 200, await controls.inbox());
  });
  router.get('/clock', (_request, response) => {
    sendJson(response, 200, controls.clock());
  });
  router.post('/clock', (request, response) => {
    controls.moveClock(parse(clockBody, json(request.body)));
    sendJson(response, 200, controls.clock());
  });
  return router;
}

function json(body: unknown): unknown {
  const raw = Buffer.from(rawBody(body)).toString('utf8');
  if (raw === '') return {};
  try {
    return parsePlainJson(raw);
  } catch {
    return undefined;
  }
}
