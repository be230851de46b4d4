/** The budgets that are used most, a counter each. */
import { shareOf } from '../policies/budget-share.ts';
import type { Answer } from '../../../main/operations/api.ts';

type Budget = Answer<'list_policy_budgets'>['policyBudgets'][number];

/** @returns at most so many budgets with at most one counter, the fullest first. Those that nothing used come last. */
export function fullestBudgets(budgets: readonly Budget[], most: number): readonly Budget[] {
  return budgets
    .flatMap((budget): readonly Budget[] =>
      budget.counters.length === 0
        ? [budget]
        : budget.counters.map((counter) => ({ ...budget, counters: [counter] })),
    )
    .map((budget) => ({ budget, share: shareOf(budget.counters[0]?.spent ?? '0', budget.limit) }))
    .sort((a, b) => b.share - a.share)
    .slice(0, most)
    .map(({ budget }) => budget);
}
