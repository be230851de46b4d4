import { describe, expect, test } from 'vitest';
import type { Voter } from '../decide/facts.ts';
import type { PolicyText } from '../decide/policies.ts';
import { replay, withoutRootQuorum, type Case } from './replay.ts';
import { withoutBreak } from '../../lib/concurrency/paced.ts';

const hour = 3_600_000;
const ann: Voter = { userId: 'ann', root: false, tags: ['ops'] };
const bob: Voter = { userId: 'bob', root: false };
const root: Voter = { userId: 'root', root: true };

/** A payment of so much, at an hour. */
const pays = (value: number, at: number, approvers: readonly Voter[] = [ann]): Case => ({
  approvers,
  rootQuorumThreshold: 1,
  now: at * hour,
  voters: () => [ann, bob, root],
  items: [
    {
      activity: () => ({ kind: 'SIGN_TRANSACTION', action: 'SIGN', params: {} }),
      'eth.tx': () => ({ to: '0xab', value }),
    },
  ],
});

const allow = (policyId: string, condition: string, consensus?: string): PolicyText => ({
  policyId,
  effect: 'EFFECT_ALLOW',
  condition,
  consensus,
});
const deny = (policyId: string, condition: string): PolicyText => ({
  policyId,
  effect: 'EFFECT_DENY',
  condition,
});

describe('a replay', () => {
  test('says what each would be decided, and which rules settled it', () => {
    const { decisions } = withoutBreak(
      replay(
        [pays(1, 0), pays(50, 1), pays(1, 2, [root]), pays(500, 3)],
        [allow('small', 'eth.tx.value < 100'), deny('middling', 'eth.tx.value > 10 && eth.tx.value < 100')],
      ),
    );
    expect(decisions).toEqual([
      { outcome: 'allow', decidedBy: 'DECIDER_POLICIES', policyIds: ['small'] },
      { outcome: 'deny', decidedBy: 'DECIDER_POLICIES', policyIds: ['middling'] },
      { outcome: 'allow', decidedBy: 'DECIDER_ROOT_QUORUM', policyIds: [] },
      { outcome: 'deny', decidedBy: 'DECIDER_NOTHING', policyIds: [] },
    ]);
  });

  test('takes the later votes only for what the submitter may wait for', () => {
    const pair = allow(
      'pair',
      'eth.tx.value < 100',
      "approvers.any(u, u.tags.contains('ops')) && approvers.count() >= 2",
    );
    const one = { outcome: 'consensus', decidedBy: 'DECIDER_POLICIES', policyIds: ['pair'] };
    expect(withoutBreak(replay([pays(1, 0), pays(1, 0, [ann, bob])], [pair])).decisions).toEqual([
      one,
      { ...one, outcome: 'allow' },
    ]);
    const named = allow('named', 'eth.tx.value < 100', "approvers.any(u, u.id == 'ann')");
    expect(withoutBreak(replay([pays(1, 0, [bob, ann])], [named])).decisions[0]).toMatchObject({
      outcome: 'deny',
    });
  });

  test('names a policy that denied by going wrong', () => {
    const { decisions } = withoutBreak(
      replay([pays(1, 0)], [allow('all', 'true'), deny('broken', "eth.tx.to[9..12] == 'x'")]),
    );
    expect(decisions).toEqual([{ outcome: 'deny', decidedBy: 'DECIDER_POLICIES', policyIds: ['broken'] }]);
  });

  test('counts budgets over what it allowed itself', () => {
    const budget = allow('budget', "RollingSum(eth.tx.value, '24h', submitter.id) <= 10");
    const { decisions, coverage } = withoutBreak(
      replay([pays(6, 0), pays(6, 1), pays(4, 2), pays(6, 24), pays(6, 25)], [budget]),
    );
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['allow', 'deny', 'allow', 'allow', 'deny']);
    expect(coverage).toMatchObject([{ held: 3, decided: 3 }]);
  });

  test('knows the cases apart from the root quorum', () => {
    const cases = [pays(1, 0, [root])];
    expect(withoutBreak(replay(cases, [])).decisions[0]?.outcome).toBe('allow');
    expect(withoutBreak(replay(cases.map(withoutRootQuorum), [])).decisions[0]).toMatchObject({
      outcome: 'deny',
      decidedBy: 'DECIDER_NOTHING',
    });
  });

  test('lets users change their own credentials', () => {
    expect(withoutBreak(replay([{ ...pays(1, 0), ownCredentials: true }], [])).decisions).toEqual([
      { outcome: 'allow', decidedBy: 'DECIDER_OWN_CREDENTIALS', policyIds: [] },
    ]);
  });

  test('takes a policy that does not compile as decisions do', () => {
    const broken = deny('broken', 'eth.tx.valu < 5');
    const { decisions, coverage } = withoutBreak(replay([pays(1, 0)], [allow('all', 'true'), broken]));
    expect(decisions).toEqual([{ outcome: 'deny', decidedBy: 'DECIDER_POLICIES', policyIds: ['broken'] }]);
    expect(coverage[1]).toMatchObject({ held: 0, outcomes: { OUTCOME_ERROR: 1 }, clauses: [] });
  });
});

describe('its coverage', () => {
  test('finds rules and clauses that never hold, for any decider', () => {
    const condition =
      "eth.tx.value > 10 && (eth.tx.to == '0xAB' || wallet.id == 'w') && activity.action == 'SIGN'";
    const { coverage } = withoutBreak(
      replay([pays(1, 0), pays(50, 1, [root])], [allow('a', condition), allow('b', 'eth.tx.value > 10')]),
    );
    expect(coverage).toEqual([
      {
        policyId: 'a',
        held: 0,
        decided: 0,
        outcomes: { OUTCOME_ERROR: 1 },
        clauses: [
          { from: 0, to: 17, text: 'eth.tx.value > 10', held: 1, failed: 1, faults: 0 },
          expect.objectContaining({ text: "(eth.tx.to == '0xAB' || wallet.id == 'w')", held: 0, faults: 2 }),
          expect.objectContaining({ text: "activity.action == 'SIGN'", held: 2 }),
        ],
      },
      {
        policyId: 'b',
        held: 1,
        decided: 0,
        outcomes: { OUTCOME_DENY_IMPLICIT: 1 },
        clauses: [expect.objectContaining({ held: 1, failed: 1 })],
      },
    ]);
  });
});

test('others take their turns between cases, and between the policies of one', () => {
  const texts = Array.from({ length: 20 }, (_, index) => allow(String(index), "activity.action == 'SIGN'"));
  const cases = Array.from({ length: 10 }, () => pays(1, 0));
  const steps = replay(cases, texts);
  let taken = 0;
  while (steps.next().done !== true) taken += 1;
  expect(taken).toBeGreaterThanOrEqual(20 + 10 * (1 + 20 / 5));
});

test('the first hundred parts of a condition are counted', () => {
  const { coverage } = withoutBreak(
    replay([pays(1, 0)], [allow('long', Array(500).fill('true').join(' || '))]),
  );
  expect(coverage[0]?.clauses).toHaveLength(100);
});
