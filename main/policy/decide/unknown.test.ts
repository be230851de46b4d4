/** Unknown facts: no policy allows by one, and no policy to deny is evaded by one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, mayApprove, type PolicyOutcome } from './decide.ts';
import type { Counters } from '../language/evaluation.ts';
import { explain } from '../analysis/explain.ts';
import type { Facts, Voter } from './facts.ts';
import { compilePolicy } from './policies.ts';
import { replay } from '../analysis/replay.ts';
import type { ConditionFacts } from '../language/schema.ts';
import { Unknown } from '../language/types.ts';
import { withoutBreak } from '../../lib/concurrency/paced.ts';

const why = new Unknown('the call cannot be read: it has a byte too many');
const ann: Voter = { userId: 'ann', root: false };
const ben: Voter = { userId: 'ben', root: false };
const counters: Counters = { total: () => 0n };

const given: ConditionFacts = {
  activity: () => ({
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    action: 'SIGN',
    params: {},
  }),
  signing_key: () => ({ public_key: '02ab', curve: 'CURVE_SECP256K1' }),
  'eth.tx': () => ({
    to: '0xaa',
    value: 5n,
    data: why,
    function_name: why,
    outflow: why,
    contract_call_args: { to: '0xbb', amount: why, list: [1, why, 3] },
    access_list: [{ address: '0xcc', storage_keys: ['0x01', why] }, why],
    blob_hashes: why,
    authorizations: [],
  }),
  'solana.tx': () => why,
};

const policy = (effect: 'ALLOW' | 'DENY', condition: string) =>
  compilePolicy({ policyId: effect, effect: `EFFECT_${effect}`, condition });
const everything = compilePolicy({ policyId: 'everything', effect: 'EFFECT_ALLOW' });

const facts = (more: Partial<Facts> = {}): Facts => ({
  approvers: [ann],
  rootQuorumThreshold: 1,
  items: [given],
  counters,
  ...more,
});
const allows = (condition: string, more?: Partial<Facts>): boolean =>
  decide(facts({ policies: [policy('ALLOW', condition)], ...more })).outcome === 'allow';
const denies = (condition: string, more?: Partial<Facts>): boolean =>
  decide(facts({ policies: [policy('DENY', condition), everything], ...more })).outcome === 'deny';

/** Each position that an expression can take a value from, and what it does with one. */
const places: readonly (readonly [expression: string, fact: string])[] = [
  ["solana.tx.fee_payer == 'a'", 'solana.tx'],
  ["eth.tx.data == '0x'", 'eth.tx.data'],
  ["eth.tx.data != '0x'", 'eth.tx.data'],
  ["eth.tx.data[0..10] == '0xa9059cbb'", 'eth.tx.data'],
  ["eth.tx.function_name in ['approve']", 'eth.tx.function_name'],
  ["['approve'].contains(eth.tx.function_name)", 'eth.tx.function_name'],
  ["CaseInsensitiveString(eth.tx.function_name) == 'a'", 'eth.tx.function_name'],
  ["!(eth.tx.function_name == 'transfer')", 'eth.tx.function_name'],
  ['eth.tx.outflow < 5', 'eth.tx.outflow'],
  ['5 >= eth.tx.outflow', 'eth.tx.outflow'],
  ["eth.tx.contract_call_args['amount'] < 5", "eth.tx.contract_call_args['amount']"],
  ["eth.tx.contract_call_args['list'][1] == 5", "eth.tx.contract_call_args['list'][1]"],
  ["5 in eth.tx.contract_call_args['list']", "an element of eth.tx.contract_call_args['list']"],
  ["eth.tx.contract_call_args['list'].contains(5)", "an element of eth.tx.contract_call_args['list']"],
  [
    "eth.tx.contract_call_args['list'][1..3].all(n, n < 5)",
    "an element of eth.tx.contract_call_args['list'][1..3]",
  ],
  ["eth.tx.contract_call_args['list'].sum(n, n) < 5", "an element of eth.tx.contract_call_args['list']"],
  ["eth.tx.access_list[1].address == '0xdd'", 'eth.tx.access_list[1]'],
  ["eth.tx.access_list.any(e, e.address == '0xdd')", 'an element of eth.tx.access_list'],
  ["eth.tx.access_list.all(e, e.address == '0xcc')", 'an element of eth.tx.access_list'],
  ["eth.tx.access_list.filter(e, e.address == '0xdd').count() == 0", 'an element of eth.tx.access_list'],
  ["'0x02' in eth.tx.access_list[0].storage_keys", 'an element of eth.tx.access_list[0].storage_keys'],
  ['eth.tx.blob_hashes.count() == 0', 'eth.tx.blob_hashes'],
  ["eth.tx.blob_hashes.contains('0x01')", 'eth.tx.blob_hashes'],
  ["RollingSum(eth.tx.outflow, '24h') <= 1000", 'eth.tx.outflow'],
  ["RollingSum(eth.tx.outflow, '24h') > 1000", 'eth.tx.outflow'],
  ["RollingSum(eth.tx.value, '24h', eth.tx.function_name) <= 1000", 'eth.tx.function_name'],
  ["eth.tx.value == 5 && eth.tx.data == '0x'", 'eth.tx.data'],
  ["eth.tx.value == 6 || eth.tx.data == '0x'", 'eth.tx.data'],
];

