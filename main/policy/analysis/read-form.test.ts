import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { budgetHolders, openForm, writePolicy } from '../../lib/policies/policy-form.ts';
import type { BudgetHolder, Limit, People, PolicyForm } from '../../lib/policies/policy-form.ts';
import { decide } from '../decide/decide.ts';
import type { Facts, Voter } from '../decide/facts.ts';
import { storedPolicy, type PolicyText } from '../decide/policies.ts';
import type { ConditionFacts } from '../language/schema.ts';
import { parse } from '../language/parser.ts';
import { problemsOf } from '../language/check.ts';
import type { Node } from '../language/syntax.ts';
import { walk } from '../language/walk.ts';
import { readForm } from './read-form.ts';

const ids = ['anna', 'bob', 'carl'];
const addresses = [`0x${'1a'.repeat(20)}`, `0x${'2B'.repeat(20)}`];
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const some = <T>(...from: readonly T[]): fc.Arbitrary<T[]> =>
  fc.subarray([...from], { minLength: 1 }).map((list) => [...list]);
const orNull = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null });
const people: fc.Arbitrary<People> = fc.oneof(
  fc.record({ kind: fc.constant('users' as const), ids: some(...ids) }),
  fc.record({ kind: fc.constant('tag' as const), id: fc.constantFrom('ops', 'managers') }),
);
const agreement = fc.oneof(
  fc.record({ count: fc.integer({ min: 1, max: 3 }), of: people }),
  fc.record({
    count: fc.integer({ min: 1, max: 3 }),
    of: fc.constant({ kind: 'anyone' as const }),
  }),
);
const by = fc.subarray(Object.keys(budgetHolders) as BudgetHolder[]).map((list) => [...list]);
const amount = fc.constantFrom(0n, 5n, 10n, 10n ** 18n, 2n ** 256n - 1n).map(String);
const limit: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ amount, window: fc.constantFrom('1h', '24h', '7d'), by }),
  fc.record({ amount, window: fc.constant(null), by: fc.constant([]) }),
);
const limits = fc.array(limit, { maxLength: 2 });
const keys = fc.oneof(
  fc.constant({ kind: 'any' as const }),
  fc.record({ kind: fc.constant('wallets' as const), ids: some('daily', 'savings') }),
  fc.record({ kind: fc.constant('privateKeys' as const), ids: some('k1', 'k2') }),
  fc.record({ kind: fc.constant('privateKeyTag' as const), id: fc.constant('hot') }),
);
const hours = fc.record({
  days: fc.constantFrom('*', '1-5', '0,6'),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
  length: fc.constantFrom('8h', '1d', '30m'),
  zone: fc.constantFrom('Europe/Berlin', 'UTC'),
});
const receivers = orNull(some(...addresses));
const payment = fc.oneof(
  fc.record({
    chainId: fc.constantFrom('1', '10'),
    token: fc.constant(null),
    receivers,
    limits,
    fees: fc.constant([]),
  }),
  fc.record({
    chainId: fc.constantFrom('1', '10'),
    token: fc.constant(usdc),
    receivers,
    limits,
    fees: limits,
  }),
);
const deeds = fc.record({
  actions: orNull(some('SIGN', 'EXPORT', 'DELETE')),
  resources: orNull(some('WALLET', 'POLICY')),
  kinds: orNull(some('SIGN_TRANSACTION', 'CREATE_USERS')),
  untagged: fc.boolean(),
});
const signatures = orNull(
  fc.record({ count: fc.constantFrom('0', '2', '100'), window: fc.constantFrom('1h', '1d'), by }),
);
const shared = { requesters: orNull(people), keys, signatures, hours: orNull(hours) };
const agreements = fc.array(agreement, { maxLength: 3 });

/** The same runs each time: which ends they reach must not be luck. */
const runs = (numRuns: number) => ({ seed: 22, numRuns });

