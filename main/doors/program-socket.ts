/** The socket of a program, in the vault's directory: only this user can open it. */
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { namedSocketPath } from '../control/socket-path.ts';
import { ExplainedError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import type { OpenOptions, OpenProgram } from './door.ts';

/** @param connect Called with each connection. @returns what is to be called at its end. */
export async function openProgramSocket(
  name: string,
  { directory, onFault }: OpenOptions,
  mostConnections: number,
  connect: (socket: Socket) => () => void,
): Promise<OpenProgram> {
  const address = namedSocketPath(directory, name);
  if (address === undefined) {
    throw new ExplainedError(`${directory} cannot hold a private socket, or its path is too long`);
  }
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const end = connect(socket);
    socket.once(
      'close',
      owned(() => {
        sockets.delete(socket);
        end();
      }, onFault),
    );
  });
  server.maxConnections = mostConnections;
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
        for (const socket of sockets) socket.destroy();
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
