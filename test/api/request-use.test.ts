/** Requests that count as use, and so delay the automatic lock: none that a stranger could send. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  activityOf,
  newTestKey,
  send,
  startTestVault,
  type Answer,
  type Json,
  type TestVault,
  newSubOrganization,
} from '../support/support.ts';
import type { TestClient } from '../support/support.ts';

let service: TestVault;
let root: TestClient;
let stranger: TestClient;
let member: TestClient;
let tenant: TestClient;
/** A request that the vault has executed already. */
let sent: string;

/** Longer than any request takes, and shorter than the vault accepts a timestamp for. Milliseconds. */
const whileMs = 20_000;

const sinceMs = (): number => service.vault.requestUse.sinceMs();

const wallet = { walletName: 'Again', accounts: [] };

/** The time by the vault's clock, which runs ahead. */
const live = (): Json => ({ timestampMs: String(service.clock.now()) });

let made = 0;
const makeWallet = (client: TestClient): Promise<Answer> =>
  client.submit(
    'create_wallet',
    'CREATE_WALLET',
    { walletName: `W ${String(++made)}`, accounts: [] },
    live(),
  );

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  stranger = root.as(newTestKey());
  ({ client: member } = await service.newUser('Member'));
  ({ client: tenant } = await newSubOrganization(root));
  sent = root.submitBody('CREATE_WALLET', wallet);
  expect((await root.post('submit/create_wallet', sent)).status).toBe(200);
});
afterAll(() => service[Symbol.asyncDispose]());

test('a request that makes something is a use', async () => {
  service.clock.advance(whileMs);
  expect(sinceMs()).toBeGreaterThanOrEqual(whileMs);
  expect((await makeWallet(root)).status).toBe(200);
  expect(sinceMs()).toBeLessThan(whileMs);
});

describe('no use is', () => {
  beforeEach(async () => {
    expect((await makeWallet(root)).status).toBe(200);
    service.clock.advance(whileMs);
  });

  test.each<[what: string, request: () => Promise<Answer>, status: number]>([
    [
      'a request without a stamp',
      () => root.post('submit/create_wallet', sent, { 'x-stamp': undefined }),
      401,
    ],
    [
      'a stamp of the owner over another body',
      () => {
        const body = root.submitBody('CREATE_WALLET', wallet, live());
        return root.post('submit/create_wallet', body, { 'x-stamp': root.key.stamp(sent) });
      },
      401,
    ],
    ['a stranger with a stamp that holds', () => makeWallet(stranger), 401],
    [
      'an executed request that is sent again, with its stamp',
      () => root.post('submit/create_wallet', sent),
      200,
    ],
    ['a user whom no policy allows it', () => makeWallet(member), 403],
    [
      'a request that does not fit its schema',
      () => root.submit('create_wallet', 'CREATE_WALLET', {}, live()),
      400,
    ],
    [
      'a request of long ago',
      () => root.submit('create_wallet', 'CREATE_WALLET', wallet, { timestampMs: '1600000000000' }),
      400,
    ],
    ['an unknown operation', () => root.query('what_is_this'), 501],
    ['a query', () => root.query('list_wallets'), 200],
    ['a sub-organization’s root user in that organization', () => makeWallet(tenant), 200],
    ['a path that is not there', () => send(service.url, { method: 'GET', path: '/health' }), 404],
  ])('%s', async (_what, request, status) => {
    const answer = await request();
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    expect(sinceMs()).toBeGreaterThanOrEqual(whileMs);
  });

  test('a vote that is sent again', async () => {
    const policy = await root.submit(
      'create_policy',
      'CREATE_POLICY_V3',
      {
        policyName: 'Two',
        effect: 'EFFECT_ALLOW',
        condition: "activity.resource == 'WALLET'",
        consensus: 'approvers.count() >= 2',
        notes: '',
      },
      live(),
    );
    expect(policy.status).toBe(200);
    const waiting = activityOf(await makeWallet(member));
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    service.clock.advance(whileMs);
    const { fingerprint } = waiting;
    const body = root.submitBody('APPROVE_ACTIVITY', { fingerprint }, live());
    const approve = (): Promise<Answer> => root.post('submit/approve_activity', body);
    expect((await approve()).status).toBe(200);
    // The vote itself is one.
    expect(sinceMs()).toBeLessThan(whileMs);
    service.clock.advance(whileMs);
    expect((await approve()).status).toBe(200);
    expect(sinceMs()).toBeGreaterThanOrEqual(whileMs);
  });
});
