/** An activity that does something to several things is decided thing by thing. */
import { describe, expect, test } from 'vitest';
import { decide, mayApprove, type Verdict } from './decide.ts';
import type { Counter, Counters, Reservation } from '../language/evaluation.ts';
import { explain } from '../analysis/explain.ts';
import type { Facts, Voter } from './facts.ts';
import { compilePolicy, type Policy, type PolicyText } from './policies.ts';
import { replay } from '../analysis/replay.ts';
import type { ConditionFacts } from '../language/schema.ts';
import { Unknown } from '../language/types.ts';
import { withoutBreak } from '../../lib/concurrency/paced.ts';

const ann: Voter = { userId: 'ann', root: false };
const ben: Voter = { userId: 'ben', root: false };
const root: Voter = { userId: 'root', root: true };

const text = (policyId: string, effect: 'ALLOW' | 'DENY', condition = '', consensus = ''): PolicyText => ({
  policyId,
  effect: `EFFECT_${effect}`,
  condition,
  consensus,
});
const allow = (policyId: string, condition?: string, consensus?: string): Policy =>
  compilePolicy(text(policyId, 'ALLOW', condition, consensus));
const deny = (policyId: string, condition?: string): Policy =>
  compilePolicy(text(policyId, 'DENY', condition));

/** Typed data if a type is named, and else an unreadable payload. */
const signs = (primary?: string): ConditionFacts => ({
  activity: () => ({
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
    kind: 'SIGN_RAW_PAYLOADS',
    action: 'SIGN',
    params: {},
    signatures: 1,
  }),
  signing_key: () => ({ public_key: '02ab' }),
  'eth.eip_712': () =>
    primary === undefined ? new Unknown('it cannot be read') : { primary_type: primary, domain: {} },
});
const pays = (value: bigint, signatures = 1): ConditionFacts => ({
  activity: () => ({ action: 'SIGN', kind: 'SIGN_TRANSACTION', params: {}, signatures }),
  signing_key: () => ({ public_key: '02ab' }),
  'eth.tx': () => ({ value }),
});

const decided = (
  items: readonly ConditionFacts[],
  policies: readonly Policy[],
  more: Partial<Facts> = {},
): Verdict => decide({ approvers: [ann], rootQuorumThreshold: 1, items, policies, ...more });

const mail = allow('mail', "eth.eip_712.primary_type == 'Mail'");
const order = allow('order', "eth.eip_712.primary_type == 'Order'");
const noPermit = deny('no permit', "eth.eip_712.primary_type == 'Permit'");

