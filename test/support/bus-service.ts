/**
 * A service on a real message bus, for tests: it owns a name, answers calls and sends signals. It writes messages by itself, so
 * that what reads them in the product has another opinion to agree with; the bus's daemon has a third.
 */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';

/** A value with its type, as the specification writes types. */
export type Typed = readonly [signature: string, value: unknown];

export interface HeardCall {
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** The first of its values, where that is a text. */
  readonly text: string;
}

/** An answer's values, or the name of an error. */
export type Answer = readonly Typed[] | string;

export class BusService implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #answer: (call: HeardCall) => Answer;
  #heard = Buffer.alloc(0);
  #serial = 0;
  #isIn = false;

  private constructor(path: string, answer: (call: HeardCall) => Answer) {
    this.#answer = answer;
    this.#socket = createConnection(path);
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (bytes) => {
      this.#heard = Buffer.concat([this.#heard, bytes]);
      this.#hear();
    });
  }

  /** @param address Of the bus. */
  static async start(
    address: string,
    names: readonly string[],
    answer: (call: HeardCall) => Answer,
  ): Promise<BusService> {
    const path = /path=([^,;]+)/.exec(address)?.[1];
    if (path === undefined) throw new Error(`no path in ${address}`);
    const service = new BusService(decodeURIComponent(path), answer);
    const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    await once(service.#socket, 'connect');
    service.#socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    while (!service.#isIn) await once(service.#socket, 'data');
    service.#callBus('Hello', []);
    for (const name of names) {
      service.#callBus('RequestName', [
        ['s', name],
        ['u', 4],
      ]);
    }
    await service.#replies(1 + names.length);
    return service;
  }

  signal(path: string, from: string, member: string, ...values: readonly Typed[]): void {
    this.#send(4, { 1: ['o', path], 2: ['s', from], 3: ['s', member] }, values);
  }

  /** Sends a signal to one connection alone, which need not have asked for it. */
  signalTo(to: string, path: string, from: string, member: string, ...values: readonly Typed[]): void {
    this.#send(4, { 1: ['o', path], 2: ['s', from], 3: ['s', member], 6: ['s', to] }, values);
  }

  /** Waits until the bus has forwarded what was sent: it takes messages in order. */
  async hasSent(): Promise<void> {
    const before = this.#answered;
    this.#callBus('GetId', []);
    await this.#replies(before + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.closed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }

  #callBus(member: string, values: readonly Typed[]): void {
    const bus = 'org.freedesktop.DBus';
    this.#send(
      1,
      { 1: ['o', '/org/freedesktop/DBus'], 2: ['s', bus], 3: ['s', member], 6: ['s', bus] },
      values,
    );
  }

  #answered = 0;

  async #replies(count: number): Promise<void> {
    while (this.#answered < count) await once(this.#socket, 'data');
  }

  #hear(): void {
    if (!this.#isIn) {
      if (!this.#heard.includes('\r\n')) return;
      if (!this.#heard.toString('latin1').startsWith('OK')) throw new Error(this.#heard.toString('latin1'));
      this.#heard = Buffer.alloc(0);
      this.#isIn = true;
      this.#socket.write('BEGIN\r\n');
      return;
    }
    for (;;) {
      if (this.#heard.length < 16) return;
      const end = up(16 + this.#heard.readUInt32LE(12), 8);
      const length = end + this.#heard.readUInt32LE(4);
      if (this.#heard.length < length) return;
      const message = this.#heard.subarray(0, length);
      this.#heard = this.#heard.subarray(length);
      this.#take(message, end);
    }
  }

  #take(message: Buffer, end: number): void {
    const fields = new Map<number, string>();
    // Each is a code, a type of one letter, and a value: all that are of use here are texts.
    for (let at = 16; at < 16 + message.readUInt32LE(12); at = up(at, 8)) {
      const code = message[at] ?? 0;
      const type = message.toString('latin1', at + 2, at + 3);
      at += 4;
      if (type === 'u') at += 4;
      else if (type === 'g') at += 2 + (message[at] ?? 0);
      else {
        const size = message.readUInt32LE(at);
        fields.set(code, message.toString('utf8', at + 4, at + 4 + size));
        at += 4 + size + 1;
      }
    }
    if (message[1] === 2) this.#answered += 1;
    if (message[1] !== 1) return;
    const text =
      message.length > end + 4 ? message.toString('utf8', end + 4, end + 4 + message.readUInt32LE(end)) : '';
    const answer = this.#answer({
      path: fields.get(1) ?? '',
      interface: fields.get(2) ?? '',
      member: fields.get(3) ?? '',
      text,
    });
    const back: Fields = { 5: ['u', message.readUInt32LE(8)], 6: ['s', fields.get(7) ?? ''] };
    if (typeof answer === 'string') this.#send(3, { ...back, 4: ['s', answer] }, []);
    else this.#send(2, back, answer);
  }

  #send(kind: number, fields: Fields, values: readonly Typed[]): void {
    this.#serial += 1;
    const body = new Bytes();
    for (const value of values) body.put(...value);
    const all: Fields =
      values.length === 0 ? fields : { ...fields, 8: ['g', values.map(([type]) => type).join('')] };
    const head = new Bytes();
    for (const part of [0x6c, kind, 0, 1]) head.put('y', part);
    head.put('u', body.all.length);
    head.put('u', this.#serial);
    head.put(
      'a(yv)',
      Object.entries(all).map(([code, value]) => [Number(code), value]),
    );
    head.align(8);
    this.#socket.write(Buffer.concat([head.all, body.all]));
  }
}

