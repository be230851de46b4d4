/** The parts that all views of an activity share. */

import type { ReactNode } from 'react';
import { Group, Title } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeStatus } from './activity-words.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { JsonView } from './json-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Failure } from '../../ui/feedback.tsx';
import type { Activity, Vote } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

export function StatusBadge({ status }: { readonly status: string }): ReactNode {
  const { label, tone } = describeStatus(status);
  return (
    <span className="kh-badge" data-tone={tone}>
      {label}
    </span>
  );
}

/** Intent and result hold the same thing again in the specification's shape, after the first. */
export const firstOf = (named: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(named).slice(0, 1));

export function Json({
  title,
  copy,
  value,
}: {
  readonly title: string;
  readonly copy: string;
  readonly value: unknown;
}): ReactNode {
  const text = JSON.stringify(value, null, 2);
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb={4}>
        <Title order={3}>{title}</Title>
        <CopyButton text={text} copy={copy} />
      </Group>
      {/* It scrolls, so it takes the focus: the arrow keys then reach all of it. */}
      <div className="kh-json" tabIndex={0} role="region" aria-label={t('{{title}}, as JSON', { title })}>
        <JsonView value={value} />
      </div>
    </section>
  );
}

const passkeyScheme = 'SIGNATURE_SCHEME_TK_WEBAUTHN';

/** The votes on an activity, and at each vote the policies that required more votes or allowed it. */
export function Votes({ activity }: { readonly activity: Activity }): ReactNode {
  const evaluations = useApiQuery('get_policy_evaluations', {
    activityId: activity.id,
  });
  const policies = useApiQuery('list_policies');
  const nameOf = (policyId: string): string =>
    policies.data?.policies.find((policy) => policy.policyId === policyId)?.policyName ??
    t('a deleted policy');
  return (
    <section aria-label={t('Votes')}>
      <Title order={3} mb={4}>
        {t('Votes')}
      </Title>
      <Failure title={t('Couldn’t load the policy decisions')} error={evaluations.error ?? policies.error} />
      <ul className="kh-rows" aria-label={t('Votes')}>
        {activity.votes.map((vote, index) => (
          <li key={vote.id} className="kh-row">
            <span>
              <span className="kh-row-name">{visibleName(vote.user.userName)}</span>{' '}
              <span className="kh-row-more">
                {wordsOf(vote, index)}
                {vote.scheme === passkeyScheme && t(' with a passkey')}
              </span>
              {evaluations.data?.policyEvaluations
                .filter(({ voteId }) => voteId === vote.id)
                .flatMap(({ policyEvaluations }) => policyEvaluations)
                .filter(({ outcome }) => outcomeWords[outcome] !== undefined)
                .map(({ policyId, outcome }) => (
                  <span key={policyId} className="kh-vote-policy">
                    “{visibleName(nameOf(policyId))}” {outcomeWords[outcome]}
                  </span>
                ))}
            </span>
            <span className="kh-row-side">
              <RelativeTime at={vote.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Outcomes that are shown; most policies do not apply. */
const outcomeWords: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: t('allowed'),
  OUTCOME_REQUIRES_CONSENSUS: t('needs more approvals'),
  OUTCOME_DENY_EXPLICIT: t('denied'),
  OUTCOME_ERROR: t('couldn’t be evaluated'),
};

function wordsOf({ selection }: Vote, index: number): string {
  if (selection === 'VOTE_SELECTION_REJECTED') return 'rejected';
  return index === 0 ? t('requested') : t('approved');
}
