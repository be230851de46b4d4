/**
 * Checks that a Secret Service answers on the D-Bus session.
 *
 * The keychain library makes blocking calls, some without a time limit. A call to a bus that has stopped
 * answering occupies a thread for good, and the process can no longer end. So this check goes first, over a
 * socket that can be closed.
 */
import { lstatSync, statSync } from 'node:fs';
import { owned } from '../../lib/faults.ts';
import { BusAnswerError, BusError, busSocket, MessageBus } from '../../bus/message-bus.ts';

/** Why no Secret Service can be used. */
export type BusFault = 'no-bus' | 'foreign-bus' | 'bus-silent' | 'no-service' | 'service-silent';

const ping = {
  destination: 'org.freedesktop.secrets',
  path: '/org/freedesktop/secrets',
  interface: 'org.freedesktop.DBus.Peer',
  member: 'Ping',
} as const;

/**
 * Sends one `Ping` to the Secret Service, which starts it where the bus knows how.
 * @param address As in DBUS_SESSION_BUS_ADDRESS.
 * @param limit Milliseconds.
 * @param signal Ends the wait, as if the service were silent.
 * @returns undefined where the service answers, and where only trying can tell: the address is of a kind not read here,
 *   or the bus wants another way of logging in.
 */
export async function secretServiceFault(
  address: string,
  limit: number,
  signal?: AbortSignal,
): Promise<BusFault | undefined> {
  if (address.split(';').some(isForeign)) return 'foreign-bus';
  const path = busSocket(address);
  if (path === undefined) return undefined;
  using bus = new MessageBus(path);
  const { promise: silence, resolve, reject } = Promise.withResolvers<BusFault>();
  const giveUp = owned(() => {
    resolve(bus.isIn ? 'service-silent' : 'bus-silent');
  }, reject);
  const timer = setTimeout(giveUp, limit);
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([bus.call(ping).then(() => undefined, faultOf), silence]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/**
 * Everything that the keychain keeps is sent through the bus, and the bus proves nothing to who connects. GLib tries the addresses in
 * their order.
 * @returns true if another user, or another machine, may be at the other end.
 */
function isForeign(address: string): boolean {
  if (!/^(unix:|autolaunch:|$)/.test(address)) return true;
  const path = busSocket(address);
  // An abstract socket has no owner.
  return (
    path !== undefined &&
    !path.startsWith('\0') &&
    [lstatSync, statSync].some((look) => isOfAnother(path, look))
  );
}

/** @param look At a link, or at what it leads to: the owner of a link chooses that. */
function isOfAnother(path: string, look: typeof statSync): boolean {
  try {
    const { uid } = look(path);
    return uid !== 0 && uid !== process.geteuid?.();
  } catch {
    // Connecting fails for the same reason.
    return false;
  }
}

/** Any answer of the service itself shows that it is there, an error too. */
function faultOf(error: unknown): BusFault | undefined {
  if (error instanceof BusError) return error.trouble === 'gone' ? 'no-bus' : undefined;
  if (!(error instanceof BusAnswerError)) throw error;
  const name = error.errorName.replace('org.freedesktop.DBus.Error.', '');
  if (name === 'ServiceUnknown' || name === 'NameHasNoOwner' || name.startsWith('Spawn.'))
    return 'no-service';
  if (name === 'NoReply' || name === 'Timeout' || name === 'TimedOut') return 'service-silent';
  return undefined;
}