describe('a fact that is unknown', () => {
  test.each(places)('%s: no policy allows by it, and one to deny denies', (expression) => {
    expect(allows(expression)).toBe(false);
    expect(allows(`!(${expression})`)).toBe(false);
    expect(denies(expression)).toBe(true);
    expect(denies(`!(${expression})`)).toBe(true);
  });

  test.each(places)('%s: the explanation says which fact it was, and why', (expression, fact) => {
    expect(explain(expression, 'condition', facts()).fault).toMatchObject({
      kind: 'unknown',
      message: `${fact} is unknown: the call cannot be read: it has a byte too many`,
    });
  });

  test('is reported before a fact that is missing', () => {
    const { fault } = explain("wallet.id == 'w' && eth.tx.data == '0x'", 'condition', facts());
    expect(fault).toMatchObject({ kind: 'unknown', at: { from: 20, to: 31 } });
  });

  test('leaves a policy to deny that certainly denies nothing', () => {
    for (const certain of [
      "eth.tx.value == 6 && eth.tx.data == '0x'",
      "eth.tx.data == '0x' && false",
      "!(eth.tx.value == 5 || eth.tx.data == '0x')",
      "!(1 in eth.tx.contract_call_args['list'])",
      "!(eth.tx.access_list.any(e, e.address == '0xcc'))",
      "eth.tx.access_list.all(e, e.address == '0xdd')",
      "eth.tx.access_list.any(e, e.address == '0xcc' && e.address == '0xdd') && false",
      // It asks for what this activity does not have, and so has no value whatever the rest is.
      "wallet.id == 'w' && eth.tx.data == '0x'",
    ]) {
      expect({ certain, denies: denies(certain) }).toEqual({ certain, denies: false });
    }
    expect(denies("!(5 in eth.tx.contract_call_args['list'])")).toBe(true);
    expect(denies("!(eth.tx.access_list.all(e, e.address == '0xcc'))")).toBe(true);
  });

  test('gives no user a vote through a policy that it keeps from holding', () => {
    const waiting = (condition: string): Facts =>
      facts({
        policies: [
          compilePolicy({
            policyId: 'p',
            effect: 'EFFECT_ALLOW',
            condition,
            consensus: 'approvers.count() >= 2',
          }),
        ],
        voters: () => [ann, ben],
      });
    expect(mayApprove(waiting('eth.tx.value == 5'), ben)).toBe(true);
    expect(mayApprove(waiting("eth.tx.data == '0x'"), ben)).toBe(false);
    expect(decide(waiting('eth.tx.value == 5')).outcome).toBe('consensus');
    expect(decide(waiting("eth.tx.data == '0x'")).outcome).toBe('deny');
  });

  test('is an unknown clause in a replay', () => {
    const { coverage, decisions } = withoutBreak(
      replay(
        [facts()],
        [{ policyId: 'p', effect: 'EFFECT_ALLOW', condition: "eth.tx.value == 5 && eth.tx.data == '0x'" }],
      ),
    );
    expect(decisions[0]?.outcome).toBe('deny');
    expect(coverage[0]?.clauses).toMatchObject([{ held: 1 }, { faults: 1 }]);
  });
});

