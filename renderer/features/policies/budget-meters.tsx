/** How much of a policy's budgets is spent, as the service counts it. */
import type { ReactNode } from 'react';
import { Progress, Text } from '@mantine/core';
import { shareOf } from './budget-share.ts';
import { assetOf, decimalOf, grouped, windowLabel } from './builder/policy-building.ts';
import type { Asset } from './builder/policy-building.ts';
import { NamePill, useKnownNames } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import { useLanguage, usePolicyChecks } from './policy-queries.ts';
import type { Policy, PolicyCheck } from './policy-queries.ts';
import { expressionsOf } from './policy-queries.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { Panel } from '../../ui/page.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

const lastWindows: Readonly<Record<string, string>> = {
  '1h': t('in the last hour'),
  '24h': t('in the last 24 hours'),
  '7d': t('in the last 7 days'),
  '30d': t('in the last 30 days'),
};

type Budget = Answer<'list_policy_budgets'>['policyBudgets'][number];

export function BudgetMeters({ of }: { readonly of: Policy }): ReactNode {
  const budgets = useApiQuery('list_policy_budgets').data?.policyBudgets ?? [];
  const [check] = usePolicyChecks([{ ...expressionsOf(of), policyId: of.policyId }]).data ?? [];
  const names = useKnownNames();
  const assets = useLanguage()?.assets ?? [];
  const own = budgets.filter(({ policyId }) => policyId === of.policyId);
  if (own.length === 0) return null;
  return (
    <Panel title={t('Budget')}>
      {own.map((budget, index) => (
        <Meters key={index} budget={budget} unit={unitOf(budget, check, assets)} names={names} />
      ))}
    </Panel>
  );
}

/** The unit of a budget's amounts, of the service's reading of its policy. Undefined while that is not known. */
export function unitOf(
  { of }: Budget,
  check: PolicyCheck | undefined,
  assets: readonly Asset[],
): Asset | undefined {
  const payment = check?.form?.payment;
  if (payment == null || of === 'signatures') return undefined;
  return assetOf(assets, of === 'fees' ? { ...payment, token: null } : payment);
}

/** A meter for each counter of a budget. The service writes the amounts of a spender's. */
export function Meters({
  budget: { limit, window, counters, of, spender },
  unit,
  names,
}: {
  readonly budget: Budget;
  readonly unit?: { readonly symbol: string; readonly decimals: number } | undefined;
  readonly names: KnownNames;
}): ReactNode {
  const when = lastWindows[window] ?? windowLabel(window);
  const number = (units: string): string =>
    unit === undefined ? grouped(units) : decimalOf(units, unit.decimals);
  const symbol = of === 'signatures' ? t('signatures') : (unit?.symbol ?? t('smallest units'));
  const shown = counters.length === 0 ? [{ by: [], spent: '0' }] : counters;
  return shown.map(({ by, spent }, index) => {
    const text =
      spender === undefined
        ? t('{{spent}} of {{limit}} {{symbol}} used {{when}}', {
            spent: number(spent),
            limit: number(limit),
            symbol,
            when,
          })
        : t('{{spent}} of {{limit}} used {{when}}, {{left}} left', { ...spender, when });
    return (
      <div key={index} style={{ marginBlockEnd: '0.75rem' }}>
        <Text size="sm">
          {of === 'fees' && t('Fees:')} {text}{' '}
          {spender === undefined &&
            by.map(({ holder, value }) => (
              <Holder key={holder} holder={holder} value={value} names={names} />
            ))}
        </Text>
        <Progress value={shareOf(spent, limit)} aria-label={text} mt={4} />
      </div>
    );
  });
}

function Holder({
  holder,
  value,
  names,
}: {
  readonly holder: string;
  readonly value: string;
  readonly names: KnownNames;
}): ReactNode {
  if (holder === 'wallet') return <NamePill kind="wallet" id={value} names={names} />;
  if (holder === 'requester') return <NamePill kind="user" id={value} names={names} />;
  return <Grouped text={value} />;
}
