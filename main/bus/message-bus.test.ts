/**
 * Messages of a bus that break the protocol. A real bus, and services on it, are in
 * test/desktop/session-watch.test.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BusAnswerError, BusError, busSocket, MessageBus, theBus } from './message-bus.ts';

let directory: string;
let path: string;
let server: Server;
/** The bytes that the bus sends after it has let the client in. */
let says: Uint8Array;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-message-bus-'));
  path = join(directory, 'bus');
  server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const heard = bytes.toString('latin1');
      if (heard.startsWith('\0AUTH')) socket.write('OK 1234deadbeef\r\n');
      else if (heard.startsWith('BEGIN')) socket.end(says);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

/** A message of 16 bytes of head, fields and a body, each as it is. */
function message(kind: number, fields: Uint8Array, body: Uint8Array): Buffer {
  const head = Buffer.alloc(16);
  head.set([0x6c, kind, 0, 1]);
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(7, 8);
  head.writeUInt32LE(fields.length, 12);
  const padding = Buffer.alloc((8 - (fields.length % 8)) % 8);
  return Buffer.concat([head, fields, padding, body]);
}

/** The fields of an answer to the call of that serial, with the types of its body. */
function answerTo(serial: number, signature: string): Buffer {
  const types = Buffer.from(`${signature}\0`);
  const first = Buffer.concat([Buffer.from([8, 1, 0x67, 0, signature.length]), types]);
  const padding = Buffer.alloc((8 - (first.length % 8)) % 8);
  return Buffer.concat([first, padding, Buffer.from([5, 1, 0x75, 0, serial, 0, 0, 0])]);
}

/** The fate of a first call. */
async function ask(): Promise<unknown> {
  using bus = new MessageBus(path);
  return await bus.call({ ...theBus, member: 'GetId' }).catch((error: unknown) => error);
}

const text = (value: string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([size, Buffer.from(`${value}\0`)]);
};

describe('an answer', () => {
  test('is read by its types', async () => {
    says = Buffer.concat([
      message(2, answerTo(1, 's'), text(':1.1')),
      message(2, answerTo(2, 's'), text('é')),
    ]);
    expect(await ask()).toEqual(['é']);
  });

  test.each<[string, string, Uint8Array]>([
    ['whose text is longer than its message', 's', Buffer.from([255, 255, 255, 127, 65, 0])],
    ['whose array is longer than its message', 'as', Buffer.from([255, 255, 0, 0])],
    ['that ends within a number', 'u', Buffer.from([1, 2])],
    ['of a type that is none', 'Z', Buffer.from([1, 2, 3, 4])],
    ['of a type without its end', '(s', text('x')],
    ['of an array of nothing', 'a', Buffer.from([4, 0, 0, 0, 1, 2, 3, 4])],
    ['of variants in variants without end', 'v', Buffer.from('\x01v\0'.repeat(200))],
  ])('%s ends the connection', async (_what, signature, body) => {
    says = message(2, answerTo(2, signature), body);
    const fate = await ask();
    expect(fate).toBeInstanceOf(BusError);
    expect(fate).toMatchObject({ trouble: 'malformed' });
  });

  test('of an empty array of structs, of which there is no end, does not come in a loop', async () => {
    // Nothing is taken for an empty struct: only the array's own length ends it.
    says = message(2, answerTo(2, 'a()'), Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    expect(await ask()).toMatchObject({ trouble: 'malformed' });
  });

  test('whatever its bytes, ends the call', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('s', 'a{sv}', 'v', 'as', '(so)', 'aav', 'ay', 'g', 't', ''),
        fc.uint8Array({ maxLength: 64 }),
        async (signature, body) => {
          says = message(2, answerTo(2, signature), body);
          const fate = await ask();
          expect(Array.isArray(fate) || fate instanceof BusError || fate instanceof BusAnswerError).toBe(
            true,
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

test('whatever a bus says, the connection ends without a throw', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      says = bytes;
      expect(await ask()).toBeInstanceOf(BusError);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['unix:path=/run/dbus/system_bus_socket', '/run/dbus/system_bus_socket'],
  ['unix:guid=1,path=/a%20b;unix:path=/c', '/a b'],
  ['unix:abstract=/tmp/x', '\0/tmp/x'],
  ['tcp:host=localhost', undefined],
  ['unix:path=%ff', undefined],
  ['', undefined],
])('the socket of %j is %j', (addresses, socket) => {
  expect(busSocket(addresses)).toBe(socket);
});
