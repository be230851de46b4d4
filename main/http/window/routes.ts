/** The rpc of `preload/contract.ts` over HTTP: under `/window/` for a browser, and over the control channel for commands. */
import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { parseSecret } from '../../lib/parse.ts';
import { parseWithSecrets, type ReadJson } from '../../activities/request/secret-json.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import {
  isRead,
  rpcCalls,
  type BackupPart,
  type RpcCall,
  type UploadProgress,
  type VaultRpc,
} from '../../../preload/contract.ts';
import { rawBody, sendJson } from '../answer.ts';
import { refusal, type Service } from '../handle.ts';
import { isOtherUser } from '../peer.ts';
import { RepeatedCalls, type CallAnswer } from './repeated-calls.ts';
import { readPart, SaveTickets, sendFile } from './files.ts';
import type { WindowSessions } from './sessions.ts';
import { every } from '../../lib/concurrency/every.ts';
import { owned } from '../../lib/faults.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';

/** Streams of events at once, of windows or of commands. */
const mostFollowers = 64;
const keepAliveMs = 20_000;
/**
 * Bytes of events that may wait for a page that stopped reading, as a background page may. The page loads
 * everything again then.
 */
const mostUnread = 256 * 1024;

const sessionBody = z.object({ code: z.string().min(1).max(100) });
const saveBody = z.object({ id: z.string().max(100) });
/** A page gives each call a random UUID. */
const callId = /^[0-9a-f-]{36}$/;
const callBody = z.object({ args: z.array(z.unknown()).max(4) });

export interface WindowRouteOptions {
  /** True if the window is served here. */
  readonly ui: boolean;
  /** Called when a person uses one. */
  readonly onUsed: () => void;
  /** Takes a part of a backup from a browser. */
  readonly uploadBackup: (part: BackupPart) => Promise<UploadProgress>;
}

export function windowRoutes(
  rpc: VaultRpc,
  sessions: WindowSessions,
  service: Pick<Service, 'onFault'>,
  { ui, onUsed, uploadBackup }: WindowRouteOptions,
): Router {
  const router = Router();
  const tickets = new SaveTickets();

  router.post('/session', async (request, response) => {
    if (!ui) throw noWindow();
    const { code } = parseSecret(sessionBody, json(request));
    // The code stays valid: the intended browser may still come.
    if (await isOtherUser(request.socket)) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        'another user of this computer opened this link: open it in a browser of the user who runs Keyhearth',
      );
    }
    // Of a connection that was ended the system names no user. Nothing would read the answer.
    if (!request.socket.writable) {
      throw new KeyhearthError('UNAVAILABLE', 'the browser ended its connection: open the link again');
    }
    const opened = sessions.open(code);
    if (opened === undefined) {
      throw new KeyhearthError(
        'UNAUTHENTICATED',
        'this link was used or is too old: run `keyhearth open` for a new one',
      );
    }
    response.setHeader(
      'Set-Cookie',
      `${cookieName(request)}=${opened.cookie}; HttpOnly; SameSite=Strict; Path=/window`,
    );
    // A person opened it, whatever the page says afterwards.
    onUsed();
    sendJson(response, 200, { token: opened.token });
  });

  router.get('/save/:ticket', async (request, response) => {
    const session = sessions.browserOf(request.headers, cookieName(request));
    await sendFile(response, tickets.take(request.params.ticket, session));
  });

  router.use((request, _response, next) => {
    if (!sessions.isSession(request.headers, cookieName(request))) {
      throw new KeyhearthError(
        'UNAUTHENTICATED',
        'this window is not signed in: run `keyhearth open` for a link',
      );
    }
    next();
  });

  // Not an rpc call: in the desktop app, the shell watches the window.
  router.post('/used', (_request, response) => {
    onUsed();
    sendJson(response, 200, {});
  });

  router.post('/save', async (request, response) => {
    const session = sessions.browserOf(request.headers, cookieName(request));
    if (session === undefined) {
      throw new KeyhearthError(
        'UNAUTHENTICATED',
        'this window is not signed in: run `keyhearth open` for a link',
      );
    }
    const saved = await rpc.copyOfBackup(parseSecret(saveBody, json(request)).id);
    const address = `/window/save/${tickets.issue(saved, session)}`;
    sendJson(response, 200, { value: { address, name: saved.name } });
  });

  router.post('/files', async (request, response) => {
    sendJson(response, 200, { value: await uploadBackup(readPart(request)) });
  });

  const repeated = new RepeatedCalls();
  const look = owned(async () => {
    const { state } = await rpc.status();
    if (state !== 'unlocked') repeated.locked();
  }, service.onFault);
  rpc.onEvent(({ kind }) => {
    if (kind === 'status') look();
  });
  router.use(
    rpcRoutes(rpc, service, (request, make) => {
      const id = request.headers['x-keyhearth-call'];
      const session = sessions.browserOf(request.headers, cookieName(request));
      if (session === undefined || typeof id !== 'string' || !callId.test(id)) return make();
      return repeated.answerOf(`${session.toString('hex')} ${request.path} ${id}`, make);
    }),
  );
  return router;
}

