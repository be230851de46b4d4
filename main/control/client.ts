/** The command's side of the control channel. Every request has its own connection, which is proven first. */
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { proveToServer, UnprovenError } from './handshake.ts';
import { checkSocket, NotPrivateError } from './socket-path.ts';
import { owned } from '../lib/faults.ts';
import { ExplainedError } from '../lib/errors.ts';

/** The channel's entry in `endpoint.json`. */
export interface ControlEndpoint {
  readonly socket: string;
  readonly nonce: string;
}

export interface ControlAnswer {
  readonly status: number;
  readonly text: string;
}

/** No process listens. */
export class NobodyListensError extends ExplainedError {
  override readonly name = 'NobodyListensError';
}

/** A process listens and says nothing: it is stopped, or does not come to its turn. */
export class SilentError extends ExplainedError {
  override readonly name = 'SilentError';

  constructor(milliseconds: number) {
    super(`it has not answered for ${String(Math.round(milliseconds / 1000))} s`);
  }
}

/** In milliseconds. */
export interface Patience {
  /** Milliseconds for a whole answer of a process that gives signs of life. */
  readonly answer: number;
  /** Milliseconds for the first sign of life. */
  readonly sign: number;
  /** Between two of those signs. */
  readonly pause: number;
}

const usualPatience: Patience = { answer: 120_000, sign: 10_000, pause: 5_000 };

/** True for an error which says that another program listens instead of the vault's service. */
export const isStranger = (error: unknown): error is NotPrivateError | UnprovenError =>
  error instanceof NotPrivateError || error instanceof UnprovenError;

/**
 * @returns a connection to the process that wrote `endpoint.json`.
 * @throws NobodyListensError
 * @throws NotPrivateError, UnprovenError where something else is there; it was sent a random number at most.
 * @throws SilentError
 */
async function connectProven(
  { socket: address, nonce }: ControlEndpoint,
  sign = usualPatience.sign,
): Promise<Socket> {
  if (!checkSocket(address)) throw new NobodyListensError(`nothing is at ${address}`);
  const socket = await openInTime(address, sign);
  const timer = setTimeout(
    owned(() => {
      socket.destroy(new SilentError(sign));
    }),
    sign,
  );
  try {
    await proveToServer(socket, nonce);
    return socket;
  } catch (error) {
    throw socket.errored ?? error;
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds between attempts where the system has no room for one more connection that waits. */
const fullPause = 10;

/** The queue of the socket may be full of others' connections, which the service takes one by one. @throws SilentError */
async function openInTime(address: string, patience: number): Promise<Socket> {
  const began = performance.now();
  for (;;) {
    try {
      return await open(address);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      if (performance.now() - began > patience) throw new SilentError(patience);
      await wait(fullPause);
    }
  }
}

function open(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: address });
    const failed = owned((error: NodeJS.ErrnoException) => {
      reject(
        ['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '')
          ? new NobodyListensError(`no process listens at ${address}`)
          : error,
      );
    }, reject);
    const connected = owned(() => {
      socket.off('error', failed);
      resolve(socket);
    }, reject);
    socket.once('error', failed).once('connect', connected);
  });
}

/**
 * Posts JSON, and reads the whole answer.
 * @param path Without the slash that it begins with.
 * @throws SilentError where the answer takes too long, or the process shows no sign of life meanwhile.
 */
export async function postControl(
  endpoint: ControlEndpoint,
  path: string,
  body: unknown,
  patience: Partial<Patience> = {},
): Promise<ControlAnswer> {
  const limits = { ...usualPatience, ...patience };
  const over = new AbortController();
  const silent = watchForLife(endpoint, limits, over.signal);
  try {
    return await Promise.race([silent, answerTo(endpoint, path, body, limits, over.signal)]);
  } finally {
    over.abort();
  }
}

async function answerTo(
  endpoint: ControlEndpoint,
  path: string,
  body: unknown,
  { sign }: Patience,
  signal: AbortSignal,
): Promise<ControlAnswer> {
  const response = await send(endpoint, {
    method: 'POST',
    path: `/${path}`,
    body: JSON.stringify(body),
    sign,
    signal,
  });
  return { status: response.statusCode ?? 0, text: await text(response) };
}

/** Connects now and then. It resolves never. @throws SilentError */
async function watchForLife(
  endpoint: ControlEndpoint,
  { answer, sign, pause }: Patience,
  signal: AbortSignal,
): Promise<never> {
  const began = performance.now();
  for (;;) {
    // Of an answer that came, nothing more is asked.
    await wait(pause, undefined, { signal, ref: false }).catch(() => new Promise<never>(() => undefined));
    const asked = performance.now();
    if (asked - began > answer) throw new SilentError(answer);
    try {
      (await connectProven(endpoint, sign)).destroy();
    } catch (error) {
      if (error instanceof SilentError) throw error;
      // One that ended breaks its connections.
    }
  }
}

/** Reads a stream of events, an object of JSON each, until the process ends, or the signal comes. */
export async function readControlEvents(
  endpoint: ControlEndpoint,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: unknown) => void },
): Promise<void> {
  const response = await send(endpoint, { method: 'GET', path: '/events', signal });
  let rest = '';
  for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) onEvent(JSON.parse(line.slice('data: '.length)));
    }
  }
}

/**
 * Tells the process that a command unlocks the vault for itself. The process puts back how the vault was as soon as the visit is
 * over, whatever ends the command.
 * @returns undefined where the process knows no visits.
 */
export async function beginVisit(endpoint: ControlEndpoint): Promise<Disposable | undefined> {
  const visit = new AbortController();
  const response = await send(endpoint, { method: 'GET', path: '/visit', signal: visit.signal });
  // The end of the visit is an error of the stream.
  response
    .on(
      'error',
      owned(() => undefined),
    )
    .resume();
  const end = (): void => {
    visit.abort();
  };
  if (response.statusCode === 200) return { [Symbol.dispose]: end };
  end();
  return undefined;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly sign?: number;
  readonly signal: AbortSignal;
}

async function send(
  endpoint: ControlEndpoint,
  { method, path, body, sign, signal }: Sent,
): Promise<IncomingMessage> {
  const socket = await connectProven(endpoint, sign);
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: {
        host: 'keyhearth',
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal,
    });
    sent.once('response', resolve).once('error', reject).end(body);
  });
}
