/** Faults that no caller awaits: each is reported, and the service goes on. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { expect, test, vi } from 'vitest';
import { EventStreams } from '../../main/http/events/event-stream.ts';
import type { Service } from '../../main/http/handle.ts';
import { Verifications } from '../../main/auth/verifications.ts';
import { Turns } from '../../main/lib/concurrency/turns.ts';
import { operations } from '../../main/operations/index.ts';
import { activityOf, resultOf, startTestVault } from '../support/support.ts';

const waits = { privateKeyTagName: 'kept', privateKeyIds: [] };

test('a network check that throws is reported, and the service still answers', async () => {
  const fault = new Error('no interfaces can be listed');
  let isBroken = false;
  await using service = await startTestVault({
    substitutes: {
      shell: {
        isOnline: () => {
          if (isBroken) throw fault;
          return true;
        },
      },
    },
  });
  isBroken = true;
  await vi.waitFor(() => {
    expect(service.faults).toContain(fault);
  });
  isBroken = false;
  expect((await service.root.query('whoami')).status).toBe(200);
  service.faults.length = 0;
});

test('a stream that has ended gets no more data, whether or not its client reads', async () => {
  await using service = await startTestVault();
  const { units, keyring: keys } = service.vault;
  const faults: unknown[] = [];
  let grow = (): void => undefined;
  const parts: Partial<Service> = {
    ...{ units, keys, clock: service.clock, rpId: 'localhost', operations, turns: new Turns() },
    verifications: new Verifications(() => false),
    watchLog: (listener) => {
      grow = listener;
      return () => undefined;
    },
    onFault: (error) => faults.push(error),
  };
  const everyMs = 5;
  const streams = new EventStreams(parts as Service, everyMs);
  const raw = Buffer.from(JSON.stringify({ organizationId: service.organizationId }));
  const headers = { 'x-stamp': service.key.stamp(raw.toString()) };
  const server = createServer((_request, response) => {
    void streams.answer({ headers, raw }, response as Response).then(() => {
      // More than a connection holds, so that the end waits for the client for ever.
      response.write(Buffer.alloc(64 * 1024 * 1024));
      server.emit('streaming');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', method: 'POST', agent: false }).on(
    'error',
    () => undefined,
  );
  const streaming = once(server, 'streaming');
  sent.end();
  await streaming;
  await units.write((tx) => tx.run('DELETE FROM api_keys WHERE public_key = ?', service.key.publicKey));
  grow();
  await new Promise((resolve) => setTimeout(resolve, 20 * everyMs));
  expect(faults).toEqual([]);
  sent.destroy();
  server.closeAllConnections();
  server.close();
});

test.each([
  ['is executed', 'create_user_tag', 'CREATE_USER_TAG', { userTagName: 'kept', userIds: [] }, 'COMPLETED'],
  ['waits for votes', 'create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', waits, 'CONSENSUS_NEEDED'],
] as const)(
  'a request that %s says that it is in the log where the disk does not give back its answer',
  async (_what, path, type, parameters, status) => {
    await using service = await startTestVault();
    const { client, userId } = await service.newUser('Ben');
    const policy = { effect: 'EFFECT_ALLOW', notes: '' };
    const own = `submitter.id == '${userId}'`;
    const policies = [
      { ...policy, policyName: 'alone', condition: `${own} && activity.kind == 'CREATE_USER_TAG'` },
      {
        ...policy,
        policyName: 'by two',
        condition: `${own} && activity.kind == 'CREATE_PRIVATE_KEY_TAG'`,
        consensus: 'approvers.count() >= 2',
      },
    ];
    resultOf(await service.root.submit('create_policies', 'CREATE_POLICIES', { policies }));
    const { connection } = service.vault;
    const [run, get] = [connection.run.bind(connection), connection.get.bind(connection)];
    let isCommitted = false;
    const runs = vi.spyOn(connection, 'run').mockImplementation((sql, ...values) => {
      const changes = run(sql, ...values);
      isCommitted ||= sql === 'COMMIT';
      return changes;
    });
    const gets = vi.spyOn(connection, 'get').mockImplementation((sql, ...values) => {
      if (!isCommitted || sql !== 'PRAGMA data_version') return get(sql, ...values);
      gets.mockImplementation(get);
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
    });
    const sent = client.submitBody(type, parameters);
    const refused = await client.post(`submit/${path}`, sent);
    for (const spy of [runs, gets]) spy.mockRestore();
    expect(refused.status, refused.text).toBe(503);
    expect(refused.text).toMatch(/cannot be read: .*The log has the request/);
    const again = activityOf(await client.post(`submit/${path}`, sent));
    expect(again.status).toBe(`ACTIVITY_STATUS_${status}`);
  },
);
