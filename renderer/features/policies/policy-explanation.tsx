import type { ReactNode } from 'react';
import { Text } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Code } from './policy-names.tsx';
import { describeDecision, policyOutcomes } from './policy-queries.ts';
import type { QueryParameters } from '../../../main/operations/api.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import './policy-editor.css';

interface Props {
  readonly question: QueryParameters<'explain_policies'>;
}

const fieldNames = { condition: t('Condition'), consensus: t('Consensus'), time: t('Time') } as const;

/** The evaluation of an activity by every policy, down to the parts of its expressions. */
export function PolicyExplanation({ question }: Props): ReactNode {
  const { data, error, isPending } = useApiQuery('explain_policies', question);
  if (isPending) return <LoadingRows label={t('Loading the explanation')} rows={1} />;
  if (data === undefined) return <Failure title={t('Couldn’t load the explanation')} error={error} />;
  const { policies, ...decision } = data.policyExplanation;
  const nameOf = (wanted: string): string =>
    policies.find(({ policyId }) => policyId === wanted)?.policyName ?? wanted;
  return (
    <div style={{ marginBlockStart: '0.6rem' }}>
      <Text size="sm" fw={600}>
        {describeDecision(decision, nameOf)}
      </Text>
      {policies.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('No policies.')}
        </Text>
      )}
      {policies.map(({ policyId, policyName, effect, draft, outcome, broken, expressions }) => (
        <details key={policyId} open={draft} style={{ marginBlockStart: '0.5rem' }}>
          <summary>
            <strong>{visibleName(policyName)}</strong> ·{' '}
            {effect === 'EFFECT_DENY' ? t('denies') : t('allows')} ·{' '}
            {outcome === undefined ? t('doesn’t apply') : policyOutcomes[outcome]}
          </summary>
          {broken !== undefined && <Text size="sm">{visibleName(broken)}</Text>}
          {expressions.map(({ field, value, fault, parts, leftOut }) => (
            <div key={field} style={{ marginBlockStart: '0.4rem' }}>
              <Text size="sm">
                {fieldNames[field]}:{' '}
                {value !== undefined
                  ? String(value)
                  : fault === undefined
                    ? t('no value')
                    : t('no value: {{why}}', { why: fault.message })}
              </Text>
              <dl className="kh-parts">
                {parts.map(({ from, to, text, values, times }) => (
                  <div key={`${String(from)}-${String(to)}`} style={{ display: 'contents' }}>
                    <dt>
                      <Code text={text} />
                    </dt>
                    <dd className="kh-mono">
                      {values.map(visibleName).join(', ')}
                      {times > values.length && ', …'}
                    </dd>
                  </div>
                ))}
              </dl>
              {leftOut > 0 && (
                <Text size="sm" c="dimmed">
                  {t('{{count}} more parts', { count: leftOut })}
                </Text>
              )}
            </div>
          ))}
        </details>
      ))}
    </div>
  );
}
