/** Finds policies that reach far: any user may use them, or a spender beyond its budgets. */
import { readSpenders } from '../../lib/policies/spenders.ts';
import { isForAnyUser, mayUseAlone } from '../../policy/analysis/for-any-user.ts';
import type { PolicyText } from '../../policy/decide/policies.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import { policyFields } from '../../policy/language/check.ts';
import type { Reader } from '../../storage/connection.ts';
import { listPolicyRows, toPolicy, type PolicyRow } from '../../storage/tables/policies.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { spenderOf } from './activity-kinds.ts';

/** A policy before it is in force; with an id, it takes the place of that policy. */
export type DraftedPolicy = Omit<PolicyText, 'policyId'> & { readonly policyId?: string | undefined };

interface SpenderOfVault extends Voter {
  /** Its own policies. */
  readonly policies: readonly PolicyRow[];
}

export function spendersOf(tx: Reader, organizationId: string): readonly SpenderOfVault[] {
  const rows = listPolicyRows(tx, organizationId);
  return readSpenders(rows.map(toPolicy)).flatMap(({ userId, policyIds }) => {
    const user = getUserRow(tx, organizationId, userId);
    if (user === undefined) return [];
    return [{ ...spenderOf(tx, user), policies: rows.filter(({ id }) => policyIds.includes(id)) }];
  });
}

/** True where a policy beside a spender's own may allow it something, and where one of its own changes. */
export function widensSpender(spender: SpenderOfVault, draft: DraftedPolicy): boolean {
  const own = spender.policies.find(({ id }) => id === draft.policyId);
  if (own === undefined) return mayUseAlone(draft, spender);
  return (
    draft.effect !== own.effect || policyFields.some((field) => (draft[field] ?? '') !== (own[field] ?? ''))
  );
}

/** True for a policy that needs the owner's secret. */
export const reachesFar = (tx: Reader, organizationId: string, draft: DraftedPolicy): boolean =>
  isForAnyUser(draft) || spendersOf(tx, organizationId).some((spender) => widensSpender(spender, draft));
