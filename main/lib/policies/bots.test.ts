import { expect, test } from 'vitest';
import { problemsOf, warningsOf } from '../../policy/language/check.ts';
import { isReceiver, policiesOfBot, readBots, readBudget, type Bot } from './bots.ts';

const userId = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const other = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f71';
const bot: Bot = {
  userId,
  walletId: '0190a1b2-0000-4000-8000-000000000001',
  chainId: 1n,
  budget: { wei: 50_000_000_000_000_000n, period: 'day' },
  receivers: [],
};
const receivers = [
  '0x71c7656ec7ab88b098defb751b7401b5f6d8976f',
  '0x5A5a5a5a5A5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
];

const stored = (wanted: Bot, from = 0) =>
  policiesOfBot('b', wanted).map((policy, index) => ({ ...policy, policyId: String(from + index) }));

test.each([
  ['0.05 ETH/day', 50_000_000_000_000_000n, 'day'],
  ['1eth/Hour', 1_000_000_000_000_000_000n, 'hour'],
  ['0.000000000000000001 ETH/week', 1n, 'week'],
  ['1.5 gwei/day', 1_500_000_000n, 'day'],
  ['7 wei/day', 7n, 'day'],
])('%s is a budget', (text, wei, period) => {
  expect(readBudget(text)).toEqual({ wei, period });
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
  expect(readBudget(text)).toBeUndefined();
});

test('a receiver is an address and nothing else', () => {
  expect(receivers.every(isReceiver)).toBe(true);
  expect(["0x5a']", `${receivers[0] ?? ''}'] || true || eth.tx.to in ['`, 'alice.eth'].some(isReceiver)).toBe(
    false,
  );
});

test.each([bot, { ...bot, receivers, chainId: 11155111n, budget: { wei: 1n, period: 'week' } as const }])(
  'the policies of a bot are valid, and say what it may do',
  (wanted) => {
    for (const policy of policiesOfBot('b', wanted)) {
      expect(problemsOf(policy)).toEqual([]);
      expect(warningsOf(policy)).toEqual([]);
    }
    const whole = { userId, policyIds: ['0', '1', '2', '3', '4'], bot: wanted };
    expect(readBots(stored(wanted))).toEqual([whole]);
    const second = { ...wanted, userId: other };
    expect(readBots([...stored(second, 5), ...stored(wanted)])).toContainEqual(whole);
  },
);

// The class: a policy of the five that is gone, or is not what was created, or one more that is about the bot.
test('what a bot may do is said of nothing but the policies that were created', () => {
  const whole = stored(bot);
  const changes = [
    ...whole.map((_, index) => whole.filter((__, at) => at !== index)),
    ...whole.map((_, index) => whole.map((each, at) => (at === index ? { ...each, time: 'true' } : each))),
    ...whole.map((_, index) => whole.map((each, at) => (at === index ? { ...each, consensus: '' } : each))),
    whole.map((each) => ({ ...each, effect: 'EFFECT_ALLOW' })),
    whole.map((each) => ({ ...each, condition: each.condition.replace("'0x'", "'0x00'") })),
    [...whole, ...stored({ ...bot, budget: { wei: 10n ** 30n, period: 'day' } }, 5).slice(4)],
  ];
  for (const policies of changes) {
    expect(readBots(policies)).toMatchObject([{ userId, bot: undefined }]);
  }
  const ownRule = {
    ...whole[3],
    policyId: '9',
    effect: 'EFFECT_DENY',
    condition: `submitter.id == '${userId}' && true`,
  };
  expect(readBots([ownRule as never])).toEqual([]);
  const unlike = {
    policyId: '9',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
    consensus: '',
  };
  expect(readBots([unlike])).toEqual([]);
});
