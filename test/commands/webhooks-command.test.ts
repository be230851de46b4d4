/** `keyhearth webhooks`, and the stream of events. */
import type { Response } from 'express';
import { expect, test, vi } from 'vitest';
import { Turns } from '../../main/lib/concurrency/turns.ts';
import { EventStreams } from '../../main/http/events/event-stream.ts';
import { Verifications } from '../../main/auth/verifications.ts';
import type { Service } from '../../main/http/handle.ts';
import { ServedVault } from '../campaigns/served-vault.ts';
import { CommandProcess, resultOf, runCommand, startTestVault } from '../support/support.ts';
import { openStream } from '../support/streams.ts';
import type { Json, TestClient } from '../support/support.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';

const patience = { timeout: 20_000, interval: 20 };

const makeTag = async (client: TestClient, userTagName: string): Promise<void> => {
  resultOf(await client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName, userIds: [] }));
};

test('keyhearth webhooks: listens, lists, tests, shows the results of events, and sends them again', async () => {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await WebhookReceiver.start());
  const vault = resources.use(await ServedVault.make());
  const { locations } = vault;
  const { client } = await vault.serve();
  const webhooks = async (...args: string[]): Promise<Json> => {
    const { stdout, stderr, code } = await runCommand(['webhooks', ...args, '--json', ...locations]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    return JSON.parse(stdout) as Json;
  };

  const listening = resources.use(new CommandProcess(['webhooks', 'listen', '--json', ...locations]));
  await vi.waitFor(() => {
    expect(listening.stderr).toMatch(/^Listening at http:\/\/127\.0\.0\.1:\d+\/ as webhook endpoint /);
  }, patience);
  await makeTag(client, 'heard');
  expect(JSON.parse(await listening.nextLine())).toMatchObject({
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    status: 'ACTIVITY_STATUS_COMPLETED',
    organizationId: vault.organizationId,
  });
  expect((await webhooks('list'))['webhookEndpoints']).toHaveLength(1);
  // An event that the vault did not sign is recognized.
  const [, address = ''] = /Listening at (\S+)/.exec(listening.stderr) ?? [];
  expect((await fetch(address, { method: 'POST', body: '{}' })).status).toBe(400);
  expect(await listening.stop('SIGINT')).toBe(0);
  expect((await webhooks('list'))['webhookEndpoints']).toEqual([]);

  const created = await client.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url: receiver.url,
    name: 'Receiver',
  });
  const { endpointId } = resultOf(created) as unknown as { endpointId: string };
  const before = new Date().toISOString();
  await webhooks('test', 'Receiver');
  await vi.waitFor(() => {
    expect(receiver.events).toHaveLength(1);
  }, patience);
  const delivered = await vi.waitFor(async () => {
    const { deliveries } = await webhooks('deliveries', '--endpoint', 'Receiver', '--state', 'delivered');
    expect(deliveries).toMatchObject([{ activityType: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT', attempts: 1 }]);
    return deliveries as Json[];
  }, patience);
  expect(
    await webhooks(
      'replay',
      endpointId.slice(0, 8),
      '--delivery',
      String(delivered[0]?.['deliveryId']).slice(0, 13),
    ),
  ).toEqual({
    count: 1,
  });
  const unknown = await runCommand(['webhooks', 'test', 'ffffffff', ...locations]);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'no webhook endpoint has the id or the name "ffffffff": there is "Receiver"',
    ) as unknown,
  });
  expect(Number((await webhooks('replay', endpointId, '--since', before))['count'])).toBeGreaterThanOrEqual(
    2,
  );
  await vi.waitFor(() => {
    expect(receiver.ids.filter((id) => id === receiver.ids[0]).length).toBeGreaterThanOrEqual(3);
  }, patience);
  const wrong = await runCommand(['webhooks', 'replay', endpointId, ...locations]);
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('either --delivery') as unknown,
  });
});

test('a stream tells of activities as they are committed, goes on where another ended, and ends with its key', async () => {
  await using service = await startTestVault();
  await makeTag(service.root, 'before');
  const stream = await openStream(service, {});
  expect(stream.response.headers['content-type']).toBe('text/event-stream');
  await makeTag(service.root, 'one');
  await makeTag(service.root, 'two');
  const names = (events: typeof stream.events): unknown[] =>
    events.map(
      ({ activity }) =>
        (activity['intent'] as { createUserTagIntent?: Json }).createUserTagIntent?.['userTagName'],
    );
  await vi.waitFor(() => {
    expect(names(stream.events)).toEqual(['one', 'two']);
  }, patience);
  stream.close();
  await makeTag(service.root, 'three');
  const again = await openStream(service, { lastEventId: stream.events[0]?.id });
  await vi.waitFor(() => {
    expect(names(again.events)).toEqual(['two', 'three']);
  }, patience);
  again.close();
  const byHeader = await openStream(service, {}, { 'Last-Event-ID': '0' });
  await vi.waitFor(() => {
    expect(names(byHeader.events)).toEqual(['before', 'one', 'two', 'three']);
  }, patience);
  const { body } = await service.root.query('whoami');
  const shown = byHeader.events.at(-1)?.activity;
  const got = await service.root.query('get_activity', { activityId: shown?.['id'] });
  expect(shown).toEqual((got.body as { activity: Json }).activity);
  // A client that left during the check of its proof holds no stream.
  const raw = Buffer.from(JSON.stringify({ organizationId: service.organizationId }));
  const left = { closed: true, writeHead: vi.fn() };
  const { units, keyring: keys } = service.vault;
  const { clock } = service;
  const turns = new Turns();
  const verifications = new Verifications(() => false);
  const parts = {
    units,
    keys,
    clock,
    turns,
    verifications,
    rpId: 'localhost',
  } as Partial<Service> as Service;
  const headers = { 'x-stamp': service.key.stamp(raw.toString()) };
  await new EventStreams(parts).answer({ raw, headers }, left as Partial<Response> as Response);
  expect(left.writeHead).not.toHaveBeenCalled();
  // A client with a deleted key stops receiving.
  await service.vault.units.write((tx) =>
    tx.run('DELETE FROM api_keys WHERE public_key = ?', service.key.publicKey),
  );
  expect(body?.['userId']).toBe(service.rootUserId);
  await service.vault.rpc.call('/public/v1/submit/create_user_tag', {
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    parameters: { userTagName: 'unheard', userIds: [] },
  });
  await vi.waitFor(() => {
    expect(byHeader.isEnded()).toBe(true);
  }, patience);
  expect(names(byHeader.events)).not.toContain('unheard');
  const refused = await openStream(service, {});
  expect(refused.response.statusCode).toBe(401);
  refused.close();
});