describe('a batch is', () => {
  test('allowed where each item is, by whichever policies', () => {
    expect(decided([signs('Mail'), signs('Order'), signs('Mail')], [mail, order])).toMatchObject({
      outcome: 'allow',
      policyIds: ['mail', 'order'],
      evaluations: [
        { policyId: 'mail', outcome: 'OUTCOME_ALLOW' },
        { policyId: 'order', outcome: 'OUTCOME_ALLOW' },
      ],
    });
    expect(decided([signs('Mail'), signs('Order'), signs('Permit')], [mail, order])).toMatchObject({
      outcome: 'deny',
      reason: 'No policies evaluated to outcome: Allow (item 3 of 3)',
      item: 2,
      policyIds: [],
    });
    expect(decided([signs('Mail'), signs()], [mail, order]).outcome).toBe('deny');
  });

  test('denied where one item is, wherever it stands among however many', () => {
    const everything = allow('everything');
    for (const count of [2, 3, 100]) {
      for (const place of [0, 1, count - 1]) {
        const items = Array.from({ length: count }, (_, index) => signs(index === place ? 'Permit' : 'Mail'));
        expect(decided(items, [everything, noPermit])).toMatchObject({
          outcome: 'deny',
          reason: `The following policies denied this action: no permit (item ${place + 1} of ${count})`,
          policyIds: ['no permit'],
        });
        const unread = Array.from({ length: count }, (_, index) =>
          signs(index === place ? undefined : 'Mail'),
        );
        expect(decided(unread, [everything, noPermit]).outcome).toBe('deny');
      }
    }
    expect(decided([signs('Mail'), signs('Mail')], [everything, noPermit]).outcome).toBe('allow');
  });

  test('denied before it is not allowed, and not allowed before it waits', () => {
    const both = allow('both', "eth.eip_712.primary_type == 'Order'", 'approvers.count() >= 2');
    const voters = (): readonly Voter[] => [ann, ben];
    const given = [mail, both, noPermit];
    const outcome = (...types: string[]) => decided(types.map(signs), given, { voters });
    expect(outcome('Order', 'Other', 'Permit')).toMatchObject({ outcome: 'deny', item: 2 });
    expect(outcome('Order', 'Other', 'Mail')).toMatchObject({ outcome: 'deny', item: 1 });
    expect(outcome('Mail', 'Order')).toMatchObject({
      outcome: 'consensus',
      reason: 'No policies evaluated to outcome: Allow (item 2 of 2)',
      policyIds: ['both'],
      evaluations: [
        { policyId: 'mail', outcome: 'OUTCOME_DENY_IMPLICIT' },
        { policyId: 'both', outcome: 'OUTCOME_REQUIRES_CONSENSUS' },
        { policyId: 'no permit', outcome: 'OUTCOME_DENY_IMPLICIT' },
      ],
    });
    expect(outcome('Mail', 'Mail').outcome).toBe('allow');
  });

  test('voted on by those of whom one item needs it', () => {
    const facts: Facts = {
      approvers: [ann],
      rootQuorumThreshold: 1,
      voters: () => [ann, ben],
      policies: [mail, allow('both', "eth.eip_712.primary_type == 'Order'", 'approvers.count() >= 2')],
    };
    expect(mayApprove({ ...facts, items: [signs('Mail'), signs('Order')] }, ben)).toBe(true);
    expect(mayApprove({ ...facts, items: [signs('Mail'), signs('Mail')] }, ben)).toBe(false);
    const voted = { ...facts, items: [signs('Mail'), signs('Order')], approvers: [ann, ben] };
    expect(decide(voted)).toMatchObject({ outcome: 'allow', policyIds: ['mail', 'both'] });
  });

  test('the root quorum’s all the same', () => {
    expect(decided([signs('Permit'), signs()], [noPermit], { approvers: [root] })).toMatchObject({
      outcome: 'allow',
      evaluations: [],
    });
  });

  test('explained by the item that settles it, and replayed as it was decided', () => {
    const items = [signs('Mail'), signs('Permit')];
    const facts: Facts = { approvers: [ann], rootQuorumThreshold: 1, items };
    const { item } = decide({ ...facts, policies: [allow('all'), noPermit] });
    expect(explain("eth.eip_712.primary_type == 'Permit'", 'condition', facts, item).value).toBe(true);
    expect(explain("eth.eip_712.primary_type == 'Permit'", 'condition', facts).value).toBe(false);
    const { decisions, coverage } = withoutBreak(
      replay(
        [facts],
        [text('all', 'ALLOW'), text('no permit', 'DENY', "eth.eip_712.primary_type == 'Permit'")],
      ),
    );
    expect(decisions).toEqual([{ outcome: 'deny', decidedBy: 'DECIDER_POLICIES', policyIds: ['no permit'] }]);
    expect(coverage[1]).toMatchObject({ held: 1, clauses: [{ held: 1, failed: 0 }] });
  });

  test('is never allowed for having no items', () => {
    expect(decided([], []).outcome).toBe('deny');
    expect(decided([], [allow('mail', "activity.action == 'SIGN'")]).outcome).toBe('deny');
    expect(decided([], [allow('all'), deny('all')]).outcome).toBe('deny');
  });
});

