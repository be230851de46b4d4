import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { PostThread } from './thread.ts';
import type { Batch } from './webhooks-worker.ts';

/** A thread ends at what nothing in it catches, and with it everything that others wait for. */
test('a batch that faults is reported as one, and the batches beside it are delivered', async () => {
  let isAnswered = (): void => undefined;
  const server = createServer((_request, response) => {
    isAnswered = () => {
      response.end();
    };
    server.emit('asked');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const batch: Omit<Batch, 'put'> = {
    url: `http://127.0.0.1:${String(port)}/`,
    reach: 'anywhere',
    keyId: 'key',
    timestampMs: 0,
    events: [{ eventId: 'event', organizationId: 'organization', text: '{}' }],
  };
  const thread = new PostThread();
  const seed = new Uint8Array(32).fill(1);
  try {
    const asked = new Promise((resolve) => server.once('asked', resolve));
    const beside = thread.post(batch, seed);
    await asked;
    await expect(thread.post({ ...batch, url: 'no URL' }, seed)).rejects.toThrow('Invalid URL');
    isAnswered();
    expect(await beside).toEqual([{ outcome: 'delivered', note: 'HTTP 200' }]);
  } finally {
    await thread.close();
    server.close();
  }
});
