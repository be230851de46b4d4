import { chown, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { secretServiceFault } from './session-bus.ts';

/**
 * The bus's reply to each message. The real bus and the real service are tested in
 * test/keys/keychain.test.ts; this one misbehaves.
 */
type Script = (heard: string, socket: Socket) => void;

let directory: string;
let path: string;
let stop: () => Promise<void>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-bus-'));
  path = join(directory, 'a bus,1');
  stop = () => Promise.resolve();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stop();
  await rm(directory, { recursive: true });
});

async function startBus(script: Script): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      script(bytes.toString('latin1'), socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  stop = () =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  return `unix:guid=00,path=${encodeURIComponent(path)};unix:path=/nowhere`;
}

const letIn: Script = (heard, socket) => {
  if (heard.startsWith('\0AUTH')) socket.write('DATA\r\n');
  else if (heard.startsWith('DATA')) socket.write('OK 1234deadbeef\r\n');
};

/** A return (type 2) or error (type 3) of a call, in either byte order. */
function reply(to: number, errorName?: string, big = false): Buffer {
  const uint32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    if (big) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const pad = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
  const body = Buffer.concat([uint32(2), Buffer.from('no\0')]);
  let fields = Buffer.concat([
    Buffer.from([8, 1, 'g'.charCodeAt(0), 0]),
    Buffer.from([1, 's'.charCodeAt(0), 0]),
  ]);
  fields = Buffer.concat([pad(fields), Buffer.from([5, 1, 'u'.charCodeAt(0), 0]), uint32(to)]);
  if (errorName !== undefined) {
    const name = Buffer.from(errorName);
    fields = Buffer.concat([
      pad(fields),
      Buffer.from([4, 1, 's'.charCodeAt(0), 0]),
      uint32(name.length),
      name,
    ]);
    fields = Buffer.concat([fields, Buffer.of(0)]);
  }
  const head = Buffer.concat([
    Buffer.from([(big ? 'B' : 'l').charCodeAt(0), errorName === undefined ? 2 : 3, 1, 1]),
    uint32(body.length),
    uint32(77),
    uint32(fields.length),
  ]);
  return Buffer.concat([pad(Buffer.concat([head, fields])), body]);
}

const answering =
  (...answers: Buffer[]): Script =>
  (heard, socket) => {
    letIn(heard, socket);
    if (heard.startsWith('BEGIN')) socket.write(Buffer.concat(answers));
  };

describe('secretServiceFault', () => {
  test('a service that answers has no fault, in either byte order', async () => {
    for (const big of [false, true]) {
      const address = await startBus(answering(reply(1, undefined, big), reply(2, undefined, big)));
      expect(await secretServiceFault(address, 2000)).toBeUndefined();
      await stop();
    }
  });

  test('answers may come in single bytes', async () => {
    const address = await startBus((heard, socket) => {
      letIn(heard, socket);
      if (!heard.startsWith('BEGIN')) return;
      const bytes = Buffer.concat([reply(1), reply(2, 'org.freedesktop.DBus.Error.ServiceUnknown')]);
      socket.setNoDelay(true);
      const next = (at: number): void => {
        if (at < bytes.length) socket.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    });
    expect(await secretServiceFault(address, 2000)).toBe('no-service');
  });

  test.each([
    ['org.freedesktop.DBus.Error.ServiceUnknown', 'no-service'],
    ['org.freedesktop.DBus.Error.NameHasNoOwner', 'no-service'],
    ['org.freedesktop.DBus.Error.Spawn.ChildExited', 'no-service'],
    ['org.freedesktop.DBus.Error.NoReply', 'service-silent'],
    ['org.freedesktop.DBus.Error.TimedOut', 'service-silent'],
    ['org.freedesktop.DBus.Error.UnknownMethod', undefined],
    ['org.kde.Whatever', undefined],
  ])('the error %s is %s', async (name, fault) => {
    for (const big of [false, true]) {
      const address = await startBus(answering(reply(1), reply(2, name, big)));
      expect(await secretServiceFault(address, 2000)).toBe(fault);
      await stop();
    }
  });

  test('the call is for the Secret Service, after the bus let us in', async () => {
    const heard: string[] = [];
    const address = await startBus((text, socket) => {
      heard.push(text);
      answering(reply(1), reply(2))(text, socket);
    });
    await secretServiceFault(address, 2000);
    expect(heard.slice(0, 2)).toEqual(['\0AUTH EXTERNAL\r\n', 'DATA\r\n']);
    expect(heard[2]).toMatch(/^BEGIN\r\nl.*Hello.*l.*Ping.*org\.freedesktop\.secrets\0/s);
  });

  test('a bus that never answers, and a service that never answers, end at the limit', async () => {
    expect(await secretServiceFault(await startBus(() => undefined), 100)).toBe('bus-silent');
    await stop();
    expect(await secretServiceFault(await startBus(letIn), 100)).toBe('service-silent');
    await stop();
    expect(await secretServiceFault(await startBus(answering(reply(1))), 100)).toBe('service-silent');
  });

  test('a bus that is not there, and one that hangs up', async () => {
    expect(await secretServiceFault('unix:path=/nowhere/bus', 2000)).toBe('no-bus');
    expect(await secretServiceFault('unix:abstract=keyhearth-nowhere', 2000)).toBe('no-bus');
    const address = await startBus((_heard, socket) => socket.end());
    expect(await secretServiceFault(address, 2000)).toBe('no-bus');
  });

  // GLib goes on to the next address where one does not connect.
  test.each([
    'tcp:host=localhost,port=1',
    'nonce-tcp:host=localhost,port=1,noncefile=/nowhere',
    'unix:path=/nowhere/bus;tcp:host=localhost,port=1',
    'launchd:env=A',
  ])('a bus that may be on another machine is of no use: %s', async (address) => {
    expect(await secretServiceFault(address, 2000)).toBe('foreign-bus');
  });

  test('nor is one of another user, also behind a link', async () => {
    const heard: string[] = [];
    const address = await startBus((text, socket) => {
      heard.push(text);
      answering(reply(1), reply(2))(text, socket);
    });
    const link = join(directory, 'link');
    await symlink(path, link);
    const addresses = [address, `unix:path=${encodeURIComponent(link)}`];
    for (const each of addresses) expect(await secretServiceFault(each, 2000)).toBeUndefined();
    heard.length = 0;
    if (process.getuid?.() === 0) await chown(path, 54_321, 54_321);
    else vi.spyOn(process, 'geteuid').mockReturnValue(54_321);
    for (const each of addresses) expect(await secretServiceFault(each, 2000)).toBe('foreign-bus');
    expect(heard).toEqual([]);
  });

  test('unclear cases are left to the keychain library', async () => {
    for (const address of ['', 'autolaunch:', 'unix:runtime=yes', 'unix:path=%ff']) {
      expect(await secretServiceFault(address, 2000)).toBeUndefined();
    }
    const rejecting = await startBus((_heard, socket) => socket.write('REJECTED DBUS_COOKIE_SHA1\r\n'));
    expect(await secretServiceFault(rejecting, 2000)).toBeUndefined();
    await stop();
    const endless = await startBus((_heard, socket) => socket.write('A'.repeat(100_000)));
    expect(await secretServiceFault(endless, 2000)).toBeUndefined();
    await stop();
    const huge = reply(1);
    huge.writeUInt32LE(2 ** 31, 4);
    expect(await secretServiceFault(await startBus(answering(huge)), 2000)).toBeUndefined();
  });
});
