/** Webhooks through the real port, to real receivers that behave, and that do not. */
import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';
import { appendActivity, getLogRow, logEnd } from '../../main/storage/tables/activities.ts';
import { publishedLimits } from '../../main/lib/published-limits.ts';
import { startDev } from '../../main/commands/vault/dev.ts';
import { listWebhookEndpoints } from '../../main/storage/tables/webhook-endpoints.ts';
import {
  activityOf,
  resultOf,
  startTestVault,
  TestClient,
  testKeyOf,
  newSubOrganization,
} from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';
import { fetchWebhookKeys, WebhookReceiver } from './webhook-receiver.ts';
import type { Misbehaviour } from './webhook-receiver.ts';

const patience = { timeout: 20_000, interval: 10 };

/** Of a refusal. */
function errorOf({ status, body = {} }: Answer): { readonly message: string } {
  expect(status).toBeGreaterThanOrEqual(400);
  return { message: String(body['message']) };
}

interface Scene extends AsyncDisposable {
  readonly service: TestVault;
  readonly receiver: WebhookReceiver;
}

async function start(): Promise<Scene> {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await WebhookReceiver.start());
  const service = resources.use(await startTestVault());
  receiver.now = () => service.clock.wall();
  receiver.keys = await vi.waitFor(async () => {
    const keys = await fetchWebhookKeys(service.url);
    expect(keys).toHaveLength(1);
    return keys;
  }, patience);
  const owned = resources.move();
  return { service, receiver, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const setFeature = async (service: TestVault, value: string) =>
  activityOf(
    await service.root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
      name: 'FEATURE_NAME_WEBHOOK',
      value,
    }),
  );

const removeFeature = (service: TestVault) =>
  service.root.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', {
    name: 'FEATURE_NAME_WEBHOOK',
  });

const features = async (service: TestVault) => {
  const { body } = await service.root.query('get_organization_configs');
  return (body as { configs: { readonly features: readonly Json[] } }).configs.features;
};

/** An activity that says little. */
let tags = 0;
const makeTag = async (service: TestVault): Promise<string> => {
  const parameters = { userTagName: `tag ${String(++tags)}`, userIds: [] };
  return activityOf(await service.root.submit('create_user_tag', 'CREATE_USER_TAG', parameters)).id;
};

async function createEndpoint(service: TestVault, url: string, more: Json = {}): Promise<string> {
  const answer = await service.root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url,
    name: 'Receiver',
    ...more,
  });
  return (resultOf(answer) as unknown as { endpointId: string }).endpointId;
}

const updateEndpoint = async (service: TestVault, parameters: Json) =>
  resultOf(await service.root.submit('update_webhook_endpoint', 'UPDATE_WEBHOOK_ENDPOINT', parameters));

/** Has a receiver refuse the first of three events, so that all of them wait. @returns the ids of their activities. */
async function threeWait({ service, receiver }: Awaited<ReturnType<typeof start>>) {
  const endpointId = await createEndpoint(service, receiver.url);
  receiver.misbehave = (response) => {
    response.writeHead(503).end();
    return true;
  };
  const tags = [await makeTag(service), await makeTag(service), await makeTag(service)];
  await vi.waitFor(async () => {
    expect(await deliveries(service)).toMatchObject([{ attempts: 1 }, { attempts: 0 }, { attempts: 0 }]);
  }, patience);
  return { endpointId, tags };
}

async function deliveries(service: TestVault, parameters: Json = {}): Promise<Json[]> {
  const { body } = await service.root.query('list_webhook_deliveries', {
    paginationOptions: { limit: '100' },
    ...parameters,
  });
  return (body as { deliveries: Json[] }).deliveries.toReversed();
}

test('an event whose delivery a full disk could not note is not sent again, and is noted later', async () => {
  await using scene = await start();
  const { service, receiver } = scene;
  await createEndpoint(service, receiver.url);
  const full = new Error('no space left on device');
  const writes = vi.spyOn(service.vault.units, 'write');
  receiver.misbehave = () => {
    writes.mockRejectedValue(full);
    receiver.misbehave = undefined;
    return false;
  };
  const first = await makeTag(service);
  await vi.waitFor(() => {
    expect(service.faults).toContain(full);
  }, patience);
  writes.mockRestore();
  service.faults.splice(0);
  // A queue that failed rests for a minute.
  service.clock.advance(60_000);
  const second = await makeTag(service);
  await vi.waitFor(async () => {
    expect(await deliveries(service)).toMatchObject([
      { state: 'delivered', attempts: 1 },
      { state: 'delivered', attempts: 1 },
    ]);
  }, patience);
  expect(receiver.ids).toEqual([first, second]);
});

