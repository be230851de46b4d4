/** Budgets of the policies in force, and what is spent of them. The real API has nothing of the kind. */
import { z } from 'zod';
import { query, type QueryContext } from '../../activities/define.ts';
import { amountOf } from '../../chains/ethereum/budgets.ts';
import {
  budgetHolders,
  budgetKinds,
  measuresOf,
  type BudgetHolder,
  type PolicyForm,
} from '../../lib/policies/policy-form.ts';
import { measureOf, periods, readSpenders, windowOf, type Spender } from '../../lib/policies/spenders.ts';
import { readForm } from '../../policy/analysis/read-form.ts';
import { parseDuration } from '../../policy/language/schedule.ts';
import { listPolicyRows, toPolicy } from '../../storage/tables/policies.ts';
import { listCountersSince } from '../../storage/tables/policy-reservations.ts';
import { uuid } from '../shared/resources.ts';

/** Most counters of one budget that are shown. */
const mostCounters = 20;

const shownBudget = z
  .object({
    policyId: uuid,
    of: z.enum(budgetKinds),
    /** The most in the window, in the smallest unit. */
    limit: z.string(),
    window: z.string(),
    /** Each counter with an amount in the window, the newest first. */
    counters: z.array(
      z.object({
        /** The wallet, key, user or receiver that the counter is for, by the names of a form. */
        by: z.array(z.object({ holder: z.string(), value: z.string() })),
        /** Exact, in the smallest unit; what the root quorum signed counts too. */
        spent: z.string(),
      }),
    ),
    /** Of a spender's budget: whose it is, and its amounts with their unit, such as `5 USDC`. */
    spender: z
      .object({
        userId: uuid,
        period: z.enum(periods),
        limit: z.string(),
        spent: z.string(),
        left: z.string(),
      })
      .optional(),
  })
  .meta({ id: 'PolicyBudget' });

type ShownBudget = z.output<typeof shownBudget>;

export const listPolicyBudgets = query({
  path: 'list_policy_budgets',
  summary: 'Lists the budgets of spenders and of policies that a form shows, and how much of each is spent.',
  own: true,
  params: z.object({}),
  returns: z.object({ policyBudgets: z.array(shownBudget) }),
  *run(context) {
    const policyBudgets: ShownBudget[] = [];
    const rows = listPolicyRows(context.tx, context.organizationId);
    for (const { spender, policyIds } of readSpenders(rows.map(toPolicy))) {
      yield;
      if (spender?.isBot !== false) continue;
      // Its denials are older, and say nothing of amounts.
      const pays = rows.find(
        ({ id, condition }) => policyIds.includes(id) && condition.includes('RollingSum('),
      );
      policyBudgets.push(...budgetsOfSpender(context, pays?.id ?? '', spender));
    }
    for (const { id: policyId, effect, condition, consensus, time } of rows) {
      const form = readForm({ effect, condition, consensus, time: time ?? undefined });
      yield;
      if (form !== undefined) policyBudgets.push(...budgetsOf(context, policyId, form));
    }
    return { policyBudgets };
  },
});

/** @param policyId Of its policies the one that has the budgets. */
const budgetsOfSpender = (
  { now, cases }: QueryContext<unknown>,
  policyId: string,
  { userId, budgets, chainIds }: Spender,
): readonly ShownBudget[] =>
  budgets.map((budget) => {
    const { amount, period } = budget;
    const window = windowOf(period);
    const by = JSON.stringify([[budgetHolders.requester, userId]]);
    const since = now - (parseDuration(window) ?? 0);
    const spent = cases().counters.total({ measure: measureOf(budget, false), by }, since);
    const words = (units: bigint): string => amountOf(budget, chainIds, units);
    return {
      policyId,
      of: 'amount',
      limit: String(amount),
      window,
      counters: [{ by: [{ holder: 'requester', value: userId }], spent: String(spent) }],
      spender: {
        userId,
        period,
        limit: words(amount),
        spent: words(spent),
        left: words(spent > amount ? 0n : amount - spent),
      },
    };
  });

function budgetsOf(
  { tx, organizationId, now, cases }: QueryContext<unknown>,
  policyId: string,
  form: PolicyForm,
): readonly ShownBudget[] {
  return measuresOf(form).flatMap(({ measure, of, limit: { amount, window, by } }) => {
    const duration = window === null ? undefined : parseDuration(window);
    if (window === null || duration === undefined) return [];
    const since = now - duration;
    const keptBy = by.map((holder) => [budgetHolders[holder], valuesOf(form, holder)] as const);
    const counters = listCountersSince(tx, { organizationId, measure, by: keptBy }, since, mostCounters).map(
      (kept) => {
        const pairs = JSON.parse(kept) as readonly (readonly [name: string, value: string])[];
        return {
          by: by.map((holder, at) => ({ holder, value: pairs[at]?.[1] ?? '' })),
          spent: String(cases().counters.total({ measure, by: kept }, since)),
        };
      },
    );
    return [{ policyId, of, limit: amount, window, counters }];
  });
}

/** The wallets or users that a policy is about; null where it names none. */
function valuesOf({ keys, requesters }: PolicyForm, holder: BudgetHolder): readonly string[] | null {
  if (holder === 'wallet' && keys.kind === 'wallets') return keys.ids;
  if (holder === 'requester' && requesters?.kind === 'users') return requesters.ids;
  return null;
}
