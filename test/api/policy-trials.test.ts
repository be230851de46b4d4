/** Policies tried on what has happened, and explained, through the port. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { checkerOf } from '../support/api-document.ts';
import type { Checker } from '../support/api-document.ts';
import { activityOf, newWallet, resultOf, send, startTestVault } from '../support/support.ts';
import type { Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let checker: Checker;
let ann: { readonly client: TestClient; readonly userId: string };
let walletId: string;
let otherWalletId: string;
let signed: string;

beforeAll(async () => {
  service = await startTestVault();
  const { body } = await send(service.url, { method: 'GET', path: '/openapi.json' });
  checker = checkerOf(body ?? {});
  ann = await service.newUser('Ann');
  const wallet = await newWallet(service.root);
  ({ walletId } = wallet);
  const other = await newWallet(service.root, 'Another');
  otherWalletId = other.walletId;
  for (const signWith of [wallet.ethereum, wallet.ethereum, other.ethereum]) {
    signed = activityOf(await sign(service.root, signWith)).id;
  }
});
afterAll(() => service[Symbol.asyncDispose]());

const sign = (client: TestClient, signWith: string) =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });

async function ask<Answer>(operation: string, parameters: Json, client = service.root): Promise<Answer> {
  const { status, body, text } = await client.query(operation, parameters);
  expect(status, text).toBe(200);
  expect(checker.answer(`query/${operation}`, 200, body)).toEqual([]);
  return body as Answer;
}

interface Decision {
  readonly outcome: string;
  readonly decidedBy: string;
  readonly policyIds: readonly string[];
}

interface PolicyTest {
  readonly policyTest: {
    readonly tested: number;
    readonly newlyAllowed: number;
    readonly newlyDenied: number;
    readonly activities: readonly {
      readonly activityId: string;
      readonly type: string;
      readonly before: Decision;
      readonly after: Decision;
      readonly changed: boolean;
    }[];
    readonly policies: readonly Json[];
  };
}

const signing = () => ({
  policyName: 'Sign with one wallet',
  effect: 'EFFECT_ALLOW',
  condition: `activity.action == 'SIGN' && wallet.id == '${walletId}'`,
});

describe('test_policies', () => {
  test('shows that the root quorum is not held back', async () => {
    const { policyTest } = await ask<PolicyTest>('test_policies', {
      policies: [{ effect: 'EFFECT_DENY', condition: "activity.action == 'SIGN'" }],
    });
    expect(policyTest).toMatchObject({ newlyDenied: 0, newlyAllowed: 0 });
    expect(policyTest.activities[0]).toMatchObject({
      activityId: signed,
      changed: false,
      after: { outcome: 'OUTCOME_ALLOW', decidedBy: 'DECIDER_ROOT_QUORUM', policyIds: [] },
    });
    expect(policyTest.policies).toMatchObject([{ policyId: 'draft-1', draft: true, held: 3, decided: 0 }]);
  });

  test('tells what policies alone would make of the same, rule by rule', async () => {
    const { policyTest } = await ask<PolicyTest>('test_policies', {
      policies: [signing(), { effect: 'EFFECT_DENY', condition: "wallet.label == 'None such'" }],
      withoutRootQuorum: true,
      filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    });
    expect(policyTest).toMatchObject({ tested: 3, newlyAllowed: 2, newlyDenied: 0, newlyWaiting: 0 });
    expect(policyTest.activities.map(({ after, changed }) => [after.outcome, changed])).toEqual([
      ['OUTCOME_DENY_IMPLICIT', false],
      ['OUTCOME_ALLOW', true],
      ['OUTCOME_ALLOW', true],
    ]);
    expect(policyTest.activities[1]?.after).toMatchObject({
      decidedBy: 'DECIDER_POLICIES',
      policyIds: ['draft-1'],
    });
    expect(policyTest.policies).toMatchObject([
      {
        policyName: 'Sign with one wallet',
        held: 2,
        decided: 2,
        outcomes: [
          { outcome: 'OUTCOME_ALLOW', count: 2 },
          { outcome: 'OUTCOME_DENY_IMPLICIT', count: 1 },
        ],
        clauses: [
          { text: "activity.action == 'SIGN'", held: 3, failed: 0 },
          { text: `wallet.id == '${walletId}'`, held: 2, failed: 1 },
        ],
      },
      { policyName: 'Draft 2', held: 0, decided: 0 },
    ]);
  });

  test('reads at most so many, the newest', async () => {
    const { policyTest } = await ask<PolicyTest>('test_policies', { limit: 2 });
    expect(policyTest.tested).toBe(2);
    expect(policyTest.activities[0]?.activityId).toBe(signed);
  });

  test('refuses a draft that does not compile, by its field', async () => {
    const { status, body } = await service.root.query('test_policies', {
      policies: [signing(), { effect: 'EFFECT_DENY', consensus: 'approvers.count(' }],
    });
    expect(status).toBe(400);
    expect(body?.['message']).toMatch(/^invalid policies\[1\]\.consensus: line 1, column 17: expected/);
  });

  test('gives up on what takes too long, and the vault goes on', async () => {
    const slow = { effect: 'EFFECT_ALLOW', condition: slowCondition() };
    const ended: string[] = [];
    const asked = service.root.query('test_policies', {
      policies: Array.from({ length: 100 }, () => slow),
      withoutRootQuorum: true,
    });
    const noted = asked.then(() => ended.push('the question'));
    // Others, and the same caller, are answered between its steps.
    for (const client of [service.root, ann.client]) {
      expect((await client.query('whoami')).status).toBe(200);
      ended.push('another');
    }
    await noted;
    expect(ended).toEqual(['another', 'another', 'the question']);
    const { status, body } = await asked;
    expect(status).toBe(429);
    expect(body?.['message']).toMatch(/ask for fewer activities/);
  });
});

/** As many elements as an expression may go through. */
const slowCondition = (): string => {
  const list = `[${Array.from({ length: 40 }, (_, index) => String(index)).join(', ')}]`;
  return `${list}.all(a, ${list}.all(b, ${list}.any(c, a == c)))`;
};