test('a thread that ends as it sends counts as an attempt, says so, and is tried again as any failure', async () => {
  await using scene = await start();
  const { service, receiver } = scene;
  await createEndpoint(service, receiver.url);
  const asked = vi.spyOn(Worker.prototype, 'postMessage');
  receiver.misbehave = () => {
    receiver.misbehave = undefined;
    const index = asked.mock.calls.findLastIndex(([{ job }]) => job === 'post');
    void (asked.mock.contexts[index] as Worker | undefined)?.terminate();
    return true;
  };
  const before = service.clock.wall();
  const tag = await makeTag(service);
  const [waits = {}] = await vi.waitFor(async () => {
    const found = await deliveries(service);
    expect(found).toMatchObject([{ attempts: 1 }]);
    return found;
  }, patience);
  asked.mockRestore();
  expect(waits).toMatchObject({
    state: 'waiting',
    lastResult: 'a thread of Keyhearth has ended before its work was done (try again; the log has the cause)',
  });
  // A pause after a first failure, and not that of a fault.
  const { seconds } = waits['nextAttemptAt'] as { readonly seconds: string };
  expect(Number(seconds) * 1000 - before).toBeLessThan(30_000);
  service.clock.advance(2_000);
  service.vault.webhooks.look();
  await vi.waitFor(() => {
    expect(receiver.ids).toEqual([tag]);
  }, patience);
  expect(service.faults).toMatchObject([{ cause: { message: 'the thread webhooks-worker has ended' } }]);
  service.faults.length = 0;
});

describe('the webhook feature', () => {
  test('notifies of every later activity, a repeat of its own included, with the activity itself, signed', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const enabling = await setFeature(service, receiver.url);
    const tag = await makeTag(service);
    const again = await setFeature(service, receiver.url);
    const failed = await service.root.submit('update_user_tag', 'UPDATE_USER_TAG', {
      userTagId: '00000000-0000-4000-8000-000000000000',
      addUserIds: [],
      removeUserIds: [],
    });
    expect(failed.status).toBe(404);
    await vi.waitFor(() => {
      expect(receiver.events).toHaveLength(3);
    }, patience);
    expect(receiver.ids.slice(0, 2)).toEqual([tag, again.id]);
    expect(receiver.ids).not.toContain(enabling.id);
    expect(receiver.events.map(({ body }) => body.status)).toEqual([
      'ACTIVITY_STATUS_COMPLETED',
      'ACTIVITY_STATUS_COMPLETED',
      'ACTIVITY_STATUS_FAILED',
    ]);
    const [first] = receiver.events;
    const { body: shown } = await service.root.query('get_activity', { activityId: tag });
    expect(first?.body).toEqual((shown as { activity: Json }).activity);
    expect(receiver.events.every(({ verified }) => verified)).toBe(true);
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-turnkey-organization-id': service.organizationId,
      'x-turnkey-event-type': 'ACTIVITY_UPDATES',
      'x-turnkey-webhook-version': '1',
      'x-turnkey-signature-algorithm': 'ed25519',
      'x-turnkey-signature-version': 'v1',
      'x-turnkey-signature': expect.stringMatching(/^[0-9a-f]{128}$/) as unknown,
    });
    expect(new Set(receiver.events.map(({ headers }) => headers['x-turnkey-event-id'])).size).toBe(3);
    const removed = activityOf(await removeFeature(service));
    await makeTag(service);
    await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids.at(-1)).toBe(removed.id);
    }, patience);
    expect(receiver.events).toHaveLength(4);
  });

  test('14: delivers what was accepted before it is removed, and the removal, however slow its receiver is', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const isThere = () =>
      service.vault.units.read((tx) => listWebhookEndpoints(tx, service.organizationId)).length > 0;
    receiver.misbehave = (response) => {
      response.writeHead(503).end();
      return true;
    };
    await setFeature(service, receiver.url);
    const expected: string[] = [];
    for (let count = 0; count < 80; count += 1) expected.push(await makeTag(service));
    const removed = activityOf(await removeFeature(service));
    expect(await features(service)).toEqual([]);
    for (let count = 0; count < 3; count += 1) await makeTag(service);
    await using other = await WebhookReceiver.start();
    await setFeature(service, other.url);
    const later = await makeTag(service);
    receiver.misbehave = undefined;
    service.clock.advance(30 * 60_000);
    service.vault.webhooks.look();
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([...expected, removed.id]);
      expect(other.ids).toEqual([later]);
    }, patience);
    activityOf(await removeFeature(service));
    await vi.waitFor(() => {
      expect(isThere()).toBe(false);
    }, patience);
  });

  test('leaves few endpoints behind, however often it is removed while its receiver is away', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    receiver.misbehave = (response) => {
      response.writeHead(503).end();
      return true;
    };
    let removal: string | undefined;
    for (let time = 0; time < 6; time++) {
      await setFeature(service, receiver.url);
      removal = activityOf(await removeFeature(service)).id;
    }
    await setFeature(service, receiver.url);
    const present = service.vault.units.read((tx) => listWebhookEndpoints(tx, service.organizationId));
    expect(present.map(({ active }) => active)).toEqual([0, 0, 1]);
    const noted = await deliveries(service);
    expect(
      noted.filter(({ lastResult }) => lastResult === 'the endpoint was removed').length,
    ).toBeGreaterThan(3);
    receiver.misbehave = undefined;
    service.clock.advance(60_000);
    service.vault.webhooks.look();
    await vi.waitFor(() => {
      expect(receiver.ids).toContain(removal);
    }, patience);
  });

  test('follows a change of its URL', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await using other = await WebhookReceiver.start();
    await setFeature(service, receiver.url);
    await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.events).toHaveLength(1);
    }, patience);
    const moved = await setFeature(service, other.url);
    const tag = await makeTag(service);
    await vi.waitFor(() => {
      expect(other.ids).toEqual([moved.id, tag]);
    }, patience);
  });

  test.each(['ftp://example.org', 'https://user@example.org/', 'not a url', ''])(
    'refuses %j',
    async (value) => {
      await using service = await startTestVault();
      const answer = await service.root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
        name: 'FEATURE_NAME_WEBHOOK',
        value,
      });
      expect(errorOf(answer).message).toMatch(/^invalid parameters\.value: expected an http or https URL/);
    },
  );
});

