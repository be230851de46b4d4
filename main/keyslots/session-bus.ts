/**
 * Whether a Secret Service answers on the D-Bus session, asked in the protocol itself (D-Bus Specification 0.43).
 *
 * The keychain library makes blocking calls, without a limit of time on some: one made to a bus that has stopped
 * answering occupies a thread for good, and the process can no longer end. So this asks first, over a socket that can
 * be closed.
 */
import { createConnection } from 'node:net';
import { owned } from '../lib/faults.ts';

/** Why no Secret Service can be used. */
export type BusFault = 'no-bus' | 'bus-silent' | 'no-service' | 'service-silent';

const serviceName = 'org.freedesktop.secrets';

/**
 * Sends one `Ping` to the Secret Service, which starts it where the bus knows how.
 * @param address As in DBUS_SESSION_BUS_ADDRESS.
 * @param limit Milliseconds.
 * @returns undefined where the service answers, and where only trying can tell: the address is of a kind not read here,
 *   or the bus wants another way of logging in.
 */
export async function secretServiceFault(address: string, limit: number): Promise<BusFault | undefined> {
  const path = socketPath(address);
  if (path === undefined) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<BusFault | undefined>();
  const conversation = new Conversation();
  const socket = createConnection(path);
  const timer = setTimeout(
    owned(() => {
      resolve(conversation.isIn ? 'service-silent' : 'bus-silent');
    }, reject),
    limit,
  );
  const gone = owned(() => {
    resolve('no-bus');
  }, reject);
  const hear = (bytes: Buffer): void => {
    const step = conversation.hear(bytes);
    if ('fault' in step) resolve(step.fault);
    else if (step.say.length > 0) socket.write(step.say);
  };
  socket.on(
    'connect',
    owned(() => socket.write('\0AUTH EXTERNAL\r\n'), reject),
  );
  socket.on('data', owned(hear, reject));
  socket.on('error', gone);
  socket.on('close', gone);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** The socket of the first address; Node's form of an abstract one begins with a null character. */
function socketPath(addresses: string): string | undefined {
  const [first = ''] = addresses.split(';');
  if (!first.startsWith('unix:')) return undefined;
  const entries = first.slice('unix:'.length).split(',');
  for (const entry of entries) {
    const [key, value] = [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)];
    if (key !== 'path' && key !== 'abstract') continue;
    const name = unescaped(value);
    if (name === undefined) return undefined;
    return key === 'path' ? name : `\0${name}`;
  }
  return undefined;
}

