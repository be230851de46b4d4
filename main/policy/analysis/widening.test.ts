/** The class: a budget that holds by what was compared, and not by what another policy allows at another hour or another user. */
import { describe, expect, test } from 'vitest';
import { withoutBreak } from '../../lib/concurrency/paced.ts';
import { pauseOf, policiesOfSpender, type Spender } from '../../lib/policies/spenders.ts';
import type { Voter } from '../decide/facts.ts';
import type { PolicyText } from '../decide/policies.ts';
import type { ActivityKind } from './reach.ts';
import { wideningOf } from './widening.ts';

const userId = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const other = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f71';
const tag = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f72';
const agent: Spender = {
  userId,
  isBot: false,
  walletId: '0190a1b2-0000-4000-8000-000000000001',
  chainIds: [1n],
  budgets: [{ tokens: [], amount: 5n, period: 'day' }],
  receivers: [],
  messages: false,
  approverId: undefined,
};
const user: Voter = {
  userId,
  root: false,
  tags: [tag],
  credentials: [{ id: '', user_id: userId, type: 'CREDENTIAL_TYPE_API_KEY_P256' }],
};

const kind = (name: string, resource: string, action: string): ActivityKind => ({
  ...{ type: `ACTIVITY_TYPE_${name}`, kind: name, resource, action },
  ...{ rootQuorumOnly: false, credentials: false },
});
const kinds = [
  kind('SIGN_TRANSACTION', 'PRIVATE_KEY', 'SIGN'),
  kind('SIGN_RAW_PAYLOAD', 'PRIVATE_KEY', 'SIGN'),
  kind('CREATE_WALLET', 'WALLET', 'CREATE'),
  kind('EXPORT_WALLET', 'WALLET', 'EXPORT'),
];

const allow = (more: Partial<PolicyText>): PolicyText => ({
  ...{ policyId: 'another', effect: 'EFFECT_ALLOW', condition: '', consensus: '' },
  ...more,
});

function widens(
  more: readonly PolicyText[],
  spender: Spender = agent,
  voter: Voter = user,
): readonly string[] {
  const own = policiesOfSpender('Agent claude', spender).map((policy, index) => ({
    ...policy,
    policyId: String(index),
  }));
  const ids = new Set(own.map(({ policyId }) => policyId));
  return withoutBreak(wideningOf(voter, ids, [...own, ...more], kinds));
}

describe.each([agent, { ...agent, isBot: true }, { ...agent, messages: true, approverId: other }])(
  'a spender %#',
  (spender) => {
    test.each<[string, Partial<PolicyText>]>([
      ['is for everyone', {}],
      ['says so at length', { condition: '1 == 1', consensus: 'approvers.count() >= 1' }],
      ['signs with any wallet', { condition: "activity.kind == 'SIGN_TRANSACTION'" }],
      ['signs for a network', { condition: "activity.action == 'SIGN' && eth.tx.chain_id == 1" }],
      [
        'counts what leaves by its transactions',
        { condition: "activity.kind == 'SIGN_TRANSACTION' && eth.outflow.coin <= 1000000" },
      ],
      ['names it', { consensus: `approvers.any(user, user.id == '${userId}')` }],
      ['names its tag', { consensus: `approvers.any(user, user.tags.contains('${tag}'))` }],
      ['asks for an API key', { consensus: "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_P256')" }],
      ['begins tomorrow', { time: "time.now >= Timestamp('2126-01-01T00:00:00Z')" }],
      ['is in force at night', { time: "time.now < Timestamp('2026-01-01T00:00:00Z')" }],
    ])('is widened by a policy that %s', (_what, policy) => {
      expect(widens([allow(policy)], spender)).toEqual(['another']);
    });

    test.each<[string, Partial<PolicyText>]>([
      ['is for another user', { consensus: `approvers.any(user, user.id == '${other}')` }],
      ['is for another tag', { consensus: `approvers.any(user, user.tags.contains('${other}'))` }],
      ['asks for a second approval', { consensus: 'approvers.count() >= 2' }],
      [
        'asks for a passkey',
        { consensus: "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')" },
      ],
      ['is for what its own policies deny', { condition: "activity.action == 'EXPORT'" }],
      ['is for requests of another', { condition: `submitter.id == '${other}'` }],
      ['denies', { effect: 'EFFECT_DENY' }],
      ['does not compile', { condition: 'eth.tx.valu < 5' }],
    ])('is not widened by a policy that %s', (_what, policy) => {
      expect(widens([allow(policy)], spender)).toEqual([]);
    });
  },
);

test('a spender with two credentials is widened by a policy that counts two', () => {
  const more = allow({ consensus: 'credentials.count() >= 2' });
  expect(widens([more])).toEqual([]);
  const [one] = user.credentials ?? [];
  const credentials = one === undefined ? [] : [one, { ...one, id: 'second' }];
  expect(widens([more], agent, { ...user, credentials })).toEqual(['another']);
});

test('a denial that ends keeps nothing out', () => {
  const { effect, condition, consensus } = pauseOf('', userId);
  const denial = { policyId: 'denial', effect, condition, consensus };
  expect(widens([allow({}), denial])).toEqual([]);
  const ending = { ...denial, time: "time.now < Timestamp('2126-01-01T00:00:00Z')" };
  expect(widens([allow({}), ending])).toEqual(['another']);
});

test('without its own denials, what they keep out is found', () => {
  const exports = allow({ condition: "activity.action == 'EXPORT'" });
  expect(withoutBreak(wideningOf(user, new Set(), [exports], kinds))).toEqual(['another']);
});
