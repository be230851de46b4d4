import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { boundUnread } from './unread-answers.ts';

/** More than the system itself keeps for a connection. */
const bytes = 20_000_000;

let resources = new AsyncDisposableStack();
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

/** A server that keeps three unread answers, and not four. */
async function startServer(answer: (response: ServerResponse) => void) {
  const watch = boundUnread(3 * bytes + 100_000);
  const cut: number[] = [];
  let connections = 0;
  let requests = 0;
  const server = createServer((_request, response) => {
    watch(response);
    answer(response);
    requests += 1;
  });
  server.on('connection', (socket) => {
    const number = ++connections;
    socket.once('close', () => cut.push(number));
  });
  resources.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** The connections that have ended, by number. */
    cut,
    /** Asks on a connection of its own, and reads nothing. */
    ask: async (count = 1): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      resources.defer(() => {
        socket.destroy();
      });
      const before = requests;
      socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
      await expect.poll(() => requests).toBe(before + count);
      return socket;
    },
  };
}

describe('answers that are not read', () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['whole', (response) => response.end(Buffer.alloc(bytes))],
    ['without an end', (response) => response.write(Buffer.alloc(bytes))],
  ])('are bounded together: the oldest goes first, %s', async (_what, answer) => {
    const { ask, cut } = await startServer(answer);
    for (let each = 0; each < 3; each++) await ask();
    expect(cut).toEqual([]);
    await ask();
    await expect.poll(() => cut).toEqual([1]);
    await ask();
    await expect.poll(() => cut).toEqual([1, 2]);
  });

  test('are counted behind others on one connection', async () => {
    const { ask, cut } = await startServer((response) => response.end(Buffer.alloc(bytes)));
    await ask(4);
    await expect.poll(() => cut).toEqual([1]);
  });

  test('count no longer once they are read, nor do small ones', async () => {
    const { ask, cut } = await startServer((response) => response.end(Buffer.alloc(bytes)));
    const first = await ask();
    let read = 0;
    first.on('data', ({ length }: Buffer) => (read += length)).resume();
    await expect.poll(() => read).toBeGreaterThan(bytes);
    for (let each = 0; each < 3; each++) await ask();
    expect(cut).toEqual([]);
    const small = await startServer((response) => response.end('x'.repeat(1000)));
    for (let each = 0; each < 20; each++) await small.ask(16);
    expect(small.cut).toEqual([]);
  });
});
