/** Bodies can hold a password or a recovery phrase: what they came in is erased once it is read. */
import type { Server, Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { owned } from '../lib/faults.ts';

/** A request's parts, as they came. */
const parts = new WeakMap<object, Buffer[]>();

/** Notes the parts of a body, for `erasePartsOfBody`. */
export const notePartsOfBody: RequestHandler = (request, _response, next) => {
  const noted: Buffer[] = [];
  parts.set(request, noted);
  request.on(
    'data',
    owned((part: Buffer) => noted.push(part)),
  );
  next();
};

/** Erases the parts of a body that has been put together. */
export const erasePartsOfBody: RequestHandler = (request, _response, next) => {
  for (const part of parts.get(request)?.splice(0) ?? []) part.fill(0);
  next();
};

/**
 * Erases the bytes of a connection once the parser has read them; it copies the bytes that it passes on. A
 * connection with a listener is read into memory of its own. Without one, the parser reads all connections
 * into one buffer, where the end of a long request stays until a longer one comes.
 * @param socket A socket that the server's parser already has.
 */
export function eraseReads(socket: Pick<Socket, 'on'>): void {
  socket.on(
    'data',
    owned((chunk: Buffer) => chunk.fill(0)),
  );
}

/** The same for every connection of a server, of those to come. */
export function eraseReadsOf(server: Server): void {
  server.on('connection', owned(eraseReads));
}
