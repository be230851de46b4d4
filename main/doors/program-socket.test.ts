/** The class: the requests of a program that reads no answers wait, so the answers do not fill the memory. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { SocketTransport } from './mcp/socket-transport.ts';
import type { Program } from './program.ts';
import { openProgramSocket } from './program-socket.ts';
import { openSshAgent } from './ssh/server.ts';

let resources = new AsyncDisposableStack();
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const requests = 60;
/** More than the system itself keeps for a socket. */
const large = 'x'.repeat(1_000_000);
const faults: unknown[] = [];

function options() {
  const directory = mkdtempSync(join(tmpdir(), 'kh-'));
  resources.defer(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const onFault = (fault: unknown): number => faults.push(fault);
  return { directory, homeDirectory: directory, url: 'http://127.0.0.1:1', onFault };
}

interface Opened {
  readonly address: string;
  /** Of all requests together. */
  readonly message: Buffer;
  /** Requests that were read so far. */
  readonly read: () => number;
}

async function openSsh(): Promise<Opened> {
  let read = 0;
  const answers: Readonly<Record<string, object>> = {
    list_private_key_tags: { privateKeyTags: [{ tagName: 'ssh', tagId: 'tag' }] },
    list_private_keys: {
      privateKeys: [{ publicKey: '11'.repeat(32), privateKeyName: large, privateKeyTags: ['tag'] }],
    },
    list_policies: { policies: [] },
  };
  const program = {
    name: 'laptop',
    query: (path: string) => {
      if (path === 'whoami') read += 1;
      return Promise.resolve(answers[path] ?? { userId: 'user' });
    },
  };
  const { address, ...opened } = await openSshAgent(program as unknown as Program, options());
  resources.defer(() => opened.close());
  return { address, message: Buffer.from('000000010b'.repeat(requests), 'hex'), read: () => read };
}

async function openMcp(answer = large): Promise<Opened> {
  let read = 0;
  const { address, ...opened } = await openProgramSocket('mcp-agent', options(), 1, (socket) => {
    const transport = new SocketTransport(socket, (fault) => faults.push(fault));
    transport.onmessage = () => {
      read += 1;
      void transport.send({ jsonrpc: '2.0', id: 1, result: { answer } });
    };
    void transport.start();
    return { end: () => undefined, isBusy: () => true };
  });
  resources.defer(() => opened.close());
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  return { address, message: Buffer.from(`${message}\n`.repeat(requests)), read: () => read };
}

test.each([
  ['ssh', openSsh],
  ['mcp', () => openMcp()],
])('on the socket of %s a client that reads no answers is read no further', async (_door, open) => {
  const { address, message, read } = await open();
  const silent = await connectTo(address);
  silent.pause().write(message);
  await expect.poll(read).toBeGreaterThan(0);
  for (let turn = 0; turn < 2000; turn++) await new Promise(setImmediate);
  expect(read()).toBeLessThan(requests / 2);
  // Once it reads, it gets them all.
  let bytes = 0;
  silent.on('data', ({ length }: Buffer) => (bytes += length)).resume();
  await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(requests * large.length);
  expect(read()).toBe(requests);
  expect(faults).toEqual([]);
});

// The class: a client that sends much at once keeps others from being served meanwhile.
test('between two messages of an agent that sends many at once, others have their turn', async () => {
  const { address, message, read } = await openMcp('');
  const many = await connectTo(address);
  many.resume().write(message);
  let turns = 0;
  while (read() < requests) {
    await new Promise(setImmediate);
    if (read() > 0) turns += 1;
  }
  expect(turns).toBeGreaterThanOrEqual(requests - 1);
});

async function connectTo(address: string): Promise<Socket> {
  const socket = connect(address).on('error', () => undefined);
  resources.defer(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}
