import { expect, test } from 'vitest';
import { fullestBudgets } from './fullest-budgets.ts';

const budget = (policyId: string, limit: string, ...spent: readonly string[]) => ({
  policyId,
  of: 'amount' as const,
  limit,
  window: '24h',
  counters: spent.map((each, index) => ({
    by: [{ holder: 'wallet', value: `wallet ${String(index)}` }],
    spent: each,
  })),
});

test('the fullest counters come first, by their share and not by their amount', () => {
  const shown = fullestBudgets(
    [
      budget('unused', '1'),
      budget('large', `1${'0'.repeat(30)}`, `1${'0'.repeat(29)}`),
      budget('two wallets', '10', '2', '9'),
      budget('exceeded', '10', '12'),
    ],
    4,
  );
  expect(shown.map(({ policyId, counters }) => [policyId, counters.map(({ spent }) => spent)])).toEqual([
    ['exceeded', ['12']],
    ['two wallets', ['9']],
    ['two wallets', ['2']],
    ['large', [`1${'0'.repeat(29)}`]],
  ]);
});

test('a budget that nothing used is shown where there is room, also one of nothing', () => {
  expect(fullestBudgets([budget('unused', '5')], 3)).toMatchObject([{ policyId: 'unused', counters: [] }]);
  expect(fullestBudgets([budget('of nothing', '0', '0'), budget('unused', '5')], 1)).toMatchObject([
    { policyId: 'of nothing' },
  ]);
});