function unescaped(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

type Step = { readonly say: Uint8Array } | { readonly fault: BusFault | undefined };

const text = new TextEncoder();
const nothing: Step = { say: new Uint8Array(0) };

/** The lines of logging in, then messages; it takes bytes in any portions. */
class Conversation {
  #isIn = false;
  #heard = Buffer.alloc(0);

  /** Whether the bus has let us in, so that what is silent now is the service. */
  get isIn(): boolean {
    return this.#isIn;
  }

  hear(bytes: Uint8Array): Step {
    this.#heard = Buffer.concat([this.#heard, bytes]);
    return this.#isIn ? this.#message() : this.#line();
  }

  #line(): Step {
    const end = this.#heard.indexOf('\r\n');
    if (end === -1) return this.#heard.length > maxLength ? { fault: undefined } : nothing;
    const [word] = this.#heard.toString('latin1', 0, end).split(' ');
    this.#heard = this.#heard.subarray(end + 2);
    // EXTERNAL without a name: the bus takes the user from the socket, whatever it is called there.
    if (word === 'DATA') return { say: text.encode('DATA\r\n') };
    if (word !== 'OK') return { fault: undefined };
    this.#isIn = true;
    return { say: Buffer.concat([text.encode('BEGIN\r\n'), hello, ping]) };
  }

  #message(): Step {
    while (this.#heard.length >= 16) {
      const head = readHead(this.#heard);
      if (head.length > maxLength) return { fault: undefined };
      if (this.#heard.length < head.length) break;
      const reply = readReply(this.#heard.subarray(0, head.length), head);
      this.#heard = this.#heard.subarray(head.length);
      if (reply?.to === pingSerial) return { fault: faultOf(reply.errorName) };
    }
    return nothing;
  }
}

/** Any answer of the service itself shows that it is there, an error too. */
function faultOf(errorName: string | undefined): BusFault | undefined {
  const name = errorName?.replace('org.freedesktop.DBus.Error.', '');
  if (name === undefined) return undefined;
  if (name === 'ServiceUnknown' || name === 'NameHasNoOwner' || name.startsWith('Spawn.'))
    return 'no-service';
  if (name === 'NoReply' || name === 'Timeout' || name === 'TimedOut') return 'service-silent';
  return undefined;
}

/** Bytes; answers are a hundred or so. */
const maxLength = 65_536;
const pingSerial = 2;
const align8 = (offset: number): number => Math.ceil(offset / 8) * 8;

const field = { path: 1, interface: 2, member: 3, errorName: 4, replySerial: 5, destination: 6 } as const;
const type = { methodCall: 1, methodReturn: 2, error: 3 } as const;

const hello = methodCall(1, {
  path: '/org/freedesktop/DBus',
  destination: 'org.freedesktop.DBus',
  interface: 'org.freedesktop.DBus',
  member: 'Hello',
});
const ping = methodCall(pingSerial, {
  path: '/org/freedesktop/secrets',
  destination: serviceName,
  interface: 'org.freedesktop.DBus.Peer',
  member: 'Ping',
});

/** A call without arguments, little-endian. */
function methodCall(
  serial: number,
  names: {
    readonly path: string;
    readonly destination: string;
    readonly interface: string;
    readonly member: string;
  },
): Uint8Array {
  const parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const name of ['path', 'interface', 'member', 'destination'] as const) {
    add(Buffer.alloc(align8(length) - length));
    const value = Buffer.from(names[name], 'utf8');
    const size = Buffer.alloc(4);
    size.writeUInt32LE(value.length);
    add(Buffer.from([field[name], 1, (name === 'path' ? 'o' : 's').charCodeAt(0), 0]));
    add(Buffer.concat([size, value, Buffer.of(0)]));
  }
  const head = Buffer.alloc(16);
  head.set(['l'.charCodeAt(0), type.methodCall, 0, 1]);
  head.writeUInt32LE(serial, 8);
  head.writeUInt32LE(length, 12);
  return Buffer.concat([head, ...parts, Buffer.alloc(align8(length) - length)]);
}

interface Head {
  readonly isLittle: boolean;
  readonly fieldsEnd: number;
  /** Of the whole message. */
  readonly length: number;
}

function readHead(message: Buffer): Head {
  const isLittle = message[0] === 'l'.charCodeAt(0);
  const fieldsEnd = 16 + readUint32(message, 12, isLittle);
  return { isLittle, fieldsEnd, length: align8(fieldsEnd) + readUint32(message, 4, isLittle) };
}

interface Reply {
  /** The serial of the call that is answered. */
  readonly to: number;
  readonly errorName: string | undefined;
}

/** Answers undefined for what is no reply, and for what is not well formed. */
function readReply(message: Buffer, { isLittle, fieldsEnd }: Head): Reply | undefined {
  if (message[1] !== type.methodReturn && message[1] !== type.error) return undefined;
  let to: number | undefined;
  let errorName: string | undefined;
  let offset = 16;
  while (offset + 8 <= fieldsEnd) {
    const code = message[offset];
    const signature = message.toString('latin1', offset + 2, offset + 3);
    const value = offset + 4;
    if (signature === 'u') {
      if (code === field.replySerial) to = readUint32(message, value, isLittle);
      offset = value + 4;
    } else if (signature === 's' || signature === 'o') {
      const end = value + 4 + readUint32(message, value, isLittle);
      if (code === field.errorName) errorName = message.toString('utf8', value + 4, end);
      offset = end + 1;
    } else if (signature === 'g') {
      offset = value + 2 + (message[value] ?? 0);
    } else {
      return undefined;
    }
    offset = align8(offset);
  }
  return to === undefined ? undefined : { to, errorName };
}

const readUint32 = (bytes: Buffer, offset: number, isLittle: boolean): number =>
  isLittle ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset);