type Fields = Readonly<Record<number, Typed>>;

const up = (at: number, to: number): number => Math.ceil(at / to) * to;

class Bytes {
  all = Buffer.alloc(0);

  align(to: number): void {
    this.#add(Buffer.alloc(up(this.all.length, to) - this.all.length));
  }

  put(type: string, value: unknown): void {
    const [first = ''] = type;
    if (first === 'y') this.#add(Buffer.of(Number(value)));
    else if (first === 'u' || first === 'b') this.#number(4, (bytes) => bytes.writeUInt32LE(Number(value)));
    else if (first === 't') this.#number(8, (bytes) => bytes.writeBigUInt64LE(value as bigint));
    else if (first === 's' || first === 'o') {
      const bytes = Buffer.from(value as string);
      this.put('u', bytes.length);
      this.#add(Buffer.concat([bytes, Buffer.of(0)]));
    } else if (first === 'g') {
      const bytes = Buffer.from(value as string);
      this.#add(Buffer.concat([Buffer.of(bytes.length), bytes, Buffer.of(0)]));
    } else if (first === 'v') {
      const [of, content] = value as Typed;
      this.put('g', of);
      this.put(of, content);
    } else if (first === 'a') {
      const of = type.slice(1);
      const isStruct = of.startsWith('(') || of.startsWith('{');
      this.put('u', 0);
      const size = this.all.length - 4;
      if (isStruct) this.align(8);
      const start = this.all.length;
      for (const each of value as readonly unknown[]) this.put(of, each);
      this.all.writeUInt32LE(this.all.length - start, size);
    } else if (first === '(' || first === '{') {
      this.align(8);
      // Of types of one letter alone.
      for (const [index, each] of (value as readonly unknown[]).entries())
        this.put(type[index + 1] ?? '', each);
    } else throw new Error(`no type here: ${type}`);
  }

  #number(size: number, write: (bytes: Buffer) => void): void {
    this.align(size);
    const bytes = Buffer.alloc(size);
    write(bytes);
    this.#add(bytes);
  }

  #add(bytes: Uint8Array): void {
    this.all = Buffer.concat([this.all, bytes]);
  }
}
