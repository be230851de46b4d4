/** Policies that would let a spender do more than its own do: said before it is created, and refused afterwards. */
import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { ProgramPolicy } from '../../../main/lib/policies/spenders.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { allOf, t } from '../../app/i18n/text.ts';
import { queryApi, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

export type WideningPolicies = Answer<'list_widening_policies'>['wideningPolicies'];

interface SpenderToBe {
  readonly userId: string;
  readonly userName: string;
  readonly userTags: readonly string[];
  readonly policies: readonly ProgramPolicy[];
}

/** @param spender null while a field is wrong. */
export const useWidening = (spender: SpenderToBe | null): WideningPolicies =>
  useApiQuery(
    'list_widening_policies',
    spender && {
      ...spender,
      userTags: [...spender.userTags],
      policies: spender.policies.map(({ effect, condition, consensus }) => ({
        effect,
        condition,
        consensus,
      })),
    },
  ).data?.wideningPolicies ?? [];

/** @returns what rejects where a user's budgets would not hold. */
export function useBudgetCheck(): (userId: string) => Promise<void> {
  const rpc = useRpc();
  return async (userId) => {
    const { wideningPolicies } = await queryApi(rpc, 'list_widening_policies', { userId });
    if (wideningPolicies.length === 0) return;
    const names = allOf(wideningPolicies.map(({ policyName }) => `“${visibleName(policyName)}”`));
    throw new Error(t('The budget would not hold: {{names}} may allow payments beyond it.', { names }));
  };
}

export function WideningNotice({ of }: { readonly of: WideningPolicies }): ReactNode {
  if (of.length === 0) return null;
  return (
    <Alert color="brass" variant="light" className="kh-brass-alert" title={t('The budget would not hold')}>
      {t('These policies may allow payments beyond it. Say in their consensus whom they are for.')}
      <ul>
        {of.map(({ policyId, policyName }) => (
          <li key={policyId}>
            <Link href={`/policies/${policyId}`} className="kh-link">
              {visibleName(policyName)}
            </Link>
          </li>
        ))}
      </ul>
    </Alert>
  );
}