describe('with policies in force', () => {
  let policyId: string;

  beforeAll(async () => {
    policyId = crypto.randomUUID();
    const now = Date.now();
    await service.vault.units.write((tx) => {
      insertPolicy(tx, {
        id: policyId,
        organizationId: service.organizationId,
        name: 'Sign with one wallet',
        effect: 'EFFECT_ALLOW',
        condition: `activity.action == 'SIGN' && wallet.id == '${walletId}'`,
        consensus: `approvers.any(user, user.id == '${ann.userId}')`,
        time: null,
        notes: '',
        createdAt: now,
        updatedAt: now,
      });
    });
  });

  test('a draft of the same name takes the place of one', async () => {
    const { policyTest } = await ask<PolicyTest>('test_policies', {
      policies: [{ ...signing(), condition: 'true' }],
      withoutRootQuorum: true,
      filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    });
    expect(policyTest).toMatchObject({ newlyAllowed: 3, newlyDenied: 0 });
    expect(policyTest.policies).toMatchObject([{ policyId, draft: true }]);
  });

  test('without those in force', async () => {
    const { policyTest } = await ask<PolicyTest>('test_policies', { replaceAll: true });
    expect(policyTest.policies).toEqual([]);
  });

  test('explain_policies says what each part of a past activity came to', async () => {
    const { policyExplanation } = await ask<{ policyExplanation: Json }>('explain_policies', {
      activityId: signed,
    });
    expect(policyExplanation).toMatchObject({
      outcome: 'OUTCOME_ALLOW',
      decidedBy: 'DECIDER_ROOT_QUORUM',
      policies: [
        {
          policyId,
          outcome: 'OUTCOME_DENY_IMPLICIT',
          expressions: [
            {
              field: 'condition',
              value: false,
              parts: expect.arrayContaining([
                expect.objectContaining({ text: 'wallet.id', values: [`'${otherWalletId}'`] }),
              ]) as object[],
            },
            { field: 'consensus', value: false },
          ],
        },
      ],
    });
  });

  test('explain_policies explains a hypothetical request, and executes nothing', async () => {
    const addresses = await ask<{ accounts: readonly { readonly address: string }[] }>(
      'list_wallet_accounts',
      { walletId },
    );
    const before = (await service.root.query('list_activities', {})).body?.['activities'];
    const activity = {
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      parameters: {
        signWith: addresses.accounts[0]?.address,
        payload: 'hello',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      },
    };
    const requestBody = JSON.stringify(activity);
    const asAnn = await ask<{ policyExplanation: Json }>('explain_policies', {
      requestBody,
      userId: ann.userId,
    });
    expect(asAnn.policyExplanation).toMatchObject({
      outcome: 'OUTCOME_ALLOW',
      decidedBy: 'DECIDER_POLICIES',
      policyIds: [policyId],
    });
    // The caller, where no user is named.
    const { policyExplanation } = await ask<{ policyExplanation: Json }>(
      'explain_policies',
      { requestBody },
      ann.client,
    );
    expect(policyExplanation).toEqual(asAnn.policyExplanation);
    const refused = await service.root.query('explain_policies', {
      requestBody: JSON.stringify({ ...activity, parameters: { ...activity.parameters, encoding: 'MORSE' } }),
    });
    expect(refused.status).toBe(400);
    expect(refused.body?.['message']).toMatch(/requestBody\.parameters\.encoding/);
    expect((await service.root.query('list_activities', {})).body?.['activities']).toEqual(before);
    // The prediction comes true.
    expect((await sign(ann.client, activity.parameters.signWith ?? '')).status).toBe(200);
  });

  test.each([
    [{}, /activityId/],
    [{ activityId: '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70' }, /unable to find activity/],
    [
      { requestBody: '{"type":"ACTIVITY_TYPE_FLY","parameters":{}}' },
      /no activity of type ACTIVITY_TYPE_FLY/,
    ],
    [{ requestBody: '{' }, /requestBody/],
  ])('explain_policies refuses %j', async (parameters, message) => {
    const { status, body } = await service.root.query('explain_policies', parameters);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body?.['message']).toMatch(message);
  });

  test('what was refused is kept apart, explained, and tried', async () => {
    const denied = await ann.client.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Hers',
      accounts: [],
    });
    expect(denied.status).toBe(403);
    interface Refusals {
      readonly refusals: readonly {
        readonly refusalId: string;
        readonly userId: string;
        readonly reason: string;
      }[];
    }
    const { refusals } = await ask<Refusals>('list_refusals', {});
    expect(refusals).toMatchObject([
      {
        userId: ann.userId,
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        reason: 'No policies evaluated to outcome: Allow',
        intent: '{"walletName":"Hers","accounts":[]}',
      },
    ]);
    const [refusal] = refusals;
    const allowing = {
      policies: [{ effect: 'EFFECT_ALLOW', condition: "activity.kind == 'CREATE_WALLET'" }],
    };
    const { policyTest } = await ask<PolicyTest>('test_policies', allowing);
    expect(policyTest).toMatchObject({ newlyAllowed: 1, newlyDenied: 0 });
    expect(policyTest.activities.filter(({ changed }) => changed)).toMatchObject([
      { activityId: refusal?.refusalId, status: 'REFUSED', after: { policyIds: ['draft-1'] } },
    ]);
    const { policyExplanation } = await ask<{ policyExplanation: Json }>('explain_policies', {
      activityId: refusal?.refusalId,
    });
    expect(policyExplanation).toMatchObject({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      decidedBy: 'DECIDER_NOTHING',
    });
    // An invalid request is not recorded.
    await ann.client.submit('create_wallet', 'CREATE_WALLET', { walletName: '' });
    expect((await ask<Refusals>('list_refusals', {})).refusals).toHaveLength(1);
  });

  test('list_permissions tells who may do what', async () => {
    const of = async (userId: string) => {
      const { permissions } = await ask<{
        permissions: readonly {
          readonly activityType: string;
          readonly reach: string;
          readonly policyIds: unknown;
        }[];
      }>('list_permissions', { userId });
      return new Map(permissions.map(({ activityType, ...rest }) => [activityType, rest]));
    };
    const ofAnn = await of(ann.userId);
    expect(ofAnn.get('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')).toEqual({
      activityType: undefined,
      resource: 'PRIVATE_KEY',
      action: 'SIGN',
      reach: 'REACH_DEPENDS',
      policyIds: [policyId],
    });
    expect(ofAnn.get('ACTIVITY_TYPE_CREATE_API_KEYS_V2')).toMatchObject({ reach: 'REACH_OWN_CREDENTIALS' });
    expect(ofAnn.get('ACTIVITY_TYPE_CREATE_WALLET')).toMatchObject({ reach: 'REACH_DENIED' });
    // The class: a permission that follows from a credential that the user has.
    const { policyId: byKey } = resultOf(
      await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'With an API key',
        effect: 'EFFECT_ALLOW',
        condition: "activity.kind == 'CREATE_WALLET'",
        consensus: "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_P256')",
        notes: '',
      }),
    ) as unknown as { policyId: string };
    expect((await of(ann.userId)).get('ACTIVITY_TYPE_CREATE_WALLET')).toMatchObject({
      reach: 'REACH_ALLOWED',
      policyIds: [byKey],
    });
    const created = await ann.client.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'By her key',
      accounts: [],
    });
    expect(created.status).toBe(200);
    const reaches = [...(await of(service.rootUserId)).values()].map(({ reach }) => reach);
    expect(new Set(reaches)).toEqual(new Set(['REACH_ROOT_QUORUM']));
  });
});