/** All forms that the builder has. */
const forms: fc.Arbitrary<PolicyForm> = fc.oneof(
  fc.record({
    ...shared,
    effect: fc.constant('EFFECT_ALLOW' as const),
    agreements,
    deeds,
    payment: fc.constant(null),
  }),
  fc.record({
    ...shared,
    effect: fc.constant('EFFECT_ALLOW' as const),
    agreements,
    deeds: fc.constant(openForm.deeds),
    payment,
  }),
  agreements.map((all) => ({ ...openForm, agreements: all })),
  fc.record({
    ...shared,
    effect: fc.constant('EFFECT_DENY' as const),
    agreements: fc.constant([]),
    deeds,
    payment: fc.constant(null),
  }),
);

const voters: readonly Voter[] = [
  { userId: 'anna', root: false, tags: ['ops'] },
  { userId: 'bob', root: false, tags: ['managers', 'ops'] },
  { userId: 'carl', root: false },
];

/** A request of some kind, as policies see it; parts of it are missing in some. */
const requests: fc.Arbitrary<Facts> = fc
  .record({
    approvers: some(...voters),
    action: fc.constantFrom('SIGN', 'EXPORT', 'DELETE', 'CREATE'),
    resource: fc.constantFrom('WALLET', 'POLICY', 'USER'),
    kind: fc.constantFrom('SIGN_TRANSACTION', 'CREATE_USERS', 'EXPORT_WALLET'),
    wallet: fc.option(fc.constantFrom('daily', 'savings', 'other')),
    key: fc.option(fc.constantFrom('k1', 'k3')),
    to: fc.constantFrom('', usdc.toLowerCase(), ...addresses.map((address) => address.toLowerCase())),
    chain_id: fc.constantFrom(1, 10),
    data: fc.constantFrom('0x', '0xa9059cbb00'),
    type: fc.constantFrom('TYPE_2', 'TYPE_4'),
    outflow: fc.constantFrom(0n, 5n, 6n, 11n, 10n ** 18n),
    isPayment: fc.boolean(),
    before: fc.constantFrom(0n, 4n, 6n),
    now: fc.constantFrom(0, 10, 80, 130).map((hoursOf) => hoursOf * 3_600_000),
  })
  .map(({ approvers, wallet, key, to, chain_id, data, type, outflow, isPayment, before, now, ...of }) => ({
    approvers,
    voters: () => voters,
    rootQuorumThreshold: 1,
    now,
    counters: { total: () => before },
    items: [
      {
        activity: () => ({ ...of, params: { user_tags: wallet === null ? [] : ['ops'] } }),
        signing_key: () => ({ public_key: '02ab' }),
        ...(wallet !== null && { wallet: () => ({ id: wallet }) }),
        ...(key !== null && { private_key: () => ({ id: key, tags: key === 'k1' ? ['hot'] : [] }) }),
        ...(isPayment && {
          'eth.tx': () => ({
            to,
            chain_id,
            data,
            type,
            outflow,
            max_fee: outflow,
            value: 0,
            ...(data !== '0x' && {
              function_signature: '0xa9059cbb',
              contract_call_args: { to: addresses[0]?.toLowerCase(), amount: outflow },
            }),
          }),
        }),
      } satisfies ConditionFacts,
    ],
  }));

const outcome = (policy: Omit<PolicyText, 'policyId'>, facts: Facts): string => {
  const { evaluations } = decide({ ...facts, policies: [storedPolicy({ policyId: 'p', ...policy })] });
  return evaluations[0]?.outcome ?? 'none';
};

