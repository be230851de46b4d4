import type { ReactNode } from 'react';
import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Meters, unitOf } from '../policies/budget-meters.tsx';
import { useKnownNames } from '../policies/policy-names.tsx';
import { checkOf, expressionsOf, useLanguage } from '../policies/policy-queries.ts';
import { Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { apiQueryKey, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';
import { fullestBudgets } from './fullest-budgets.ts';

const most = 4;

/** The budgets of policies that are used most. */
export function HomeBudgets(): ReactNode {
  const rpc = useRpc();
  const budgets = useApiQuery('list_policy_budgets').data?.policyBudgets ?? [];
  const policies = useApiQuery('list_policies').data?.policies ?? [];
  const fullest = fullestBudgets(budgets, most);
  const behind = policies.filter(({ policyId }) => fullest.some((budget) => budget.policyId === policyId));
  const checks = useQueries({
    queries: behind.map((policy) => {
      const asked = [{ ...expressionsOf(policy), policyId: policy.policyId }];
      return {
        queryKey: apiQueryKey('check_policies', { policies: asked }),
        queryFn: () => checkOf(rpc, asked),
      };
    }),
  });
  const names = useKnownNames();
  const assets = useLanguage()?.assets;
  if (assets === undefined) return null;
  const shown = fullest.flatMap((budget) => {
    const place = behind.findIndex(({ policyId }) => policyId === budget.policyId);
    const [policy, check] = [behind[place], checks[place]];
    // An amount without its unit would say something else.
    if (policy === undefined || check === undefined || check.isPending) return [];
    return [{ budget, policy, unit: unitOf(budget, check.data?.[0], assets) }];
  });
  if (shown.length === 0) return null;
  return (
    <Panel
      title={t('Budgets')}
      aside={
        <Link href="/policies" className="kh-link">
          {t('All policies')}
        </Link>
      }
    >
      <ul className="kh-home-budgets" aria-label={t('Budgets')}>
        {shown.map(({ budget, policy: { policyId, policyName }, unit }, index) => (
          <li key={index}>
            <Link href={`/policies/${policyId}`} className="kh-link">
              {visibleName(policyName)}
            </Link>
            <Meters budget={budget} unit={unit} names={names} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