test('an organization has so many characters of expressions, however they are spread over policies', async () => {
  const condition = Array(3000).fill("eth.tx.to == 'a'").join(' || ');
  const policies = Array.from({ length: 9 }, (_, index) => ({
    policyName: `Long ${String(index)}`,
    effect: 'EFFECT_DENY',
    condition,
    notes: '',
  }));
  const refusal = /^maximum number of characters in the expressions of policies reached: 500000 are allowed/;
  const all = await service.root.submit('create_policies', 'CREATE_POLICIES', { policies });
  expect(all.body?.['message']).toMatch(refusal);
  const some = await service.root.submit('create_policies', 'CREATE_POLICIES', {
    policies: policies.slice(0, 8),
  });
  expect(some.status).toBe(200);
  const [policyId = ''] = (Object.values(activityOf(some).result)[0] as { policyIds: string[] }).policyIds;
  const change = (more: Json) =>
    service.root.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, ...more });
  expect((await change({ policyConsensus: `(${condition}) || true` })).body?.['message']).toMatch(refusal);
  expect((await change({ policyName: 'Long, with another name' })).status).toBe(200);
  const [last] = policies.slice(-1);
  const one = await service.root.submit('create_policy', 'CREATE_POLICY_V3', { ...last });
  expect(one.body?.['message']).toMatch(refusal);
});
