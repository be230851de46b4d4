/** The loopback port: bind, rules for hosts and origins, and the API's routes. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { isIPv6, type AddressInfo, type Socket } from 'node:net';
import type { Express, NextFunction, Request, Response } from 'express';
import type { VaultRpc } from '../../preload/contract.ts';
import { boundConnections } from '../net/connections.ts';
import { ExplainedError, KeyhearthError } from '../lib/errors.ts';
import { rawBody, sendJson } from './answer.ts';
import { documentation } from './documentation.ts';
import { apiReference, type ApiReferenceOptions } from './openapi/reference.ts';
import { approverRoutes } from './approver/routes.ts';
import { doorRoutes, withoutTokens, type AnswerProgram } from './door-routes.ts';
import { bareApp, rawBodies, refuseTheRest, renderErrors, withPaths } from './app.ts';
import { devRoutes, type DevControls } from './dev/routes.ts';
import { eraseReadsOf } from './erase-reads.ts';
import { EventStreams } from './events/event-stream.ts';
import { handle, type Service } from './handle.ts';
import { largeBodies } from './large-bodies.ts';
import { takeNotes, type RequestJournal } from './request-journal.ts';
import { checkHost, checkOrigin, type Exposure, type OriginRules } from './origins.ts';
import { windowPage } from './window/page.ts';
import { windowRoutes, type WindowRouteOptions } from './window/routes.ts';
import type { WindowSessions } from './window/sessions.ts';
import { owned, type OnFault } from '../lib/faults.ts';
import { boundUnread } from './unread-answers.ts';
import { readWait, whenGone, type Wait } from './waiters.ts';

export interface ServerOptions {
  readonly service: Service;
  readonly rpc: VaultRpc;
  readonly sessions: WindowSessions;
  /** Keeps the last requests, for who looks at them. */
  readonly journal: RequestJournal;
  readonly origins: OriginRules;
  /** Addresses to listen on beside loopback, and their Host headers. */
  readonly exposure: Exposure;
  /** 0 for any free port. */
  readonly port: number;
  /** True if the port comes from the vault's settings. */
  readonly isPortSetting?: boolean;
  /** Directory of the built window, where the port serves it. */
  readonly window?: string;
  /** Public halves of the vault's own keys; throws while there is no vault. */
  readonly discoveryKeys: () => Record<string, string>;
  /** JSON Web Keys with which receivers of webhooks verify signatures. */
  readonly webhookKeys: () => readonly object[];
  /** The description of the API beside its operations. */
  readonly reference: Omit<ApiReferenceOptions, 'operations'>;
  /** Directory of the documentation's pages: `dist/site`. */
  readonly site: string;
  readonly dev?: DevControls;
  readonly answerProgram: AnswerProgram;
  /** Called when a person uses a window in a browser. */
  readonly onWindowUsed: () => void;
  /** Takes a part of a backup that a person chose in a browser. */
  readonly uploadBackup: WindowRouteOptions['uploadBackup'];
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** The port is taken; the message says what to do. */
export class PortInUseError extends ExplainedError {
  override readonly name = 'PortInUseError';

  /** @param isSetting Whether the vault's settings name it, which they do again at the next start. */
  constructor(port: number, isSetting = false) {
    super(
      isSetting
        ? `Port ${String(port)}, which the settings name, is in use by another program. Choose another: \`keyhearth settings set port usual\`, or a number instead of usual; for one start alone, --port.`
        : `Port ${String(port)} is in use by another program. Choose another with --port, or --port 0 for any free one.`,
    );
  }
}

