/** The command's side of the control channel: every request goes over a connection of its own, which is proven first. */
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { proveToServer, UnprovenError } from './handshake.ts';
import { checkSocket, NotPrivateError } from './place.ts';
import { owned } from '../lib/faults.ts';

/** What `endpoint.json` says of the channel. */
export interface ControlEndpoint {
  readonly socket: string;
  readonly nonce: string;
}

export interface ControlAnswer {
  readonly status: number;
  readonly text: string;
}

/** No process listens. */
export class NobodyListensError extends Error {
  override readonly name = 'NobodyListensError';
}

/** Whether an error says that something is there which is not the vault's service. */
export const isStranger = (error: unknown): error is NotPrivateError | UnprovenError =>
  error instanceof NotPrivateError || error instanceof UnprovenError;

/**
 * @returns a connection to the process that wrote `endpoint.json`.
 * @throws NobodyListensError
 * @throws NotPrivateError, UnprovenError where something else is there; it was sent a random number at most.
 */
async function connectProven({ socket: address, nonce }: ControlEndpoint): Promise<Socket> {
  if (!checkSocket(address)) throw new NobodyListensError(`nothing is at ${address}`);
  const socket = await open(address);
  await proveToServer(socket, nonce);
  return socket;
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

/** Posts JSON, and reads the whole answer. @param path Without the slash that it begins with. */
export async function postControl(
  endpoint: ControlEndpoint,
  path: string,
  body: unknown,
): Promise<ControlAnswer> {
  const response = await send(endpoint, 'POST', `/${path}`, JSON.stringify(body));
  return { status: response.statusCode ?? 0, text: await text(response) };
}

/** Reads a stream of events, an object of JSON each, until the process ends, or the signal comes. */
export async function readControlEvents(
  endpoint: ControlEndpoint,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: unknown) => void },
): Promise<void> {
  const response = await send(endpoint, 'GET', '/events', undefined, signal);
  let rest = '';
  for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) onEvent(JSON.parse(line.slice('data: '.length)));
    }
  }
}

async function send(
  endpoint: ControlEndpoint,
  method: string,
  path: string,
  body?: string,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const socket = await connectProven(endpoint);
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: {
        host: 'latchkey',
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    sent.once('response', resolve).once('error', reject).end(body);
  });
}