describe('webhook endpoints', () => {
  test('are created, listed, changed and deleted, and get the events of their subscriptions', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const endpointId = await createEndpoint(service, receiver.url, {
      subscriptions: [
        {
          eventType: 'ACTIVITY_UPDATES',
          filtersJson: JSON.stringify({ activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG'] }),
        },
      ],
    });
    const { body } = await service.root.query('list_webhook_endpoints');
    expect((body as { webhookEndpoints: unknown }).webhookEndpoints).toEqual([
      {
        endpointId,
        organizationId: service.organizationId,
        url: receiver.url,
        name: 'Receiver',
        isActive: true,
        subscriptions: [
          {
            eventType: 'ACTIVITY_UPDATES',
            filtersJson: '{"activityTypes":["ACTIVITY_TYPE_CREATE_USER_TAG"]}',
            isActive: true,
          },
        ],
      },
    ]);
    await service.newUser('Filtered');
    const tag = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([tag]);
    }, patience);
    const update = (parameters: Json) =>
      service.root.submit('update_webhook_endpoint', 'UPDATE_WEBHOOK_ENDPOINT', {
        endpointId,
        ...parameters,
      });
    expect((await update({ isActive: false, name: 'Off' })).body).toMatchObject({
      activity: {
        result: {
          updateWebhookEndpointResult: {
            webhookEndpoint: { isActive: false, name: 'Off', url: receiver.url },
          },
        },
      },
    });
    await makeTag(service);
    await update({ isActive: true });
    const last = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([tag, last]);
    }, patience);
    resultOf(await service.root.submit('delete_webhook_endpoint', 'DELETE_WEBHOOK_ENDPOINT', { endpointId }));
    expect(errorOf(await update({ name: 'Gone' })).message).toBe(
      `unable to find webhook endpoint ${endpointId}`,
    );
    await makeTag(service);
    expect(receiver.ids).toEqual([tag, last]);
  });

  test('are as many as the limit says, beside the endpoint of the feature', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await setFeature(service, receiver.url);
    for (let number = 0; number < publishedLimits.webhookEndpointsPerOrganization; number += 1) {
      await createEndpoint(service, receiver.url);
    }
    const parameters = { url: receiver.url, name: 'One more' };
    const more = await service.root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', parameters);
    expect(errorOf(more).message).toContain('20 are allowed, there are 20 and 1 would be added');
  });

  test('learn of every other endpoint, whatever its name and its filters say', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const first = await createEndpoint(service, receiver.url);
    const filtersJson = JSON.stringify({ organizationIds: [first] });
    await createEndpoint(service, receiver.url, {
      name: first,
      subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson }],
    });
    const tag = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toContain(tag);
    }, patience);
    expect(receiver.events.map(({ body }) => body.type)).toEqual([
      'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
      'ACTIVITY_TYPE_CREATE_USER_TAG',
    ]);
  });

  test('without subscriptions get everything, and filters that say nothing known are refused', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await createEndpoint(service, receiver.url);
    const tag = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([tag]);
    }, patience);
    for (const filtersJson of ['[]', '{"type":["x"]}', '{"statuses":"x"}', 'no']) {
      const answer = await service.root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
        url: receiver.url,
        name: 'Refused',
        subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson }],
      });
      expect(errorOf(answer).message).toMatch(/filtersJson.*activityTypes, statuses, organizationIds/);
    }
  });

  test('of a parent get what happens in its sub-organizations, and those get nothing of each other', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await createEndpoint(service, receiver.url);
    const { suborganization } = await subOrganization(service);
    await vi.waitFor(() => {
      expect(receiver.events.map(({ body }) => body.organizationId)).toContain(suborganization);
    }, patience);
    const inChild = receiver.events.find(({ body }) => body.organizationId === suborganization);
    expect(inChild?.headers['x-turnkey-organization-id']).toBe(suborganization);
    expect(inChild?.verified).toBe(true);
  });

  test('of a sub-organization lead to public hosts by TLS alone, whatever their names turn out to be', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const { suborganization, client } = await subOrganization(service);
    for (const url of [
      receiver.url,
      'http://example.org/hook',
      'https://127.0.0.1/hook',
      'https://[::1]/hook',
      'https://2130706433/hook',
      'https://localhost/hook',
      'https://vault.localhost/hook',
      'https://printer.local/hook',
      'https://169.254.169.254/latest',
    ]) {
      const answer = await client.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
        url,
        name: 'In',
      });
      expect(errorOf(answer).message, url).toMatch(/public host/);
    }
    // A name that was public when it was given, and leads inside when it is looked up.
    const answer = await client.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
      url: 'https://example.org/hook',
      name: 'Turns',
    });
    const { endpointId } = resultOf(answer) as unknown as { endpointId: string };
    await service.vault.units.write((tx) =>
      tx.run(
        'UPDATE webhook_endpoints SET url = ? WHERE id = ?',
        `https://localhost:${String(receiver.port)}/`,
        endpointId,
      ),
    );
    resultOf(
      await client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'inside', userIds: [] }),
    );
    await vi.waitFor(async () => {
      const { body } = await client.query('list_webhook_deliveries');
      expect((body as { deliveries: Json[] }).deliveries).toMatchObject([
        { state: 'refused', lastResult: expect.stringMatching(/which is not on the Internet$/) as unknown },
      ]);
    }, patience);
    expect(receiver.events).toEqual([]);
    expect(suborganization).not.toBe(service.organizationId);
  });
});