/** Makes a call that changes something, or finds the answer of the one that a request repeats. */
type AnswerOf = (request: Request, make: () => Promise<CallAnswer>) => Promise<CallAnswer>;

/** The calls by name, and the events, for a caller who is known by now to be the owner. */
export function rpcRoutes(
  rpc: VaultRpc,
  service: Pick<Service, 'onFault'>,
  answerOf: AnswerOf = (_request, make) => make(),
): Router {
  const router = Router();
  let followers = 0;
  router.get('/events', (_request, response) => {
    if (followers >= mostFollowers) {
      throw new KeyhearthError(
        'RESOURCE_EXHAUSTED',
        `too many windows: ${String(mostFollowers)} follow this vault, the most there may be; close one first`,
      );
    }
    followers += 1;
    response.once(
      'close',
      owned(() => {
        followers -= 1;
      }),
    );
    streamEvents(rpc, response);
  });

  router.post('/:call', async (request, response) => {
    const call = rpcCalls.find((name) => name === request.params.call);
    if (call === undefined) {
      throw new KeyhearthError('NOT_FOUND', `unknown call: expected one of ${rpcCalls.join(', ')}`);
    }
    const read = readCall(call, request);
    try {
      const make = async (): Promise<CallAnswer> => {
        try {
          const { args } = parseSecret(callBody, read.value);
          return { status: 200, body: { value: await run(rpc, call, args) } };
        } catch (error) {
          const { status, body: told } = refusal(service, error);
          const { code, message, turnkeyErrorCode } = told;
          return { status, body: { code, message, turnkeyErrorCode } };
        }
      };
      // One that reads may run twice, and its answer may be large: none is kept.
      const [path] = callBody.safeParse(read.value).data?.args ?? [];
      const { status, body } = await (isRead(call, path) ? make() : answerOf(request, make));
      sendJson(response, status, body);
    } finally {
      read.erase();
    }
  });

  return router;
}

export const noWindow = (): KeyhearthError =>
  new KeyhearthError('NOT_FOUND', 'this Keyhearth serves no window: start it with --ui');

/** Runs one call by name; what it is given comes from outside and is checked by the call itself. */
function run(rpc: VaultRpc, call: RpcCall, args: readonly unknown[]): Promise<unknown> {
  const method = rpc[call] as (...given: unknown[]) => Promise<unknown>;
  return method.apply(rpc, [...args]);
}

function streamEvents(rpc: VaultRpc, response: Response): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.write(': connected\n\n');
  const stop = rpc.onEvent((event) => {
    if (response.writableLength > mostUnread) response.destroy();
    else response.write(`data: ${JSON.stringify(event)}\n\n`);
  });
  const stopKeeping = every(keepAliveMs, () => response.write(': still here\n\n'));
  const end = owned(() => {
    stopKeeping();
    stop();
  });
  response.on('close', end);
}

const cookieName = (request: Request): string => `keyhearth_${String(request.socket.localPort)}`;

/** Calls that are given what opens the vault, or will. */
const secretCalls: ReadonlySet<RpcCall> = new Set<RpcCall>([
  'unlock',
  'prove',
  'create',
  'restore',
  'changeKeyslots',
  'checkRecovery',
  'recoverySheet',
  'backUp',
  'verifyBackup',
]);

/** Reads the body of a call; of one with secrets nothing is left but those, which the caller erases. */
function readCall(call: RpcCall, request: Request): ReadJson {
  if (!secretCalls.has(call)) return { value: json(request), erase: () => undefined };
  const raw = rawBody(request.body);
  try {
    return parseWithSecrets(raw);
  } catch {
    throw badBody();
  } finally {
    raw.fill(0);
  }
}

const badBody = (): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', 'bad request body: expected a JSON object');

function json(request: Request): unknown {
  try {
    return parsePlainJson(Buffer.from(rawBody(request.body)).toString('utf8'));
  } catch {
    throw badBody();
  }
}