export async function listen(options: ServerOptions): Promise<Listening> {
  const app = makeApp(options);
  const [firstAddress, ...addresses] = addressesOf(options.exposure.address);
  const first = await bind(app, firstAddress, options.port, options);
  const { port } = first.address() as AddressInfo;
  const servers = [first];
  for (const address of addresses) {
    try {
      servers.push(await bind(app, address, port, options));
    } catch (error) {
      // A machine without IPv6 has no ::1; every other reason counts.
      if (address === '::1' && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(errorCode(error))) continue;
      for (const server of servers) server.close();
      throw error;
    }
  }
  return {
    port,
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

/** Loopback always is among them: an address for all of IPv4 or of IPv6 has that of its own kind. */
function addressesOf(address: string | undefined): readonly [string, ...string[]] {
  switch (address) {
    case undefined:
    case '127.0.0.1':
    case '::1':
      return ['127.0.0.1', '::1'];
    case '0.0.0.0':
      return ['0.0.0.0', '::1'];
    case '::':
      return ['0.0.0.0', '::'];
    default:
      return ['127.0.0.1', '::1', address];
  }
}

function makeApp(options: ServerOptions): Express {
  const { service, rpc, sessions, origins, exposure, journal } = options;
  const app = bareApp();
  app.use((request, response, next) => {
    journal.watch(request, response);
    next();
  });
  app.use(checkHost(exposure.hosts), checkOrigin(origins), largeBodies(), rawBodies());

  const streams = new EventStreams(service);
  app.post('/public/v1/stream/activities', checkContentType, async (request, response) => {
    await streams.answer({ headers: request.headers, raw: rawBody(request.body) }, response);
  });
  app.post('/public/v1/:kind/:operation', checkContentType, async (request, response) => {
    const path = request.path.slice('/public/v1/'.length);
    const notes = takeNotes(response);
    const { status, body, headers } = await handle(service, {
      path,
      headers: request.headers,
      raw: rawBody(request.body),
      wait: waitOf(request, response, service.onFault),
      notes,
    });
    const applied = notes.waited && { 'Preference-Applied': `wait=${String(notes.waited)}` };
    notes.answerBytes = sendJson(response, status, body, { ...headers, ...applied });
  });
  app.use(doorRoutes(options.answerProgram, service.onFault, checkContentType));
  app.get('/public/v1/discovery/keys', (_request, response) => {
    sendJson(response, 200, options.discoveryKeys());
  });
  app.get('/public/v1/discovery/webhooks/jwks', (_request, response) => {
    sendJson(response, 200, { keys: options.webhookKeys() });
  });
  app.all('/public/v1/:kind/:operation', (request, response) => {
    response.setHeader('Allow', 'POST');
    throw new KeyhearthError('METHOD_NOT_ALLOWED', `expected POST, got ${request.method}`);
  });
  app.use(
    apiReference({ ...options.reference, operations: service.operations }),
    documentation(options.site),
  );
  app.use(
    '/window',
    windowRoutes(rpc, sessions, service, {
      ui: options.window !== undefined,
      onUsed: options.onWindowUsed,
      uploadBackup: options.uploadBackup,
    }),
  );
  if (options.dev !== undefined) app.use('/dev', devRoutes(options.dev));
  if (options.window !== undefined) {
    app.use('/approver', approverRoutes(service, rpc));
    app.use(windowPage(options.window));
  }

  app.use(refuseTheRest, renderErrors(service));
  return app;
}

function waitOf({ headers }: Request, response: Response, onFault: OnFault): Wait | undefined {
  const seconds = readWait(headers['prefer']?.toString());
  if (seconds === undefined) return undefined;
  return { seconds, gone: whenGone(response, onFault) };
}

/**
 * Some SDKs name no type, for which `fetch` then sends text/plain. A browser may post that, like a form's types, without
 * asking first, so from a page it is refused.
 */
function checkContentType(request: Request, _response: Response, next: NextFunction): void {
  const type = request.headers['content-type'];
  const fromPage = request.headers.origin !== undefined;
  const taken = fromPage ? /^application\/json\s*(;|$)/i : /^(application\/json|text\/plain)\s*(;|$)/i;
  if (type !== undefined && !taken.test(type)) {
    throw new KeyhearthError(
      'UNSUPPORTED_MEDIA_TYPE',
      `expected Content-Type application/json, got ${JSON.stringify(type.slice(0, 100))}`,
    );
  }
  next();
}

function bind(
  app: Express,
  host: string,
  port: number,
  {
    isPortSetting,
    service: { onFault },
    window,
  }: Pick<ServerOptions, 'isPortSetting' | 'service' | 'window'>,
): Promise<Server> {
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    connectionsCheckingInterval: 5_000,
  });
  server.maxHeadersCount = 100;
  server.on('request', owned(fewAtATime(server, withPaths(withoutTokens(app)), onFault), onFault));
  // Requests of a window may hold secrets.
  if (window !== undefined) eraseReadsOf(server);
  return new Promise((resolve, reject) => {
    const refused = owned((error: Error) => {
      reject(errorCode(error) === 'EADDRINUSE' ? new PortInUseError(port, isPortSetting) : error);
    }, reject);
    server.once('error', refused);
    server.listen({ host, port, ipv6Only: isIPv6(host) }, () => {
      // From here on a connection that could not be accepted is one caller's fault, and ends no other.
      server.off('error', refused).on('error', owned(onFault));
      resolve(server);
    });
  });
}

/** Connections to each address. */
const mostConnections = 1024;

/** A client that sends a request before the answer to the last is served too; one that sends dozens is not. */
const mostPipelined = 16;

/**
 * Bounds the connections, and the requests on each that wait for their answers, before any of their work is done. A connection
 * whose request has come in whole keeps its place until the answer.
 */
function fewAtATime(server: Server, app: RequestListener, onFault: OnFault): RequestListener {
  const open = new WeakMap<Socket, Set<IncomingMessage>>();
  const openOn = (socket: Socket): Set<IncomingMessage> => {
    const requests = open.get(socket) ?? new Set();
    open.set(socket, requests);
    return requests;
  };
  const connections = boundConnections(server, {
    most: mostConnections,
    isBusy: (socket) => [...openOn(socket)].some(({ complete }) => complete),
    onFault,
  });
  const watchUnread = boundUnread();
  return (request, response) => {
    const { socket } = request;
    const requests = openOn(socket);
    if (requests.size >= mostPipelined) {
      socket.destroy();
      return;
    }
    requests.add(request);
    connections.used(socket);
    response.once(
      'close',
      owned(() => requests.delete(request)),
    );
    watchUnread(response);
    app(request, response);
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close(() => {
      clearTimeout(impatience);
      resolve();
    });
    // Answers under way may end; what is still open then, such as a stream of events, is cut.
    const impatience = setTimeout(
      owned(() => {
        server.closeAllConnections();
      }, reject),
      500,
    );
    server.closeIdleConnections();
  });
}

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