/** A sub-organization with a user of its own, in which something has happened. */
async function subOrganization(service: TestVault) {
  const { client } = await newSubOrganization(service.root);
  resultOf(await client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'child', userIds: [] }));
  return { suborganization: client.organizationId, client };
}

describe('a receiver', () => {
  test('that is not there, hangs, answers 500, or closes midway gets each event again, in order, and delays no other', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await using well = await WebhookReceiver.start();
    await createEndpoint(service, receiver.url);
    await createEndpoint(service, well.url);
    const failures: Misbehaviour[] = [
      (response) => {
        response.writeHead(500).end('out of order');
        return true;
      },
      (response) => {
        response.destroy();
        return true;
      },
      (response) => {
        // Accepted, it seems, and then the answer breaks off.
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('half');
        setTimeout(() => response.destroy(), 20);
        return true;
      },
      () => true,
    ];
    let tries = 0;
    const seenIds: unknown[] = [];
    receiver.misbehave = (response, event) => {
      seenIds.push(event.headers['x-turnkey-event-id']);
      return failures[tries++]?.(response, event);
    };
    const ids = [await makeTag(service), await makeTag(service), await makeTag(service)];
    await vi.waitFor(() => {
      expect(well.ids.slice(-3)).toEqual(ids);
    }, patience);
    expect(receiver.events).toEqual([]);
    await vi.waitFor(
      () => {
        service.clock.advance(60_000);
        service.vault.webhooks.look();
        expect(receiver.ids).toEqual(expect.arrayContaining(ids));
      },
      { timeout: 40_000, interval: 100 },
    );
    // The same event each time, and nothing overtook it.
    expect(new Set(seenIds.slice(0, 5)).size).toBe(1);
    expect(receiver.ids.slice(-3)).toEqual(ids);
    expect(receiver.events.every(({ verified }) => verified)).toBe(true);
    // The receiver has an event before its answer is noted.
    const log = await vi.waitFor(async () => {
      const noted = await deliveries(service);
      expect(noted.map(({ state }) => state)).toEqual(noted.map(() => 'delivered'));
      return noted;
    }, patience);
    expect(Math.max(...log.map(({ attempts }) => Number(attempts)))).toBeGreaterThanOrEqual(4);
  });

  test('that answers 10 MB is believed by its status, and only the start of the answer is read', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await createEndpoint(service, receiver.url);
    let written = 0;
    let isClosed = false;
    receiver.misbehave = (response, event) => {
      receiver.events.push(event);
      response.writeHead(200);
      response.on('close', () => {
        isClosed = true;
      });
      const write = (): void => {
        while (written < 10 * 1024 * 1024 && !isClosed) {
          written += 64 * 1024;
          if (!response.write(Buffer.alloc(64 * 1024, 'x'))) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
      return true;
    };
    const tag = await makeTag(service);
    await vi.waitFor(async () => {
      expect(await deliveries(service)).toMatchObject([
        { activityId: tag, state: 'delivered', attempts: 1, lastResult: 'HTTP 200' },
      ]);
      expect(isClosed).toBe(true);
    }, patience);
    expect(written).toBeLessThan(10 * 1024 * 1024);
  });

  test.each([
    [302, 'HTTP 302: redirects are not followed'],
    [400, 'HTTP 400: no thanks'],
    [429, 'HTTP 429: no thanks'],
  ])('that answers %i has refused, and is not asked again', async (status, lastResult) => {
    await using scene = await start();
    const { service, receiver } = scene;
    await using elsewhere = await WebhookReceiver.start();
    await createEndpoint(service, receiver.url);
    receiver.misbehave = (response) => {
      response.writeHead(status, { Location: elsewhere.url }).end('no\tthanks');
      return true;
    };
    await makeTag(service);
    await vi.waitFor(async () => {
      expect(await deliveries(service)).toMatchObject([{ state: 'refused', attempts: 1, lastResult }]);
    }, patience);
    expect(elsewhere.events).toEqual([]);
  });
});

