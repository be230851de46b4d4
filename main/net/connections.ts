/**
 * Bounds of connections. A process that has no descriptors left opens no file and accepts no connection, not even one by which its
 * owner freezes the vault. So connections take a part of them only, and one that asks nothing makes room for one that may ask.
 */
import type { Server, Socket } from 'node:net';
import { owned, type OnFault } from '../lib/faults.ts';

/** Descriptors for the vault's file and its threads, other files, and requests to other machines. */
const forOthers = 128;

export interface Places {
  /** Connections to all servers that share their places. */
  readonly shared: number;
  /** Connections to a server that has places of its own. */
  readonly own: number;
}

/** Divides the descriptors that a process may open. */
export function placesOf(descriptors: number): Places {
  const own = Math.min(256, Math.max(16, Math.floor(descriptors / 8)));
  return { own, shared: Math.max(16, descriptors - forOthers - own) };
}

/** Descriptors that this process may open. Windows has no such limit. */
function mostDescriptors(): number {
  // Neither is asked for here, and to look up the names of machines takes time.
  Object.assign(process.report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}

let places: Places | undefined;
/** Of this process. */
const currentPlaces = (): Places => (places ??= placesOf(mostDescriptors()));

export interface ConnectionBounds {
  /** Connections at once. */
  readonly most: number;
  /** True for a server whose places others cannot take. */
  readonly isApart?: boolean;
  /** True for a connection that is not ended to make room. */
  readonly isBusy: (socket: Socket) => boolean;
  readonly onFault?: OnFault;
}

export interface BoundedConnections {
  /** Says that a connection has just asked something: those that have been quiet for longer make room first. */
  used(socket: Socket): void;
  /** Counts a connection no longer. */
  release(socket: Socket): void;
}

/** The connections of one server, those that have been quiet for longest first. */
interface Held {
  readonly sockets: Set<Socket>;
  readonly isBusy: (socket: Socket) => boolean;
}

/** Servers that share their places. */
const sharing = new Set<Held>();

/** @param of The process's, unless given. */
export function boundConnections(
  server: Server,
  { most, isApart = false, isBusy, onFault }: ConnectionBounds,
  of: () => Places = currentPlaces,
): BoundedConnections {
  const held: Held = { sockets: new Set(), isBusy };
  const { own, shared } = of();
  const bound = isApart ? Math.min(most, own) : most;
  server.on(
    'connection',
    owned((socket: Socket) => {
      held.sockets.add(socket);
      if (!isApart) sharing.add(held);
      socket.once(
        'close',
        owned(() => {
          release(socket);
        }),
      );
      const hasRoom =
        (held.sockets.size <= bound || endQuiet(held)) &&
        (isApart || countShared() <= shared || byCount().some(endQuiet));
      if (!hasRoom) end(held, socket);
    }, onFault),
  );

  const release = (socket: Socket): void => {
    held.sockets.delete(socket);
    if (held.sockets.size === 0) sharing.delete(held);
  };
  return {
    release,
    used: (socket) => {
      if (held.sockets.delete(socket)) held.sockets.add(socket);
    },
  };
}

const countShared = (): number => [...sharing].reduce((sum, { sockets }) => sum + sockets.size, 0);

/** The server with the most connections is the first to end one: so none of them takes the places of all. */
const byCount = (): Held[] => [...sharing].sort((a, b) => b.sockets.size - a.sockets.size);

/** @returns false where every connection is busy. */
function endQuiet(held: Held): boolean {
  for (const socket of held.sockets) {
    if (held.isBusy(socket)) continue;
    end(held, socket);
    return true;
  }
  return false;
}

function end({ sockets }: Held, socket: Socket): void {
  // Its descriptor is closed at once, its event comes later.
  sockets.delete(socket);
  socket.destroy();
}
