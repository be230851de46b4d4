/** Decisions before and after a draft, as a stacked bar each. The table under them has the same in numbers. */
import type { ReactNode } from 'react';
import { Progress } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import type { PolicyOutcome, TestedActivity } from './policy-queries.ts';
import './outcome-bars.css';

const groups = [
  { id: 'allowed', label: t('Allowed') },
  { id: 'waiting', label: t('Requires approval') },
  { id: 'denied', label: t('Denied') },
] as const;

type Group = (typeof groups)[number]['id'];

/** Whatever allows nothing denies. */
const groupOf = (outcome: PolicyOutcome): Group =>
  outcome === 'OUTCOME_ALLOW' ? 'allowed' : outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? 'waiting' : 'denied';

export function OutcomeBars({ of }: { readonly of: readonly TestedActivity[] }): ReactNode {
  const rows = [
    { label: t('Before'), outcomes: of.map(({ before }) => groupOf(before.outcome)) },
    { label: t('After'), outcomes: of.map(({ after }) => groupOf(after.outcome)) },
  ].map(({ label, outcomes }) => ({
    label,
    counts: groups.map(({ id }) => ({ id, count: outcomes.filter((each) => each === id).length })),
  }));
  return (
    <div className="kh-outcomes">
      {rows.map(({ label, counts }) => (
        <div key={label} className="kh-outcomes-bar" aria-hidden>
          <span>{label}</span>
          <Progress.Root size="lg" radius="sm">
            {counts.map(({ id, count }) => (
              <Progress.Section key={id} value={(100 * count) / of.length} data-outcome={id} />
            ))}
          </Progress.Root>
        </div>
      ))}
      <table>
        <caption>{t('Decisions')}</caption>
        <thead>
          <tr>
            <td />
            {groups.map(({ id, label }) => (
              <th key={id} scope="col" data-outcome={id}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, counts }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {counts.map(({ id, count }) => (
                <td key={id}>{count}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