describe('an endpoint', () => {
  test('that takes nothing for a day has what waited that long given up, and the rest tried on', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await createEndpoint(service, receiver.url);
    receiver.misbehave = (response) => {
      response.writeHead(503).end();
      return true;
    };
    const old = [await makeTag(service), await makeTag(service), await makeTag(service)];
    const states = async (): Promise<unknown[]> =>
      (await deliveries(service)).map(({ activityId, state, attempts }) => [activityId, state, attempts]);
    const waiting = (attempts: number): unknown[] => [
      [old[0], 'waiting', attempts],
      [old[1], 'waiting', 0],
      [old[2], 'waiting', 0],
    ];
    await vi.waitFor(async () => {
      expect(await states()).toEqual(waiting(1));
    }, patience);
    service.clock.advance(23 * 60 * 60_000);
    service.vault.webhooks.look();
    await vi.waitFor(async () => {
      expect(await states()).toEqual(waiting(2));
    }, patience);
    // Written directly, since the port refuses a request that is so late by its sender's clock.
    const late = crypto.randomUUID();
    await service.vault.units.write((tx) => {
      const row = getLogRow(tx, logEnd(tx).sequence);
      if (row === undefined) throw new Error('the log is empty');
      appendActivity(tx, { ...row, id: late, fingerprint: late, updatedAt: service.clock.now() });
    });
    service.clock.advance(2 * 60 * 60_000);
    service.vault.webhooks.look();
    await vi.waitFor(async () => {
      expect(await states()).toEqual([
        [old[0], 'parked', 3],
        [old[1], 'parked', 0],
        [old[2], 'parked', 0],
        [late, 'waiting', 1],
      ]);
    }, patience);
    const [, second] = await deliveries(service);
    expect(second?.['lastResult']).toBe('not tried: what was before it could not be delivered');
    receiver.misbehave = undefined;
    service.clock.advance(60 * 60_000);
    service.vault.webhooks.look();
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([late]);
    }, patience);
  });

  test('that is switched off refuses its waiting events, gets its tests, and starts again when switched on', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const endpointId = await createEndpoint(service, receiver.url);
    receiver.misbehave = (response) => {
      response.writeHead(503).end();
      return true;
    };
    const before = [await makeTag(service), await makeTag(service)];
    await vi.waitFor(async () => {
      expect(await deliveries(service)).toMatchObject([{ attempts: 1 }, { attempts: 0 }]);
    }, patience);
    receiver.misbehave = undefined;
    const turn = (isActive: boolean) =>
      service.root.submit('update_webhook_endpoint', 'UPDATE_WEBHOOK_ENDPOINT', { endpointId, isActive });
    await turn(false);
    service.clock.advance(60_000);
    service.vault.webhooks.look();
    await vi.waitFor(async () => {
      expect(await deliveries(service)).toMatchObject(
        before.map((activityId) => ({
          activityId,
          state: 'refused',
          lastResult: 'the endpoint is switched off',
        })),
      );
    }, patience);
    await makeTag(service);
    const tried = activityOf(
      await service.root.submit('test_webhook_endpoint', 'TEST_WEBHOOK_ENDPOINT', { endpointId }),
    );
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([tried.id]);
    }, patience);
    const on = activityOf(await turn(true));
    const after = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([tried.id, on.id, after]);
    }, patience);
  });

  const losses: readonly (readonly [
    string,
    string,
    (service: TestVault, endpointId: string) => Promise<unknown>,
  ])[] = [
    [
      'is switched off and on again at once',
      'the endpoint was switched off',
      async (service, endpointId) => {
        await updateEndpoint(service, { endpointId, isActive: false });
        await updateEndpoint(service, { endpointId, isActive: true });
      },
    ],
    [
      'is removed',
      'the endpoint was removed',
      (service, endpointId) =>
        service.root.submit('delete_webhook_endpoint', 'DELETE_WEBHOOK_ENDPOINT', { endpointId }),
    ],
  ];
  test.each(losses)(
    'that %s refuses its waiting events, and loses none of the log',
    async (_what, note, end) => {
      await using scene = await start();
      const { service } = scene;
      const { endpointId, tags: before } = await threeWait(scene);
      await end(service, endpointId);
      expect((await deliveries(service)).slice(0, 3)).toMatchObject(
        before.map((activityId) => ({ activityId, state: 'refused', lastResult: note })),
      );
    },
  );

  test('that is removed while an event is on its way has that one listed as delivered', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const endpointId = await createEndpoint(service, receiver.url);
    let answer: (() => void) | undefined;
    receiver.misbehave = (response) => {
      answer = () => response.end();
      return true;
    };
    const tags = [await makeTag(service), await makeTag(service)];
    await vi.waitFor(() => {
      expect(answer).toBeDefined();
    }, patience);
    resultOf(await service.root.submit('delete_webhook_endpoint', 'DELETE_WEBHOOK_ENDPOINT', { endpointId }));
    answer?.();
    await vi.waitFor(async () => {
      expect(await deliveries(service)).toMatchObject([
        { activityId: tags[0], state: 'delivered', lastResult: 'HTTP 200' },
        { activityId: tags[1], state: 'refused', lastResult: 'the endpoint was removed' },
      ]);
    }, patience);
  });

  const ends: readonly (readonly [
    string,
    (service: TestVault, endpointId: string, url: string) => unknown,
  ])[] = [
    ['is switched off', (service, endpointId) => updateEndpoint(service, { endpointId, isActive: false })],
    ['is sent elsewhere', (service, endpointId, url) => updateEndpoint(service, { endpointId, url })],
    ['is of a vault that is locked', (service) => service.vault.rpc.lock()],
  ];
  test.each(ends)('that %s gets no more than what is on its way', async (_what, end) => {
    await using scene = await start();
    const { service, receiver } = scene;
    await using other = await WebhookReceiver.start();
    const { endpointId, tags } = await threeWait(scene);
    // All three are handed over at once, and the first is held here.
    let answer: (() => void) | undefined;
    receiver.misbehave = (response) => {
      receiver.misbehave = undefined;
      answer = () => response.end();
      return true;
    };
    service.clock.advance(60_000);
    service.vault.webhooks.look();
    await vi.waitFor(() => {
      expect(answer).toBeDefined();
    }, patience);
    await end(service, endpointId, other.url);
    answer?.();
    await vi.waitFor(async () => {
      const [first] = await deliveries(service);
      expect(first).toMatchObject({ activityId: tags[0], state: 'delivered' });
    }, patience);
    expect(receiver.events).toEqual([]);
  });

  test('that wants few events gets them, however many others there are, and also what is far behind', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await createEndpoint(service, receiver.url, {
      subscriptions: [
        {
          eventType: 'ACTIVITY_UPDATES',
          filtersJson: JSON.stringify({ activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG'] }),
        },
      ],
    });
    const place = (): number =>
      service.vault.units.read((tx) => tx.get<{ place: number }>('SELECT place FROM webhook_endpoints'))
        ?.place ?? 0;
    const begin = place();
    await service.newUser('Unwanted');
    const first = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([first]);
    }, patience);
    await vi.waitFor(() => {
      expect(place()).toBeGreaterThan(begin);
    }, patience);
    const reached = place();
    const row = service.vault.units.read((tx) => getLogRow(tx, reached));
    if (row === undefined) throw new Error('the log is empty');
    // More than is looked through at once, and more than is remembered without being written down.
    const unwanted = { ...row, type: 'ACTIVITY_TYPE_CREATE_USERS_V3' };
    await service.vault.units.write((tx) => {
      for (let index = 0; index < 2500; index++) {
        const id = `unwanted ${String(index)}`;
        appendActivity(tx, { ...unwanted, id, fingerprint: id });
      }
    });
    const second = await makeTag(service);
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([first, second]);
    }, patience);
    await vi.waitFor(() => {
      expect(place()).toBeGreaterThanOrEqual(reached + 2501);
    }, patience);
  });
});

