/** Organization features and policies, as an organization shows them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listFeatures } from '../../main/storage/tables/features.ts';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { resultOf, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

const set = (parameters: Json, client = root): Promise<Answer> =>
  client.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', parameters);
const remove = (name: string, client = root): Promise<Answer> =>
  client.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', { name });
const stored = (): Json[] =>
  service.vault.units.read((tx) => listFeatures(tx, service.organizationId)).map((row) => ({ ...row }));

const webhook = { name: 'FEATURE_NAME_WEBHOOK', value: 'https://example.com/hook?key=1' };
const recovery = { name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY', value: '' };

describe('organization features', () => {
  beforeEach(async () => {
    for (const { name } of stored()) await remove(name as string);
  });

  test('are set, changed and removed, and each answer is the whole list', async () => {
    expect(resultOf(await set(webhook))).toEqual({ features: [webhook] });
    expect(resultOf(await set(recovery))).toEqual({ features: [webhook, recovery] });
    const changed = { ...webhook, value: 'http://127.0.0.1:4000/hook' };
    expect(resultOf(await set(changed))).toEqual({ features: [changed, recovery] });
    expect(resultOf(await remove('FEATURE_NAME_WEBHOOK'))).toEqual({ features: [recovery] });
    expect(resultOf(await remove('FEATURE_NAME_WEBHOOK'))).toEqual({ features: [recovery] });
  });

  test('are shown with the organization and with its configuration', async () => {
    await set(webhook);
    const quorum = { threshold: 1, userIds: [service.rootUserId] };
    const configs = await root.query('get_organization_configs');
    expect(configs.body?.['configs']).toEqual({ features: [webhook], quorum });
    const organization = await root.query('get_organization');
    expect(organization.body?.['organizationData']).toMatchObject({
      features: [webhook],
      rootQuorum: quorum,
    });
  });

  test('that are switches need no value', async () => {
    const answer = await set({ name: 'FEATURE_NAME_EMAIL_AUTH' });
    expect(resultOf(answer)).toEqual({ features: [{ name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }] });
  });

  test.each([
    [{ name: 'FEATURE_NAME_SWAP_CONFIG' }, /parameters\.name: expected one of .*FEATURE_NAME_WEBHOOK/],
    [{ value: 'x' }, /^missing field parameters\.name/],
    [{ name: 'FEATURE_NAME_WEBHOOK' }, /^invalid parameters\.value: .* http or https URL .*, got nothing$/],
    [{ ...webhook, value: 'ftp://example.com' }, /^invalid parameters\.value: .*got "ftp:\/\/example\.com"$/],
    [{ ...webhook, value: 'https://a:b@example.com' }, /without user name and password/],
    [
      { ...webhook, value: `https://example.com/${'a'.repeat(2000)}` },
      /parameters\.value: expected at most 2000/,
    ],
    [{ ...webhook, value: 7 }, /^invalid parameters\.value: expected a string, got 7$/],
    [
      { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'example.com' },
      /^invalid parameters\.value: .*web origins/,
    ],
  ])('refuse %j', async (parameters, message) => {
    const answer = await set(parameters);
    expect(answer.status).toBe(400);
    expect(answer.body?.['message']).toMatch(message);
    expect(stored()).toEqual([]);
  });

  test('are the root quorum’s to set', async () => {
    await set(webhook);
    const { client } = await service.newUser('Nobody');
    for (const answer of [await set(recovery, client), await remove(webhook.name, client)]) {
      expect(answer.status).toBe(403);
    }
    expect(stored()).toEqual([webhook]);
  });
});

describe('policies', () => {
  test('are read by id and listed in the order of their creation', async () => {
    const ids = ['4f0f8b6e-9a1c-4c6e-8d6b-0c5f0a9d7e11', '1f0f8b6e-9a1c-4c6e-8d6b-0c5f0a9d7e12'];
    expect((await root.query('list_policies')).body).toMatchObject({ policies: [] });
    const at = Math.floor(Date.now() / 1000) * 1000;
    await service.vault.units.write((tx) => {
      ids.forEach((id, index) => {
        insertPolicy(tx, {
          id,
          organizationId: service.organizationId,
          name: `Policy ${String(index)}`,
          effect: index === 0 ? 'EFFECT_ALLOW' : 'EFFECT_DENY',
          condition: "activity.resource == 'WALLET'",
          consensus: '',
          time: index === 0 ? null : "time.now < Timestamp('2030-01-01T00:00:00Z')",
          notes: 'Notes',
          createdAt: at,
          updatedAt: at,
        });
      });
    });
    const time = { seconds: String(at / 1000), nanos: '0' };
    const shown = {
      policyId: ids[0],
      policyName: 'Policy 0',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'WALLET'",
      consensus: '',
      notes: 'Notes',
      createdAt: time,
      updatedAt: time,
    };
    expect((await root.query('get_policy', { policyId: ids[0] })).body?.['policy']).toEqual(shown);
    const { body } = await root.query('list_policies');
    expect(body?.['policies']).toEqual([
      shown,
      {
        ...shown,
        policyId: ids[1],
        policyName: 'Policy 1',
        effect: 'EFFECT_DENY',
        time: "time.now < Timestamp('2030-01-01T00:00:00Z')",
      },
    ]);
    const organization = await root.query('get_organization');
    expect(organization.body?.['organizationData']).toMatchObject({ policies: body?.['policies'] });
  });

  test('that are not there are not found', async () => {
    const answer = await root.query('get_policy', { policyId: service.organizationId });
    expect(answer.status).toBe(404);
    expect(answer.body?.['message']).toBe(`unable to find policy ${service.organizationId}`);
  });
});
