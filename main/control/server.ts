/** The service's side of the control channel: a socket whose connections are HTTP once they are proven. */
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { admitClient } from './handshake.ts';
import { proposeSocketPaths, removeMadeDirectory, type SocketPaths } from './socket-path.ts';
import { boundConnections } from '../net/connections.ts';
import { owned } from '../lib/faults.ts';
import { logFault } from '../lib/log.ts';

export interface ControlOptions extends SocketPaths {
  /** The shared secret; the owner's own processes read it in `endpoint.json`. */
  readonly secret: string;
  /** The address that an earlier process had, which may have been killed. */
  readonly left: string | undefined;
  readonly answer: RequestListener;
  /** Called for each connection, so that its first request does not wait behind others'. @returns what ends that. */
  readonly press?: () => () => void;
  /** Called with each connection once both sides have proven themselves. */
  readonly onServed?: (socket: Socket) => void;
}

export interface ControlServer {
  /** Of the socket, or of the pipe. */
  readonly address: string;
  close(): Promise<void>;
}

/** Milliseconds that answers in progress get once the channel closes. */
const lastWords = 500;

/** For how long a connection comes before others' requests if it does not ask anything, in milliseconds. */
const longestPress = 1000;

/** Connections at once that have not proven themselves. An owner's own does so within milliseconds. */
const mostUnproven = 256;

/** @returns undefined where no directory of this machine can hold a private socket. */
export async function listenForControl(options: ControlOptions): Promise<ControlServer | undefined> {
  const { secret, answer, left, press = () => () => undefined, onServed } = options;
  if (left !== undefined) removeMadeDirectory(left);
  const releases = new WeakMap<Socket, () => void>();
  const http = createHttpServer((request, response) => {
    const release = releases.get(request.socket);
    if (release !== undefined) request.once('end', owned(release));
    answer(request, response);
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once(
      'close',
      owned(() => sockets.delete(socket)),
    );
    const release = press();
    releases.set(socket, release);
    setTimeout(owned(release), longestPress).unref();
    admitClient(socket, secret).then(
      () => {
        unproven.release(socket);
        http.emit('connection', socket);
        onServed?.(socket);
      },
      // The client is a stranger or went away: the connection is closed before it received anything.
      () => undefined,
    );
  });
  const unproven = boundConnections(server, { most: mostUnproven, isApart: true, isBusy: () => false });
  const address = await listenSomewhere(server, options);
  if (address === undefined) return undefined;
  // A connection that could not be accepted is one caller's fault, and ends no other.
  server.on('error', owned(logFault));
  return {
    address,
    close: async () => {
      // The server is closed before the answers know of their ends.
      const ends = Promise.allSettled([...sockets].map((socket) => once(socket, 'close')));
      const impatience = setTimeout(
        owned(() => {
          for (const socket of sockets) socket.destroy();
        }),
        lastWords,
      );
      await new Promise<void>((resolve) => {
        // Node removes the socket's file.
        server.close(() => {
          clearTimeout(impatience);
          removeMadeDirectory(address);
          resolve();
        });
      });
      await ends;
    },
  };
}

async function listenSomewhere(server: Server, paths: SocketPaths): Promise<string | undefined> {
  for (const address of proposeSocketPaths(paths)) {
    try {
      server.listen({ path: address });
      // It throws what the server fails with.
      await once(server, 'listening');
      if (process.platform !== 'win32') chmodSync(address, 0o600);
      return address;
    } catch {
      // Its file system has no sockets: the next place may.
      removeMadeDirectory(address);
    }
  }
  return undefined;
}