describe('a budget of an amount that is unknown', () => {
  const budget = policy('ALLOW', "RollingSum(eth.tx.outflow, '24h', signing_key.public_key) <= 1000");

  test('allows nothing, and what another policy allows, or the root quorum, is not counted', () => {
    expect(decide(facts({ policies: [budget] }))).toMatchObject({
      outcome: 'deny',
      evaluations: [{ outcome: 'OUTCOME_ERROR' satisfies PolicyOutcome }],
    });
    expect(decide(facts({ policies: [budget, everything] }))).toMatchObject({
      outcome: 'allow',
      policyIds: ['everything'],
      reservations: [],
    });
    const root = { userId: 'root', root: true };
    expect(decide(facts({ policies: [budget], approvers: [root] }))).toMatchObject({
      outcome: 'allow',
      reservations: [],
    });
  });

  test('that denies what is over it denies it, whichever policy allows it', () => {
    const most = policy('DENY', "RollingSum(eth.tx.outflow, '24h', signing_key.public_key) > 1000");
    expect(decide(facts({ policies: [most, everything] })).outcome).toBe('deny');
  });

  test('allows nothing either where the steps do not suffice to count', () => {
    const many = Array.from({ length: 4_000 }, (_, index) => ({ address: `0x${index}`, storage_keys: [] }));
    const sum = "RollingSum(eth.tx.access_list.sum(e, 1), '24h')";
    const item: ConditionFacts = { 'eth.tx': () => ({ value: 1, access_list: many }) };
    const least = { policies: [policy('ALLOW', `${sum} > 0`)], items: [item] };
    expect(decide(facts(least))).toMatchObject({ outcome: 'allow', reservations: [{ amount: 4_000n }] });
    const batch = Array.from({ length: 300 }, () => item);
    expect(decide(facts({ ...least, items: batch })).outcome).toBe('deny');
  });
});

describe('whatever the unknown is', () => {
  /** Values that an unknown fact may turn out to be, or that it does not apply. */
  const texts = fc.constantFrom(undefined, '0xaa', '0xbb', '0x');
  const wholes = fc.constantFrom(undefined, 0, 5, 10n ** 20n);
  const lists = fc.option(
    fc.array(fc.record({ address: fc.constantFrom('0xaa', '0xcc') }, { requiredKeys: [] }), { maxLength: 3 }),
    { nil: undefined },
  );
  const shape = { to: texts, data: texts, value: wholes, gas: wholes, access_list: lists };
  type Shape = Record<keyof typeof shape, unknown>;
  const isList: (value: unknown) => value is readonly unknown[] = Array.isArray;

  const atom = fc.constantFrom(
    "eth.tx.to == '0xaa'",
    "eth.tx.to in ['0xaa', '0xbb']",
    "eth.tx.data != '0x'",
    'eth.tx.data == eth.tx.to',
    'eth.tx.value > 3',
    'eth.tx.gas == eth.tx.value',
    'eth.tx.gas in [eth.tx.value, 5]',
    "eth.tx.access_list.any(e, e.address == '0xcc')",
    "eth.tx.access_list.all(e, e.address == '0xcc' || eth.tx.value > 3)",
    "eth.tx.access_list.filter(e, e.address == '0xcc').count() > 0",
    'eth.tx.access_list.count() == 2',
    'true',
    'false',
    "wallet.id == 'w'",
  );
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a} && ${b})`),
      fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a} || ${b})`),
      tie('expression').map((a) => `!(${a})`),
    ),
  }));

  test('what was allowed stays allowed, and what was let pass is denied by no policy', () => {
    let passed = 0;
    fc.assert(
      fc.property(
        expression,
        fc.record(shape),
        fc.record(shape),
        fc.subarray(Object.keys(shape) as (keyof Shape)[]),
        fc.boolean(),
        (condition, known, truth, unknown, inElements) => {
          const hide = (field: keyof Shape): unknown => {
            const value = (truth as Shape)[field];
            // Either the whole is unknown, or one element of a list.
            return inElements && isList(value) && value.length > 0 ? [...value.slice(1), why] : why;
          };
          const seen = { ...known, ...Object.fromEntries(unknown.map((field) => [field, hide(field)])) };
          const real = {
            ...known,
            ...Object.fromEntries(
              unknown.map((field) => {
                const value = (truth as Shape)[field];
                return [
                  field,
                  inElements && isList(value) ? [...value.slice(1), ...value.slice(0, 1)] : value,
                ];
              }),
            ),
          };
          const of = (tx: unknown) => ({ items: [{ 'eth.tx': () => tx } as ConditionFacts] });
          if (allows(condition, of(seen))) expect(allows(condition, of(real))).toBe(true);
          if (denies(condition, of(seen))) return;
          passed += 1;
          expect(denies(condition, of(real))).toBe(false);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(passed).toBeGreaterThan(1_000);
  });
});