/** The same policy as another person may write it: its parts in another order, with other names, one in a list. */
const otherSpelling = (source: string, turned: boolean): string =>
  (turned ? source.split(' && ').reverse() : source.split(' && '))
    .join('\n  && ')
    .replaceAll(/\(user, user\./g, '(each, each.')
    .replaceAll(/== ('[^']+')/g, (whole, text: string) => (turned ? `in [${text}]` : whole));

describe('a form of the builder', () => {
  test('is read back from what it writes, and every form compiles', () => {
    fc.assert(
      fc.property(forms, (form) => {
        const written = writePolicy(form);
        expect(problemsOf(written)).toEqual([]);
        expect(readForm(written)).toEqual(form);
      }),
      runs(500),
    );
  });

  test('decides as the policy does that it was read from', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        forms,
        fc.boolean(),
        fc.array(requests, { minLength: 8, maxLength: 8 }),
        (form, turned, asked) => {
          const { effect, condition, consensus, time } = writePolicy(form);
          const source = {
            effect,
            condition: otherSpelling(condition, turned),
            consensus: otherSpelling(consensus, turned),
            time,
          };
          const read = readForm(source);
          if (read === undefined) throw new Error(`${source.condition} ${source.consensus} has no form`);
          for (const facts of asked) {
            const said = outcome(source, facts);
            seen.add(said);
            expect(outcome(writePolicy(read), facts)).toBe(said);
          }
        },
      ),
      runs(500),
    );
    // The requests reach all ends, or the comparison says nothing.
    expect(seen).toEqual(
      new Set([
        'OUTCOME_ALLOW',
        'OUTCOME_DENY_EXPLICIT',
        'OUTCOME_DENY_IMPLICIT',
        'OUTCOME_REQUIRES_CONSENSUS',
        'OUTCOME_ERROR',
        'OUTCOME_TIME_INACTIVE',
      ]),
    );
  });
});

