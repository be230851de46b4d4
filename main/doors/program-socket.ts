/** The socket of a program, in the vault's directory: only this user can open it. */
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { namedSocketPath } from '../control/socket-path.ts';
import { boundConnections } from '../net/connections.ts';
import { ExplainedError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import type { OpenOptions, OpenProgram } from './door.ts';

/** A connection that is served. */
export interface ServedConnection {
  /** Called once it has ended. */
  end(): void;
  /** True where a client waits for an answer. */
  isBusy(): boolean;
}

/** @param connect Called with each connection. */
export async function openProgramSocket(
  name: string,
  { directory, onFault }: OpenOptions,
  mostConnections: number,
  connect: (socket: Socket) => ServedConnection,
): Promise<OpenProgram> {
  const address = namedSocketPath(directory, name);
  if (address === undefined) {
    throw new ExplainedError(`${directory} cannot hold a private socket, or its path is too long`);
  }
  const sockets = new Map<Socket, ServedConnection>();
  const server = createServer((socket) => {
    const served = connect(socket);
    sockets.set(socket, served);
    socket.once(
      'close',
      owned(() => {
        sockets.delete(socket);
        served.end();
      }, onFault),
    );
  });
  boundConnections(server, {
    most: mostConnections,
    isBusy: (socket) => sockets.get(socket)?.isBusy() === true,
    onFault,
  });
  server.listen({ path: address });
  // It throws what the server fails with.
  await once(server, 'listening');
  if (process.platform !== 'win32') chmodSync(address, 0o600);
  server.on('error', owned(onFault));
  return {
    address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets.keys()) socket.destroy();
      }),
  };
}

/** Waits until a client has read what was written for it, or its connection has ended. */
export const whenRead = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (!socket.writableNeedDrain || socket.destroyed) {
      resolve();
      return;
    }
    const end = owned(() => {
      socket.off('drain', end).off('close', end);
      resolve();
    });
    socket.on('drain', end).on('close', end);
  });
