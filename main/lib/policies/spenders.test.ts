import { expect, test } from 'vitest';
import { problemsOf, warningsOf } from '../../policy/language/check.ts';
import { grantNotes, grantTime } from './grants.ts';
import {
  coinUnits,
  isReceiver,
  pauseOf,
  pausesOf,
  policiesOfSpender,
  readBudget,
  readSpenders,
  type PolicyText,
  type Spender,
} from './spenders.ts';

const userId = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const other = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f71';
const bot: Spender = {
  userId,
  isBot: true,
  walletId: '0190a1b2-0000-4000-8000-000000000001',
  chainIds: [1n],
  budgets: [{ tokens: [], amount: 50_000_000_000_000_000n, period: 'day' }],
  receivers: [],
  messages: false,
  approverId: undefined,
};
const usdc = {
  symbol: 'USDC',
  decimals: 6,
  tokens: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
};
const agent: Spender = {
  ...bot,
  isBot: false,
  chainIds: [1n, 8453n],
  budgets: [{ tokens: usdc.tokens, amount: 5_000_000n, period: 'day' }],
};
const receivers = [
  '0x71c7656ec7ab88b098defb751b7401b5f6d8976f',
  '0x5A5a5a5a5A5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
];

const stored = (wanted: Spender, from = 0) =>
  policiesOfSpender('b', wanted).map((policy, index) => ({ ...policy, policyId: String(from + index) }));

test.each([
  ['0.05 ETH/day', 50_000_000_000_000_000n, 'day'],
  ['1eth/Hour', 1_000_000_000_000_000_000n, 'hour'],
  ['0.000000000000000001 ETH/week', 1n, 'week'],
  ['1.5 gwei/day', 1_500_000_000n, 'day'],
  ['7 wei/day', 7n, 'day'],
])('%s is a budget', (text, amount, period) => {
  expect(readBudget(text, coinUnits)).toEqual({ tokens: [], amount, period });
});

// An ambiguous amount is refused: it could mean more, less or another coin.
test.each([
  ['without a period', '0.05 ETH'],
  ['without a unit', '0.05/day'],
  ['of another coin', '5 SOL/day'],
  ['of a token', '5 USDC/day'],
  ['of another period', '1 ETH/year'],
  ['with a comma', '0,05 ETH/day'],
  ['in thousands', '1,000 wei/day'],
  ['with an exponent', '1e3 ETH/day'],
  ['below zero', '-1 ETH/day'],
  ['of nothing', '0.0 ETH/day'],
  ['finer than the coin', '0.0000000000000000001 ETH/day'],
  ['a part of a wei', '0.5 wei/day'],
  ['finer than a wei', '0.0000000001 gwei/day'],
  ['in other digits', '٥ ETH/day'],
  ['with an expression', '1 ETH/day || true'],
  ['of several', '1 ETH/day, 2 ETH/day'],
  ['named after the language', '1 ETH/constructor'],
  ['of a unit named so', '1 toString/day'],
  ['empty', ''],
])('a budget %s is refused', (_, text) => {
  expect(readBudget(text, coinUnits)).toBeUndefined();
});

test('a budget in a token has the decimals of its token', () => {
  expect(readBudget('2.5 usdc/hour', [...coinUnits, usdc])).toEqual({
    tokens: usdc.tokens,
    amount: 2_500_000n,
    period: 'hour',
  });
  expect(readBudget('0.0000001 USDC/day', [...coinUnits, usdc])).toBeUndefined();
});

test('a receiver is an address and nothing else', () => {
  expect(receivers.every(isReceiver)).toBe(true);
  expect(["0x5a']", `${receivers[0] ?? ''}'] || true || eth.tx.to in ['`, 'alice.eth'].some(isReceiver)).toBe(
    false,
  );
});

const spenders: readonly Spender[] = [
  bot,
  { ...bot, receivers, chainIds: [11155111n], budgets: [{ tokens: [], amount: 1n, period: 'week' }] },
  agent,
  { ...agent, receivers, messages: true, approverId: other },
  { ...agent, chainIds: [1n], budgets: bot.budgets },
  { ...agent, budgets: [...bot.budgets, ...agent.budgets, { ...bot.budgets[0], period: 'hour' } as never] },
];

test.each(spenders)('the policies of a spender are valid, and say what it may do', (wanted) => {
  const policies = stored(wanted);
  for (const policy of policies) {
    expect(problemsOf(policy)).toEqual([]);
    expect(warningsOf(policy)).toEqual([]);
  }
  const whole = {
    userId,
    policyIds: policies.map(({ policyId }) => policyId),
    isBot: wanted.isBot,
    spender: wanted,
  };
  expect(readSpenders(policies)).toEqual([whole]);
  const second = { ...wanted, userId: '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f72' };
  expect(readSpenders([...stored(second, 9), ...policies])).toContainEqual(whole);
});

test('a pause is not a policy of the spender’s own', () => {
  const pause = { ...pauseOf('b', userId), policyId: 'p' };
  expect(problemsOf(pause)).toEqual([]);
  expect(readSpenders([...stored(agent), pause])).toMatchObject([{ spender: agent }]);
  expect(pausesOf(userId, [...stored(agent), pause])).toEqual([pause]);
  expect(pausesOf(other, [...stored(agent), pause])).toEqual([]);
  expect(pausesOf(userId, [{ ...pause, time: 'false' }])).toEqual([]);
});

test('an approval for a time is not a policy of the spender’s own', () => {
  const end = { notes: grantNotes, time: grantTime(0, 1) };
  const grant = { ...stored(agent)[0], ...end, policyId: 'g', effect: 'EFFECT_ALLOW' } as PolicyText;
  expect(readSpenders([...stored(agent), grant])).toMatchObject([{ spender: agent }]);
  expect(readSpenders([...stored(agent), { ...grant, notes: '' }])).toMatchObject([{ spender: undefined }]);
});

// The class: a policy that is gone, or is not what was created, or one more that is about the spender.
test.each(spenders)(
  'what a spender may do is said of nothing but the policies that were created',
  (wanted) => {
    const whole = stored(wanted);
    const changes = [
      // Without the policy that asks it is a spender that never asks.
      ...whole.flatMap((gone) =>
        gone.consensus.includes(other) ? [] : [whole.filter((each) => each !== gone)],
      ),
      ...whole.map((_, index) => whole.map((each, at) => (at === index ? { ...each, time: 'true' } : each))),
      ...whole.map((_, index) => whole.map((each, at) => (at === index ? { ...each, consensus: '' } : each))),
      whole.map((each) => ({ ...each, effect: 'EFFECT_ALLOW' })),
      whole.map((each) => ({ ...each, condition: each.condition.replace('submitter.id)', 'wallet.id)') })),
      [
        ...whole,
        ...stored({ ...bot, budgets: [{ tokens: [], amount: 10n ** 30n, period: 'day' }] }, 9).slice(4),
      ],
    ];
    for (const policies of changes) {
      expect(readSpenders(policies)).toMatchObject([{ userId, spender: undefined }]);
    }
    const ownRule = {
      ...whole[3],
      policyId: '9',
      effect: 'EFFECT_DENY',
      condition: `submitter.id == '${userId}' && true`,
    };
    expect(readSpenders([ownRule as never])).toEqual([]);
    const unlike = {
      policyId: '9',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: '',
    };
    expect(readSpenders([unlike])).toEqual([]);
  },
);
