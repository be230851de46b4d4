/** Policies that would let a spender do more than its own do: said before it is created, and refused afterwards. */
import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { ProgramPolicy } from '../../../main/lib/policies/spenders.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { allOf, t } from '../../app/i18n/text.ts';
import { queryApi, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

type Widening = Answer<'list_widening_policies'>;

export const isWide = ({ inRootQuorum, wideningPolicies }: Widening): boolean =>
  inRootQuorum || wideningPolicies.length > 0;

interface SpenderToBe {
  readonly userId: string;
  readonly userName: string;
  readonly userTags: readonly string[];
  readonly policies: readonly ProgramPolicy[];
}

/** @param spender null while a field is wrong. */
export const useWidening = (spender: SpenderToBe | null): Widening | undefined =>
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
  ).data;

/** @returns what rejects where a user's budgets would not hold. */
export function useBudgetCheck(): (userId: string) => Promise<void> {
  const rpc = useRpc();
  return async (userId) => {
    const found = await queryApi(rpc, 'list_widening_policies', { userId });
    if (!isWide(found)) return;
    const names = allOf(found.wideningPolicies.map(({ policyName }) => `“${visibleName(policyName)}”`));
    throw new Error(t('The budget wouldn’t hold: {{names}} may allow payments beyond it.', { names }));
  };
}

export function WideningNotice({ of }: { readonly of: Widening | undefined }): ReactNode {
  if (of === undefined || !isWide(of)) return null;
  const { inRootQuorum, wideningPolicies } = of;
  return (
    <Alert color="brass" variant="light" className="kh-brass-alert" title={t('The budget doesn’t hold')}>
      {inRootQuorum && t('The user is a member of the root quorum, which no budget bounds.')}
      {wideningPolicies.length > 0 && (
        <>
          {t('These may allow payments beyond it. Say in their consensus whom they are for.')}
          <ul>
            {wideningPolicies.map(({ policyId, policyName }) => (
              <li key={policyId}>
                <Link href={`/policies/${policyId}`} className="kh-link">
                  {visibleName(policyName)}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Alert>
  );
}
