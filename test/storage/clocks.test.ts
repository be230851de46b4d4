/**
 * A clock that was ahead and is set right: what it dated lies in the time to come. Nothing waits for that time, and nothing holds
 * until then.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { reserve, reservedOf } from '../../main/storage/tables/policy-reservations.ts';
import { startSweeping } from '../../main/operations/sweeping.ts';
import { activityOf, newTestKey, resultOf, send, startTestVault } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const ahead = 30 * day;

let service: TestVault;

beforeAll(async () => {
  service = await startTestVault();
});
afterAll(() => service[Symbol.asyncDispose]());

/** A request is dated by its client, whose clock is the same. */
const dated = (): Json => ({ timestampMs: String(service.clock.now()) });

/** Does the work while the clock is ahead, and reads its effect once the clock is right. */
async function whileAhead<Seen>(work: () => Promise<Seen>): Promise<Seen> {
  service.clock.advance(ahead);
  try {
    return await work();
  } finally {
    service.clock.advance(-ahead);
  }
}

describe('sessions and keys that end', () => {
  test('a read-only session and a key that expires stay invalid, and nothing without an expiry is lost', async () => {
    const { publicKey, ...key } = newTestKey();
    const { userId } = await service.newUser('Ann');
    const session = await whileAhead(async () => {
      resultOf(
        await service.root.submit(
          'create_api_keys',
          'CREATE_API_KEYS_V2',
          {
            userId,
            apiKeys: [
              {
                ...{ apiKeyName: 'for an hour', publicKey, curveType: 'API_KEY_CURVE_P256' },
                expirationSeconds: '3600',
              },
            ],
          },
          dated(),
        ),
      );
      const made = resultOf(
        await service.root.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {}, dated()),
      );
      expect((await service.root.as({ publicKey, ...key }).query('whoami')).status).toBe(200);
      return (made as unknown as Json)['session'] as string;
    });
    const asSession = await send(service.url, {
      path: '/public/v1/query/whoami',
      headers: { 'content-type': 'application/json', 'x-session': session },
      body: JSON.stringify({ organizationId: service.organizationId }),
    });
    expect([asSession.status, asSession.text]).toEqual([401, expect.stringContaining('it has expired')]);
    expect((await service.root.as({ publicKey, ...key }).query('whoami')).body).toMatchObject({
      turnkeyErrorCode: 'API_KEY_EXPIRED',
    });
    const { body } = await service.root.query('list_sessions');
    expect(body?.['sessions']).toEqual([]);
    // It may be the clock now that is wrong: nothing was deleted.
    await whileAhead(async () => {
      expect((await service.root.as({ publicKey, ...key }).query('whoami')).status).toBe(200);
    });
  });
});

describe('deliveries', () => {
  test('a webhook that failed goes out at once', async () => {
    await using receiver = await WebhookReceiver.start();
    let attempts = 0;
    receiver.misbehave = (response) => {
      attempts++;
      response.writeHead(500).end();
      return true;
    };
    const created = await service.root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
      url: receiver.url,
      name: 'Receiver',
    });
    const { endpointId } = resultOf(created) as unknown as { endpointId: string };
    await whileAhead(async () => {
      activityOf(
        await service.root.submit('test_webhook_endpoint', 'TEST_WEBHOOK_ENDPOINT', { endpointId }, dated()),
      );
      await vi.waitFor(() => {
        expect(attempts).toBeGreaterThan(0);
        expect(
          service.vault.connection.get(
            "SELECT 1 FROM webhook_deliveries WHERE state = 'waiting' AND next_at > 0",
          ),
        ).toBeDefined();
      });
    });
    receiver.misbehave = undefined;
    // As when the clock is noticed, or the settings are changed.
    service.vault.webhooks.look();
    await vi.waitFor(() => {
      expect(receiver.events.length).toBeGreaterThan(0);
    });
  });
});

describe('budgets', () => {
  test('what was reserved counts for one window from then on', async () => {
    const counter = { organizationId: service.organizationId, measure: 'eth.tx.value', by: '[]' };
    const { units, keyring: keys, connection } = service.vault;
    const now = service.clock.now();
    await units.write((tx) => {
      reserve(tx, counter, { activityId: 'a', amount: 5n, now: now + ahead }, 60 * day);
    });
    const stop = startSweeping(
      { units, keys, clock: service.clock, onFault: (fault) => service.faults.push(fault) },
      5,
    );
    await vi.waitFor(() => {
      expect(reservedOf(connection, counter)(service.clock.now() + 10 * minute)).toBe(0n);
    });
    stop();
    expect(reservedOf(connection, counter)(service.clock.now() - day)).toBe(5n);
  });
});
