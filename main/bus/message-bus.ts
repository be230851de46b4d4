/**
 * A client of a message bus (D-Bus Specification 0.43), for the few calls and signals that Keyhearth has a use for. Chromium's
 * own connections cannot be reached from here, and the keychain library's calls block without a limit of time.
 */
import { createConnection, type Socket } from 'node:net';
import { owned } from '../lib/faults.ts';
import { logFault } from '../lib/log.ts';
import { Listeners } from '../lib/listeners.ts';
import { ExplainedError } from '../lib/errors.ts';

/** Why a bus does not serve: it is not there or hung up, it wants another way of logging in, or it breaks the protocol. */
export type BusTrouble = 'gone' | 'refused' | 'malformed';

export class BusError extends ExplainedError {
  override readonly name = 'BusError';
  readonly trouble: BusTrouble;

  constructor(trouble: BusTrouble) {
    super(`the message bus is of no use: ${trouble}`);
    this.trouble = trouble;
  }
}

/** An error that the called service, or the bus in its place, answered with. */
export class BusAnswerError extends ExplainedError {
  override readonly name = 'BusAnswerError';
  /** `org.freedesktop.DBus.Error.ServiceUnknown`, for example. */
  readonly errorName: string;

  constructor(errorName: string) {
    super(`the message bus answered ${errorName}`);
    this.errorName = errorName;
  }
}

/** As JavaScript has it: 64-bit numbers are bigints, a struct or a dictionary's entry is an array, a variant its value. */
export type BusValue = boolean | number | bigint | string | readonly BusValue[];

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Texts are all that is sent. */
  readonly values?: readonly string[];
}

export interface BusSignal {
  readonly path: string | undefined;
  readonly interface: string | undefined;
  readonly member: string | undefined;
  readonly values: readonly BusValue[];
}

/** The bus itself. */
export const theBus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

/**
 * The socket of the first address; Node's form of an abstract one begins with a null character.
 * @param addresses As in DBUS_SESSION_BUS_ADDRESS.
 * @returns undefined where it is of a kind not read here.
 */