describe('a budget', () => {
  class Ledger implements Counters {
    readonly rows: Reservation[] = [];
    total({ measure, by }: Counter): bigint {
      return this.rows
        .filter((row) => row.measure === measure && row.by === by)
        .reduce((sum, { amount }) => sum + amount, 0n);
    }
  }
  const budget = allow('budget', "RollingSum(eth.tx.value, '24h', signing_key.public_key) <= 10");

  test('sees of each item those before it', () => {
    const counters = new Ledger();
    const spend = (...values: bigint[]): string => {
      const verdict = decided(
        values.map((value) => pays(value)),
        [budget],
        { counters },
      );
      if (verdict.outcome === 'allow') counters.rows.push(...verdict.reservations);
      return verdict.outcome;
    };
    expect(spend(4n, 4n, 4n)).toBe('deny');
    expect(spend(4n, 4n)).toBe('allow');
    expect(counters.rows).toEqual([
      { measure: 'eth.tx.value', by: '[["signing_key.public_key","02ab"]]', amount: 8n },
    ]);
    expect(spend(1n, 2n)).toBe('deny');
    expect(spend(1n, 1n)).toBe('allow');
    expect(spend(0n, 1n)).toBe('deny');
  });

  test('of signatures counts those that each item gives, of whatever else one', () => {
    const most = deny('most', "RollingCount('1h', submitter.id) > 100");
    const everything = allow('everything');
    const count = (items: readonly ConditionFacts[], counters = new Ledger()) =>
      decided(items, [most, everything], { counters });
    const batch = (size: number) => Array.from({ length: size }, () => signs('Mail'));
    expect(count(batch(100))).toMatchObject({ outcome: 'allow', reservations: [{ amount: 100n }] });
    expect(count(batch(101)).outcome).toBe('deny');
    expect(count([pays(1n, 7), pays(1n, 3)])).toMatchObject({ reservations: [{ amount: 10n }] });
    expect(count([pays(1n, 101)]).outcome).toBe('deny');
    expect(count([{ activity: () => ({ action: 'CREATE', params: {} }) }])).toMatchObject({
      reservations: [{ amount: 1n }],
    });
    const unknown = { activity: () => ({ action: 'SIGN', signatures: new Unknown('it cannot be read') }) };
    expect(count([unknown]).outcome).toBe('deny');
    const counters = new Ledger();
    counters.rows.push({ measure: '', by: '[["submitter.id","ann"]]', amount: 60n });
    expect(count(batch(40), counters).outcome).toBe('allow');
    expect(count(batch(41), counters).outcome).toBe('deny');
  });

  test('of the root quorum, and of each policy that counts, is kept for all items together', () => {
    const counting = deny('hourly', "RollingCount('1h', activity.action) > 1");
    const daily = deny('daily', "RollingCount('24h', activity.action) > 1");
    expect(decided([pays(1n), pays(2n, 5)], [counting, daily, budget], { approvers: [root] })).toMatchObject({
      reservations: [
        { measure: '', amount: 6n },
        { measure: 'eth.tx.value', amount: 3n },
      ],
    });
  });

  test('that several policies share is looked at once for all of them', () => {
    let looks = 0;
    const item: ConditionFacts = {
      ...signs(),
      'eth.tx': () => ({
        get value() {
          looks += 1;
          return 7n;
        },
      }),
    };
    const policies = Array.from({ length: 20 }, (_, index) =>
      deny(`deny ${String(index)}`, `RollingSum(eth.tx.value, '${String(1 + index)}h', submitter.id) > 10`),
    );
    const facts = { counters: { total: () => 0n }, rootQuorumThreshold: 1, items: [item], policies };
    const verdict = decide({ ...facts, approvers: [root] });
    const by = '[["submitter.id","root"]]';
    expect(verdict).toMatchObject({ reservations: [{ measure: 'eth.tx.value', by, amount: 7n }] });
    expect(looks).toBe(1);
  });

  test.each(['wallet_account.address', 'private_key.id', 'CaseInsensitiveString(wallet_account.address)'])(
    'kept by %s is one for each key, whatever the request calls it',
    (name) => {
      const counters = new Ledger();
      const kept = allow('kept', `RollingSum(eth.tx.value, '24h', ${name}) <= 10`);
      const spend = (value: bigint, more: ConditionFacts): string => {
        const verdict = decided([{ ...pays(value), ...more }], [kept], { counters });
        if (verdict.outcome === 'allow') counters.rows.push(...verdict.reservations);
        return verdict.outcome;
      };
      const called = (alias: string): ConditionFacts =>
        name.startsWith('private_key')
          ? { private_key: () => ({ id: alias }) }
          : { wallet_account: () => ({ address: alias }) };
      expect(spend(10n, called('0xAb'))).toBe('allow');
      expect(spend(1n, called('bc1q'))).toBe('deny');
      expect(spend(1n, called('0xAb'))).toBe('deny');
      const other: ConditionFacts = { signing_key: () => ({ public_key: '02CD' }) };
      expect(spend(10n, { ...called('0xcd'), ...other })).toBe('allow');
      // The fact in the policy must still exist; but every signature of the key counts, under any of its
      // names.
      expect(spend(1n, { signing_key: () => ({ public_key: '02ef' }) })).toBe('deny');
      const counted = decided([pays(3n)], [kept, allow('else')], { counters });
      expect(counted).toMatchObject({ reservations: [{ by: '[["signing_key.public_key","02ab"]]' }] });
    },
  );

  test('kept by the name of a key that does not sign is kept by that name', () => {
    const exports = { wallet_account: () => ({ address: '0xAb' }) };
    const most = allow('most', "RollingCount('1h', wallet_account.address) <= 1");
    expect(decided([exports], [most], { counters: new Ledger() })).toMatchObject({
      reservations: [{ by: '[["wallet_account.address","0xAb"]]', amount: 1n }],
    });
  });
});

describe('types of one operation', () => {
  const newest: ConditionFacts = {
    activity: () => ({ type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', params: { user_ids: ['A_V1', 'b'] } }),
  };
  test.each([
    "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD'",
    "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
    "'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V9' == activity.type",
    "activity.type in ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', 'ACTIVITY_TYPE_CREATE_WALLET']",
    "['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD'].contains(activity.type)",
    "['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD'].any(t, t == activity.type)",
    "activity.type in [activity.params.user_ids[1], 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD']",
    "CaseInsensitiveString(activity.type) == 'Activity_Type_Sign_Raw_Payload'",
    "!(activity.type != 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD')",
  ])('are one name: %s', (condition) => {
    expect(decided([newest], [allow('p', condition)]).outcome).toBe('allow');
  });

  test.each([
    "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS'",
    "activity.type == 'ACTIVITY_TYPE_SIGN_RAW'",
    "activity.type == 'activity_type_sign_raw_payload'",
    "activity.params.user_ids[0] == 'A'",
    "activity.params.user_ids.contains('A_V2')",
  ])('and nothing else is: %s', (condition) => {
    expect(decided([newest], [allow('p', condition)]).outcome).toBe('deny');
  });
});