describe('the delivery log', () => {
  test('shows the outcome of an event, and resends one event, or all since a time', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const endpointId = await createEndpoint(service, receiver.url);
    receiver.misbehave = (response) => {
      response.writeHead(404).end();
      return true;
    };
    const before = service.clock.now();
    const [one, two] = [await makeTag(service), await makeTag(service)];
    await vi.waitFor(async () => {
      expect((await deliveries(service, { state: 'refused' })).map(({ activityId }) => activityId)).toEqual([
        one,
        two,
      ]);
    }, patience);
    const [first] = await deliveries(service);
    const { body } = await service.root.query('get_webhook_delivery', { deliveryId: first?.['deliveryId'] });
    expect(body).toMatchObject({ delivery: { activityId: one, state: 'refused' }, payload: { id: one } });
    receiver.misbehave = undefined;
    const replay = async (parameters: Json): Promise<unknown> =>
      resultOf(
        await service.root.submit('replay_webhook_deliveries', 'REPLAY_WEBHOOK_DELIVERIES', {
          endpointId,
          ...parameters,
        }),
      );
    expect(await replay({ deliveryId: first?.['deliveryId'] })).toEqual({ count: 1 });
    await vi.waitFor(() => {
      expect(receiver.ids).toContain(one);
    }, patience);
    const again = receiver.events.find(({ body: { id } }) => id === one);
    await vi.waitFor(async () => {
      expect(await deliveries(service, { state: 'waiting' })).toEqual([]);
    }, patience);
    // Deliveries that were deleted here are still in the log.
    await service.vault.units.write((tx) =>
      tx.run("DELETE FROM webhook_deliveries WHERE state <> 'waiting'"),
    );
    receiver.events.length = 0;
    const { count } = (await replay({ sinceMs: String(before) })) as { count: number };
    expect(count).toBeGreaterThanOrEqual(3);
    await vi.waitFor(() => {
      expect(receiver.ids.slice(0, 2)).toEqual([one, two]);
    }, patience);
    expect(receiver.events[0]?.headers['x-turnkey-event-id']).toBe(again?.headers['x-turnkey-event-id']);
    expect(receiver.events.every(({ verified }) => verified)).toBe(true);
    const nothing = await service.root.submit('replay_webhook_deliveries', 'REPLAY_WEBHOOK_DELIVERIES', {
      endpointId,
    });
    expect(errorOf(nothing).message).toMatch(/either deliveryId or sinceMs/);
  });

  test('has a test sent to an endpoint that is subscribed to nothing of the kind, and to no other', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    await using other = await WebhookReceiver.start();
    const quiet = { subscriptions: [{ eventType: 'BALANCE_CONFIRMED_UPDATES' }] };
    const endpointId = await createEndpoint(service, receiver.url, quiet);
    await createEndpoint(service, other.url, quiet);
    const sent = activityOf(
      await service.root.submit('test_webhook_endpoint', 'TEST_WEBHOOK_ENDPOINT', { endpointId }),
    );
    await vi.waitFor(() => {
      expect(receiver.ids).toEqual([sent.id]);
    }, patience);
    expect(other.events).toEqual([]);
  });

  test('goes on after a delivery, and refuses to go back before one', async () => {
    await using scene = await start();
    const { service } = scene;
    await threeWait(scene);
    const [, second, newest] = await deliveries(service);
    const cursor = second?.['deliveryId'];
    const list = (paginationOptions: Json) =>
      service.root.query('list_webhook_deliveries', { paginationOptions });
    expect((await list({ after: newest?.['deliveryId'], before: '', limit: '1' })).body).toMatchObject({
      deliveries: [{ deliveryId: cursor }],
    });
    expect(errorOf(await list({ before: cursor }))).toEqual({
      message: expect.stringMatching(/^invalid paginationOptions\.before: expected none/) as string,
    });
  });

  test('belongs to its organization', async () => {
    await using scene = await start();
    const { service, receiver } = scene;
    const endpointId = await createEndpoint(service, receiver.url);
    await makeTag(service);
    const [row] = await vi.waitFor(async () => {
      const rows = await deliveries(service);
      expect(rows).toHaveLength(1);
      return rows;
    }, patience);
    const { client } = await subOrganization(service);
    expect((await client.query('get_webhook_delivery', { deliveryId: row?.['deliveryId'] })).status).toBe(
      404,
    );
    expect((await client.query('list_webhook_deliveries', { endpointId })).body).toMatchObject({
      deliveries: [],
    });
    const stolen = { endpointId, deliveryId: row?.['deliveryId'] };
    const answer = await client.submit('replay_webhook_deliveries', 'REPLAY_WEBHOOK_DELIVERIES', stolen);
    expect(answer.status).toBe(404);
  });
});

