import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { PostThread } from './thread.ts';
import type { Batch } from './webhooks-worker.ts';

interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** @returns what answers the first event of a path, once that has come; those after it are answered at once. */
  first(path: string): Promise<() => void>;
}

/** A receiver that holds the first event of each path until the test answers it. */
async function startReceiver(): Promise<Receiver> {
  const held = new Map<string, PromiseWithResolvers<() => void>>();
  const first = (path: string): PromiseWithResolvers<() => void> => {
    const known = held.get(path) ?? Promise.withResolvers<() => void>();
    held.set(path, known);
    return known;
  };
  const seen = new Set<string>();
  const server = createServer(({ url = '' }, response) => {
    if (seen.has(url)) response.end();
    else first(url).resolve(() => response.end());
    seen.add(url);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    first: (path) => first(path).promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const batchTo = (url: string, events: number): Omit<Batch, 'put' | 'ended'> => ({
  url,
  reach: 'anywhere',
  keyId: 'key',
  timestampMs: 0,
  events: Array.from({ length: events }, (_, index) => ({
    eventId: `event ${String(index)}`,
    organizationId: 'organization',
    text: '{}',
  })),
});

const delivered = { outcome: 'delivered', note: 'HTTP 200' };

/** A thread ends at what nothing in it catches, and with it everything that others wait for. */
test('a batch that faults is reported as one, and the batches beside it are delivered', async () => {
  await using receiver = await startReceiver();
  const thread = new PostThread();
  const seed = new Uint8Array(32).fill(1);
  try {
    const beside = thread.post('one', batchTo(`${receiver.url}/beside`, 1), seed);
    await expect(thread.post('one', batchTo('no URL', 1), seed)).rejects.toThrow('Invalid URL');
    (await receiver.first('/beside'))();
    expect(await beside).toEqual([delivered]);
  } finally {
    await thread.close();
  }
});

test('batches that are ended are those of one organization, and a key that is erased ends all', async () => {
  await using receiver = await startReceiver();
  const thread = new PostThread();
  const seed = new Uint8Array(32).fill(1);
  try {
    const begin = (organizationId: string, path: string) =>
      thread.post(organizationId, batchTo(`${receiver.url}${path}`, 3), seed);
    const [changed, also, other] = [begin('one', '/1'), begin('one', '/2'), begin('another', '/3')];
    const answers = await Promise.all(['/1', '/2', '/3'].map((path) => receiver.first(path)));
    thread.end('one');
    for (const answer of answers) answer();
    expect(await Promise.all([changed, also, other])).toEqual([
      [delivered],
      [delivered],
      [delivered, delivered, delivered],
    ]);
    // A batch that begins after it goes on.
    const later = begin('one', '/4');
    (await receiver.first('/4'))();
    expect(await later).toHaveLength(3);
    const locked = [begin('one', '/5'), begin('another', '/6')];
    const last = await Promise.all(['/5', '/6'].map((path) => receiver.first(path)));
    thread.eraseKey();
    for (const answer of last) answer();
    expect(await Promise.all(locked)).toEqual([[delivered], [delivered]]);
  } finally {
    await thread.close();
  }
});
