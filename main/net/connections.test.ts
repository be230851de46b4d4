/** The class: connections that ask nothing keep out those that ask. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { boundConnections, placesOf, type ConnectionBounds } from './connections.ts';

let resources = new AsyncDisposableStack();
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

test.each([
  [80, 16, 16],
  [1024, 768, 128],
  [20_000, 19_616, 256],
  [Infinity, Infinity, 256],
])('of %i descriptors connections take %i, and the owner has %i more', (descriptors, shared, own) => {
  expect(placesOf(descriptors)).toEqual({ shared, own });
});

/** A server, whose connections have names in the order in which they came. */
async function serve(bounds: Partial<ConnectionBounds> & { readonly most: number }, shared = 100) {
  const directory = mkdtempSync(join(tmpdir(), 'kh-'));
  const path = join(directory, 'socket');
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket));
  const given = { isBusy: () => false, ...bounds };
  const connections = boundConnections(server, given, () => ({ shared, own: 2 }));
  await new Promise<void>((resolve) => server.listen({ path }, resolve));
  resources.defer(async () => {
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });
  return {
    accepted,
    connections,
    /** Connects so many times, one after the other. @returns the numbers of all connections that are open. */
    open: async (count: number): Promise<readonly number[]> => {
      for (let made = 0; made < count; made++) {
        const before = accepted.length;
        const client = connect({ path }).on('error', () => undefined);
        resources.defer(() => {
          client.destroy();
        });
        await expect.poll(() => accepted.length, { interval: 1 }).toBe(before + 1);
      }
      return accepted.flatMap((socket, at) => (socket.destroyed ? [] : [at]));
    },
  };
}

test('the connection that has been quiet for longest makes room', async () => {
  const { open, accepted, connections } = await serve({ most: 3 });
  expect(await open(3)).toEqual([0, 1, 2]);
  const [first] = accepted;
  if (first !== undefined) connections.used(first);
  expect(await open(1)).toEqual([0, 2, 3]);
  expect(await open(2)).toEqual([3, 4, 5]);
});

test('one that is busy keeps its place; where all are, the newest has none', async () => {
  const busy = new Set<Socket | undefined>();
  const { open, accepted } = await serve({ most: 2, isBusy: (socket) => busy.has(socket) });
  await open(2);
  busy.add(accepted[0]);
  expect(await open(1)).toEqual([0, 2]);
  busy.add(accepted[2]);
  expect(await open(1)).toEqual([0, 2]);
});

test('of servers that share places, the one with the most connections gives one up', async () => {
  const [few, many] = [await serve({ most: 10 }, 5), await serve({ most: 10 }, 5)];
  expect(await few.open(1)).toEqual([0]);
  expect(await many.open(5)).toEqual([1, 2, 3, 4]);
  expect(await few.open(1)).toEqual([0, 1]);
  expect(await many.open(0)).toEqual([2, 3, 4]);
  // Those that have ended leave their places.
  for (const socket of many.accepted.slice(2)) await once(socket.destroy(), 'close');
  expect(await few.open(3)).toEqual([0, 1, 2, 3, 4]);
});

test('others do not take the places of a server that has its own', async () => {
  const [others, own] = [await serve({ most: 10 }, 3), await serve({ most: 10, isApart: true }, 3)];
  expect(await others.open(4)).toEqual([1, 2, 3]);
  expect(await own.open(3)).toEqual([1, 2]);
  expect(await others.open(0)).toEqual([1, 2, 3]);
  const [, second] = own.accepted;
  if (second !== undefined) own.connections.release(second);
  expect(await own.open(2)).toEqual([1, 3, 4]);
});