test('a vault that was locked sends what waits once it is unlocked, and another key after another vault', async () => {
  await using scene = await start();
  const { service, receiver } = scene;
  await createEndpoint(service, receiver.url);
  receiver.misbehave = (response) => {
    response.writeHead(503).end();
    return true;
  };
  const tag = await makeTag(service);
  await vi.waitFor(async () => {
    expect(await deliveries(service)).toMatchObject([
      { state: 'waiting', lastResult: 'HTTP 503', attempts: 1 },
    ]);
  }, patience);
  await service.vault.rpc.lock();
  receiver.misbehave = undefined;
  service.clock.advance(10_000);
  service.vault.webhooks.look();
  await new Promise(setImmediate);
  expect(receiver.events).toEqual([]);
  await service.unlock();
  await vi.waitFor(() => {
    expect(receiver.ids).toEqual([tag]);
  }, patience);
  expect(receiver.events[0]?.verified).toBe(true);
});

/** A test vault whose sub-organizations may send events to this machine. */
async function startSandbox() {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await WebhookReceiver.start());
  const usual = resources.use(await startTestVault());
  const { vault, line } = await startDev(usual.config, { clock: 'real' });
  resources.defer(() => vault.close());
  const root = new TestClient(
    line.url,
    line.organizationId,
    testKeyOf(line.apiPrivateKey, line.apiPublicKey),
  );
  const owned = resources.move();
  return { root, receiver, usual, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const enable = (client: TestClient, value: string): Promise<Answer> =>
  client.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
    name: 'FEATURE_NAME_WEBHOOK',
    value,
  });