/** Parts that forms have, and parts close to them that mean something else. */
const parts = [
  "submitter.id == 'anna'",
  "submitter.id != 'anna'",
  "'anna' == submitter.id",
  "wallet.id in ['daily', 'savings']",
  'wallet.id in []',
  "wallet.id == 'daily'",
  "private_key.id == 'k1'",
  'eth.tx.chain_id == 1',
  'eth.tx.chain_id in [1]',
  "eth.tx.to != ''",
  `eth.tx.to == '${addresses[0] ?? ''}'`,
  "eth.tx.data == '0x'",
  "eth.tx.type in ['LEGACY', 'TYPE_1', 'TYPE_2']",
  "eth.tx.type in ['LEGACY', 'TYPE_1', 'TYPE_2', 'TYPE_4']",
  'eth.tx.outflow <= 5',
  'eth.tx.outflow < 5',
  'eth.tx.outflow >= 5',
  'eth.tx.value <= 5',
  "RollingSum(eth.tx.outflow, '24h') <= 5",
  "RollingSum(eth.tx.outflow, '24h', eth.tx.from) <= 5",
  "activity.action == 'SIGN'",
  'activity.params.user_tags.count() == 0',
  'activity.params.user_tags.count() == 1',
  'true',
];
const expression: fc.Arbitrary<string> = fc.letrec<{ any: string; one: string; joined: string }>((tie) => ({
  any: fc.oneof({ maxDepth: 2 }, tie('one'), tie('joined')),
  one: fc.constantFrom(...parts),
  joined: fc.oneof(
    fc.array(tie('any'), { minLength: 2, maxLength: 5 }).map((list) => list.join(' && ')),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(${one} || ${other})`),
    tie('any').map((one) => `!(${one})`),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `${one} && (${other})`),
  ),
})).any;
const payments =
  "eth.tx.chain_id == 1 && eth.tx.data == '0x' && eth.tx.type in ['LEGACY', 'TYPE_1', 'TYPE_2']";

describe('an expression that says more than a form', () => {
  test('has no form, and an expression with a form decides as its form does', () => {
    let read = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          expression,
          expression.map((each) => `${payments} && ${each}`),
        ),
        fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
        fc.array(requests, { minLength: 5, maxLength: 5 }),
        (condition, effect, asked) => {
          const source = { effect, condition, consensus: '' };
          const form = readForm(source);
          const nodes: Node[] = [];
          walk(parse(condition), (node) => nodes.push(node));
          const joins = nodes.some(
            (node) => node.kind === 'not' || (node.kind === 'logic' && node.operator === '||'),
          );
          if (joins) expect(form).toBeUndefined();
          if (form === undefined) return;
          read += 1;
          for (const facts of asked) expect(outcome(writePolicy(form), facts)).toBe(outcome(source, facts));
        },
      ),
      runs(1_500),
    );
    expect(read).toBeGreaterThan(30);
  });

  const plain = writePolicy({
    ...openForm,
    agreements: [{ count: 1, of: { kind: 'users', ids: ['anna'] } }],
    payment: {
      chainId: '1',
      token: null,
      receivers: addresses,
      limits: [{ amount: '5', window: '24h', by: ['wallet'] }],
      fees: [],
    },
  });

  test.each([
    ['an alternative beside it', { condition: `${plain.condition} || true` }],
    [
      'an alternative within it',
      { condition: plain.condition.replace('<= 5', '<= 5 || eth.tx.outflow > 5') },
    ],
    [
      'a receiver that may be anything',
      { condition: plain.condition.replace(/eth\.tx\.to in \[[^\]]*\]/, "eth.tx.to in ['']") },
    ],
    ['a sum of something else', { condition: plain.condition.replace('eth.tx.outflow', 'eth.tx.value') }],
    ['no list of types', { condition: plain.condition.replace(/ && eth\.tx\.type in \[[^\]]*\]/, '') }],
    ['a part twice', { condition: `${plain.condition} && eth.tx.chain_id == 1` }],
    ['other approvers', { consensus: `${plain.consensus} || approvers.count() >= 1` }],
    ['an approver of two kinds', { consensus: "approvers.any(u, u.id == 'anna' || u.id == 'bob')" }],
    ['an outer variable', { consensus: "approvers.any(u, approvers.any(v, u.id == 'anna'))" }],
    ['credentials for approvers', { consensus: "credentials.any(c, c.user_id == 'anna')" }],
    ['nobody needed', { consensus: 'approvers.count() >= 0' }],
    ['an empty list', { consensus: 'approvers.any(user, user.id in [])' }],
    ['more than a number holds', { consensus: `approvers.count() >= ${String(2n ** 60n + 1n)}` }],
    ['a time of another shape', { time: "time.now < Timestamp('2026-01-01T00:00:00Z')" }],
    ['a month', { time: "CronSpan('0 9 1 * *', '8h', 'UTC')" }],
    ['two times', { time: "CronSpan('0 9 * * *', '8h', 'UTC') && CronSpan('0 10 * * *', '8h', 'UTC')" }],
    ['new users without tags', { condition: `${plain.condition} && activity.params.user_tags.count() == 0` }],
    ['a denial', { effect: 'EFFECT_DENY' as const }],
    ['a mistake', { condition: 'eth.tx.valu <= 5' }],
  ])('has no form with %s', (_, change) => {
    expect(readForm(plain)).toBeDefined();
    expect(readForm({ ...plain, ...change })).toBeUndefined();
  });

  // The class: a text that a sentence would show as several, or as other words of the sentence.
  test.each([
    "activity.action == 'EXPORT and DELETE'",
    "activity.action == 'EXPORT; on: WALLET'",
    "activity.resource in ['WALLET', 'POLICY, and USER']",
    "activity.kind == 'CREATE_USERS '",
    "activity.kind == ''",
  ])('has no form with %s', (condition) => {
    const policy = { effect: 'EFFECT_DENY' as const, condition, consensus: '' };
    expect(readForm({ ...policy, condition: "activity.action == 'EXPORT'" })).toBeDefined();
    expect(problemsOf(policy)).toEqual([]);
    expect(readForm(policy)).toBeUndefined();
  });
});
