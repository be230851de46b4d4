/** The parts that all views of an activity share. */

import type { ReactNode } from 'react';
import { Group, Stack, Title } from '@mantine/core';
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

/** Request and result as the API has them, for who wants to see them: they have ids in the place of names. */
export const Original = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <details>
    <summary>{t('As the API has it')}</summary>
    <Stack gap="lg" mt="sm">
      {children}
    </Stack>
  </details>
);

const passkeyScheme = 'SIGNATURE_SCHEME_TK_WEBAUTHN';

/** The votes on an activity, and at each vote the policies that required more votes or allowed it. */
export function Votes({ activity }: { readonly activity: Activity }): ReactNode {
  const evaluations = useApiQuery('get_policy_evaluations', {
    activityId: activity.id,
  });
  const policies = useApiQuery('list_policies');
  const find = (policyId: string) => policies.data?.policies.find((policy) => policy.policyId === policyId);
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
                .map(({ policyId, outcome }) => ({
                  policyId,
                  words: outcomeOf(outcome, find(policyId)?.effect),
                }))
                .filter(({ words }) => words !== undefined)
                .map(({ policyId, words }) => (
                  <span key={policyId} className="kh-vote-policy">
                    “{visibleName(find(policyId)?.policyName ?? t('a deleted policy'))}” {words}
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

const outcomeWords: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: t('allowed'),
  OUTCOME_REQUIRES_CONSENSUS: t('needs more approvals'),
  OUTCOME_DENY_EXPLICIT: t('denied'),
};

/**
 * Words for an outcome; undefined for a policy that does not apply. A policy that allows and asks for what the request does
 * not have, such as a transaction, does not apply. A policy that denies does: what cannot be evaluated may deny.
 */
function outcomeOf(outcome: string, effect: string | undefined): string | undefined {
  if (outcome === 'OUTCOME_ERROR' && effect === 'EFFECT_DENY') return t('couldn’t be evaluated');
  return outcomeWords[outcome];
}

function wordsOf({ selection }: Vote, index: number): string {
  if (selection === 'VOTE_SELECTION_REJECTED') return t('rejected');
  return index === 0 ? t('requested') : t('approved');
}