export function busSocket(addresses: string): string | undefined {
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

interface Waiting {
  readonly resolve: (values: readonly BusValue[]) => void;
  readonly reject: (error: Error) => void;
}

/** A connection, of this user. Calls made before the bus has let it in are sent then. */
export class MessageBus implements Disposable {
  /** Settles when the connection has ended, from either side. */
  readonly ended: Promise<BusError>;
  readonly #end: (error: BusError) => void;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #signals = new Listeners<[BusSignal]>();
  /** The connections of the services that are listened to, by the services' names; undefined until the bus has told. */
  readonly #owners = new Map<string, BusValue | undefined>();
  #unsent: Uint8Array[] = [];
  #heard = Buffer.alloc(0);
  /** Bytes still due of a message that is passed over. */
  #passedOver = 0;
  #isIn = false;
  #hasEnded = false;
  #serial = 0;

  /** @param path As `busSocket` answers. */
  constructor(path: string) {
    const { promise, resolve } = Promise.withResolvers<BusError>();
    this.ended = promise;
    this.#end = resolve;
    const fail = (trouble: BusTrouble): void => {
      this.#fail(trouble);
    };
    const onFault = (): void => {
      fail('malformed');
    };
    this.#socket = createConnection(path);
    this.#socket.on(
      'connect',
      owned(() => this.#socket.write('\0AUTH EXTERNAL\r\n'), onFault),
    );
    this.#socket.on(
      'data',
      owned((bytes: Buffer) => {
        this.#hear(bytes);
      }, onFault),
    );
    const gone = owned(() => {
      fail('gone');
    });
    this.#socket.on('error', gone);
    this.#socket.on('close', gone);
    this.call({ ...theBus, member: 'Hello' }).catch(() => undefined);
  }

  /** True once the bus has accepted us. A silence after that is a service's. */
  get isIn(): boolean {
    return this.#isIn;
  }

  /** @throws BusAnswerError, BusError. */
  call(call: BusCall): Promise<readonly BusValue[]> {
    if (this.#hasEnded) return Promise.reject(new BusError('gone'));
    const { promise, resolve, reject } = Promise.withResolvers<readonly BusValue[]>();
    this.#serial += 1;
    this.#waiting.set(this.#serial, { resolve, reject });
    const message = methodCall(this.#serial, call);
    if (this.#isIn) this.#socket.write(message);
    else this.#unsent.push(message);
    return promise;
  }

  /**
   * Listens to the signals that a service sends from a path of its own, until the connection ends.
   * @throws BusAnswerError where the service is not there, BusError.
   */
  async listen(
    { destination, path }: Pick<BusCall, 'destination' | 'path'>,
    listener: (signal: BusSignal) => void,
  ): Promise<void> {
    const match = (rule: string): Promise<unknown> =>
      this.call({ ...theBus, member: 'AddMatch', values: [`type='signal',${rule}`] });
    this.#signals.add(listener);
    this.#owners.set(destination, undefined);
    await match(`sender='${theBus.destination}',member='NameOwnerChanged',arg0='${destination}'`);
    const [owner] = await this.call({ ...theBus, member: 'GetNameOwner', values: [destination] });
    this.#owners.set(destination, this.#owners.get(destination) ?? owner);
    await match(`sender='${destination}',path='${path}'`);
  }

  [Symbol.dispose](): void {
    this.#fail('gone');
  }

  #fail(trouble: BusTrouble): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket.destroy();
    const error = new BusError(trouble);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#end(error);
  }

  /** Lines while logging in, then messages; bytes come in any portions. */
  #hear(bytes: Uint8Array): void {
    const passedOver = Math.min(this.#passedOver, bytes.length);
    this.#passedOver -= passedOver;
    this.#heard = Buffer.concat([this.#heard, bytes.subarray(passedOver)]);
    while (!this.#hasEnded && (this.#isIn ? this.#message() : this.#line()));
  }

  /** @returns whether there was a whole one. */
  #line(): boolean {
    const end = this.#heard.indexOf('\r\n');
    if (end === -1) {
      if (this.#heard.length > maxLength) this.#fail('malformed');
      return false;
    }
    const [word] = this.#heard.toString('latin1', 0, end).split(' ');
    this.#heard = this.#heard.subarray(end + 2);
    // EXTERNAL without a name: the bus takes the user from the socket, whatever it is called there.
    if (word === 'DATA') this.#socket.write('DATA\r\n');
    else if (word === 'OK') {
      this.#isIn = true;
      this.#socket.write(Buffer.concat([Buffer.from('BEGIN\r\n'), ...this.#unsent]));
      this.#unsent = [];
    } else this.#fail('refused');
    return true;
  }

  /** @returns whether there was a whole one. */
  #message(): boolean {
    if (this.#heard.length < 16) return false;
    const head = readHead(this.#heard);
    if (head.length > maxLength) return this.#passOver(head.length);
    if (this.#heard.length < head.length) return false;
    const message = this.#heard.subarray(0, head.length);
    this.#heard = this.#heard.subarray(head.length);
    this.#take(message, head);
    return true;
  }

  /** Any peer may send a signal to any connection. No service that is asked here sends an answer as long. */
  #passOver(length: number): boolean {
    if (this.#heard[1] !== type.signal) {
      this.#fail('malformed');
      return false;
    }
    const heard = Math.min(length, this.#heard.length);
    this.#passedOver = length - heard;
    this.#heard = this.#heard.subarray(heard);
    return true;
  }

  #take(message: Buffer, head: Head): void {
    if (message[1] !== type.signal) {
      this.#takeAnswer(message, head);
      return;
    }
    try {
      this.#takeSignal(message, head);
    } catch (error) {
      // A peer may send anything. What cannot be read is passed over.
      if (!(error instanceof RangeError)) throw error;
    }
  }

  /** Takes signals of the bus and of services that are listened to. No rule keeps out what another peer sends to this connection. */
  #takeSignal(message: Buffer, head: Head): void {
    const fields = readFields(message, head);
    const sender = text(fields.get(field.sender));
    const isOfBus = sender === theBus.destination;
    if (sender === undefined || !(isOfBus || [...this.#owners.values()].includes(sender))) return;
    const values = readBody(message, head, fields);
    if (isOfBus) {
      const [name, , owner] = values;
      if (text(fields.get(field.member)) !== 'NameOwnerChanged' || typeof name !== 'string') return;
      if (this.#owners.has(name)) this.#owners.set(name, owner);
      return;
    }
    const faults = this.#signals.emit({
      path: text(fields.get(field.path)),
      interface: text(fields.get(field.interface)),
      member: text(fields.get(field.member)),
      values,
    });
    for (const fault of faults) logFault(fault);
  }

  #takeAnswer(message: Buffer, head: Head): void {
    const kind = message[1];
    const fields = readFields(message, head);
    const serial = fields.get(field.replySerial);
    const waiting = typeof serial === 'number' ? this.#waiting.get(serial) : undefined;
    if (typeof serial !== 'number' || waiting === undefined) return;
    if (kind === type.error) waiting.reject(new BusAnswerError(text(fields.get(field.errorName)) ?? ''));
    else if (kind === type.methodReturn) waiting.resolve(readBody(message, head, fields));
    // Last: what is malformed ends the connection, and with it every call that waits.
    this.#waiting.delete(serial);
  }
}

/** Bytes; what is asked for here is a few hundred. */
const maxLength = 65_536;
const deepest = 16;

const field = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
} as const;
const type = { methodCall: 1, methodReturn: 2, error: 3, signal: 4 } as const;

const align = (offset: number, to: number): number => Math.ceil(offset / to) * to;

const text = (value: BusValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Little-endian. */
function methodCall(serial: number, { values = [], ...names }: BusCall): Uint8Array {
  const body = new Writer();
  for (const value of values) body.text(value);
  const fields = new Writer();
  for (const name of ['path', 'interface', 'member', 'destination'] as const) {
    fields.pad(8);
    fields.add(Buffer.from([field[name], 1, (name === 'path' ? 'o' : 's').charCodeAt(0), 0]));
    fields.text(names[name]);
  }
  if (values.length > 0) {
    fields.pad(8);
    const signature = 's'.repeat(values.length);
    fields.add(Buffer.from([field.signature, 1, 'g'.charCodeAt(0), 0, values.length]));
    fields.add(Buffer.from(`${signature}\0`));
  }
  const head = Buffer.alloc(16);
  head.set(['l'.charCodeAt(0), type.methodCall, 0, 1]);
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(serial, 8);
  head.writeUInt32LE(fields.length, 12);
  fields.pad(8);
  return Buffer.concat([head, fields.bytes, body.bytes]);
}

/** Every part begins at a multiple of eight. */
class Writer {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  get bytes(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.length += part.length;
  }

  pad(to: number): void {
    this.add(Buffer.alloc(align(this.length, to) - this.length));
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    this.pad(4);
    this.add(Buffer.concat([size, bytes, Buffer.of(0)]));
  }
}

interface Head {
  readonly isLittle: boolean;
  readonly fieldsEnd: number;
  /** Of the whole message. */
  readonly length: number;
}

function readHead(message: Buffer): Head {
  const isLittle = message[0] === 'l'.charCodeAt(0);
  const read = (offset: number): number =>
    isLittle ? message.readUInt32LE(offset) : message.readUInt32BE(offset);
  const fieldsEnd = 16 + read(12);
  return { isLittle, fieldsEnd, length: align(fieldsEnd, 8) + read(4) };
}

/** @throws RangeError for what is not well formed. */
function readFields(message: Buffer, { isLittle, fieldsEnd }: Head): ReadonlyMap<number, BusValue> {
  const reader = new Reader(message.subarray(0, fieldsEnd), isLittle, 12);
  const [fields] = reader.values('a(yv)');
  return new Map((fields as readonly (readonly [number, BusValue])[]).map(([code, value]) => [code, value]));
}

/** @throws RangeError for what is not well formed. */
const readBody = (
  message: Buffer,
  { isLittle, fieldsEnd }: Head,
  fields: ReadonlyMap<number, BusValue>,
): readonly BusValue[] =>
  new Reader(message.subarray(align(fieldsEnd, 8)), isLittle).values(text(fields.get(field.signature)) ?? '');

/** Types of fixed size: their size, and how to read them. */
const fixed: Readonly<
  Record<string, readonly [size: number, read: (bytes: DataView, at: number, isLittle: boolean) => BusValue]>
> = {
  y: [1, (bytes, at) => bytes.getUint8(at)],
  b: [4, (bytes, at, isLittle) => bytes.getUint32(at, isLittle) !== 0],
  n: [2, (bytes, at, isLittle) => bytes.getInt16(at, isLittle)],
  q: [2, (bytes, at, isLittle) => bytes.getUint16(at, isLittle)],
  i: [4, (bytes, at, isLittle) => bytes.getInt32(at, isLittle)],
  u: [4, (bytes, at, isLittle) => bytes.getUint32(at, isLittle)],
  h: [4, (bytes, at, isLittle) => bytes.getUint32(at, isLittle)],
  x: [8, (bytes, at, isLittle) => bytes.getBigInt64(at, isLittle)],
  t: [8, (bytes, at, isLittle) => bytes.getBigUint64(at, isLittle)],
  d: [8, (bytes, at, isLittle) => bytes.getFloat64(at, isLittle)],
};

/**
 * Reads values one after another.
 * @throws RangeError if the bytes end too early, or the type is unknown.
 */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #isLittle: boolean;
  #at: number;

  constructor(bytes: Uint8Array, isLittle: boolean, at = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#isLittle = isLittle;
    this.#at = at;
  }

  values(signature: string, depth = 0): BusValue[] {
    if (depth > deepest) throw new RangeError('values within values without end');
    const found: BusValue[] = [];
    for (let at = 0; at < signature.length;) {
      const end = endOfType(signature, at);
      found.push(this.#value(signature.slice(at, end), depth));
      at = end;
    }
    return found;
  }

  #value(kind: string, depth: number): BusValue {
    const [first = ''] = kind;
    const plain = fixed[first];
    if (plain !== undefined) {
      const [size, read] = plain;
      return read(this.#view, this.#take(size, size), this.#isLittle);
    }
    switch (first) {
      case 's':
      case 'o':
        return this.#text(this.#uint32());
      case 'g':
        return this.#text(this.#view.getUint8(this.#take(1, 1)));
      case 'v':
        return this.values(this.#text(this.#view.getUint8(this.#take(1, 1))), depth + 1)[0] ?? false;
      case 'a':
        return this.#array(kind.slice(1), depth + 1);
      case '(':
      case '{':
        this.#take(0, 8);
        return this.values(kind.slice(1, -1), depth + 1);
      default:
        throw new RangeError(`no type of a message bus: ${first}`);
    }
  }

  #array(kind: string, depth: number): BusValue[] {
    const size = this.#uint32();
    this.#take(0, alignmentOf(kind));
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new RangeError('an array that ends after its message');
    const found: BusValue[] = [];
    while (this.#at < end) {
      const before = this.#at;
      found.push(...this.values(kind, depth));
      if (this.#at === before) throw new RangeError('an array of nothing');
    }
    return found;
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4, 4), this.#isLittle);
  }

  #text(length: number): string {
    const at = this.#take(length + 1, 1);
    if (at + length > this.#bytes.length) throw new RangeError('a text that ends after its message');
    return Buffer.from(this.#bytes.subarray(at, at + length)).toString('utf8');
  }

  /** @returns where it begins. */
  #take(size: number, alignment: number): number {
    const at = align(this.#at, alignment);
    this.#at = at + size;
    return at;
  }
}

const alignmentOf = (kind: string): number => {
  const [first = ''] = kind;
  if ('({'.includes(first)) return 8;
  if ('gv'.includes(first)) return 1;
  return fixed[first]?.[0] ?? 4;
};

/**
 * Finds the end of the type that begins at a position: an array ends with its element type, brackets with
 * their pair.
 */
function endOfType(signature: string, at: number): number {
  const first = signature[at];
  if (first === 'a') return endOfType(signature, at + 1);
  if (first !== '(' && first !== '{') {
    if (first === undefined) throw new RangeError('a type without an end');
    return at + 1;
  }
  const close = first === '(' ? ')' : '}';
  let end = at + 1;
  while (signature[end] !== close) end = endOfType(signature, end);
  return end + 1;
}