const tagIn = async (client: TestClient): Promise<string> =>
  activityOf(
    await client.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: `Tag ${String(++tags)}`,
      userIds: [],
    }),
  ).id;

test('14: in `keyhearth dev`, a sub-organization has its events sent to this machine', async () => {
  await using sandbox = await startSandbox();
  const { root, receiver, usual } = sandbox;
  const { client: sub } = await newSubOrganization(root);
  const answer = await enable(sub, receiver.url);
  expect(answer.status, answer.text).toBe(200);
  const tag = await tagIn(sub);
  await vi.waitFor(() => {
    expect(receiver.ids).toEqual([tag]);
  }, patience);
  // Nothing else of the network that a sub-organization may not reach otherwise.
  expect((await enable(sub, 'http://10.0.0.1/hook')).status).toBe(400);
  const { client: other } = await newSubOrganization(usual.root);
  expect((await enable(other, receiver.url)).status).toBe(400);
});

test('endpoints of sub-organizations that hang hold up no event of the vault’s own organization', async () => {
  await using sandbox = await startSandbox();
  const { root, receiver } = sandbox;
  await using hanging = await WebhookReceiver.start();
  let [begun, ended] = [0, 0];
  hanging.misbehave = (response) => {
    begun++;
    response.once('close', () => ended++);
    return true;
  };
  const subs = await Promise.all(
    Array.from({ length: 5 }, async () => (await newSubOrganization(root)).client),
  );
  for (const sub of subs) {
    for (let endpoint = 0; endpoint < 16; endpoint++) {
      resultOf(
        await sub.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
          url: hanging.url,
          name: `Hangs ${String(endpoint)}`,
        }),
      );
    }
  }
  expect((await enable(root, receiver.url)).status).toBe(200);
  await Promise.all(subs.map(tagIn));
  await vi.waitFor(() => {
    expect(begun).toBeGreaterThanOrEqual(48);
  }, patience);
  const tag = await tagIn(root);
  await vi.waitFor(() => {
    expect(receiver.ids).toContain(tag);
  }, patience);
  // It got a place that is not for them, and not one that a delivery gave up after ten seconds.
  expect(ended).toBe(0);
});

test('a sub-organization that changes its endpoints and replays ends no batch of another organization', async () => {
  await using scene = await start();
  const { service, receiver } = scene;
  const { client: sub } = await newSubOrganization(service.root);
  const url = 'https://receiver.invalid/';
  const made = await sub.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', { url, name: 'Sub' });
  const { endpointId } = resultOf(made) as unknown as { endpointId: string };
  await createEndpoint(service, receiver.url);
  let answer: (() => void) | undefined;
  receiver.misbehave = (response, event) => {
    answer = () => {
      receiver.events.push(event);
      response.end();
    };
    return true;
  };
  const held = () => vi.waitFor(() => answer ?? expect.fail('no event came'), patience);
  // While the first is held, the others come to be one batch.
  await makeTag(service);
  const first = await held();
  const batch = [await makeTag(service), await makeTag(service)];
  answer = undefined;
  first();
  const second = await held();
  service.clock.advance(1000);
  for (const isActive of [false, true]) {
    const answer = await sub.submit('update_webhook_endpoint', 'UPDATE_WEBHOOK_ENDPOINT', {
      endpointId,
      isActive,
    });
    expect(answer.status, answer.text).toBe(200);
  }
  const replayed = await sub.submit('replay_webhook_deliveries', 'REPLAY_WEBHOOK_DELIVERIES', {
    endpointId,
    sinceMs: '0',
  });
  expect(replayed.status, replayed.text).toBe(200);
  // The service has looked for events that are sent again.
  await new Promise(setImmediate);
  receiver.misbehave = undefined;
  second();
  await vi.waitFor(() => {
    expect(receiver.ids).toEqual(expect.arrayContaining(batch));
  }, patience);
  const times = batch.map(
    (id) => receiver.events.find(({ body }) => body.id === id)?.headers['x-turnkey-timestamp'],
  );
  // A batch that had ended would have gone on with the later time.
  expect(times[1]).toBe(times[0]);
});
