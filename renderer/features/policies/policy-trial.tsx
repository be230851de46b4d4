import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeType } from '../activity/activity-words.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { PolicyExplanation } from './policy-explanation.tsx';
import { describeDecision, describeOutcome, useTest } from './policy-queries.ts';
import type { AskedDraft, PolicyTest, TestedActivity } from './policy-queries.ts';
import { Failure } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Busy } from '../../ui/busy.tsx';
import '../../ui/rows.css';

interface Props {
  /** The drafts that would be in force beside the existing policies, or instead of one of them. */
  readonly drafts: readonly AskedDraft[];
  /** Why it cannot be tried now. */
  readonly obstacle: string | undefined;
}

/** Tries drafts on what has happened: what would have been decided otherwise, and why. */
export function PolicyTrial({ drafts, obstacle }: Props): ReactNode {
  const [limit, setLimit] = useState('100');
  const [showsPlain, setShowsPlain] = useState(true);
  const test = useTest();
  // The drafts of the trial; the form may have changed since.
  const [tried, setTried] = useState<readonly AskedDraft[]>([]);
  const outdated = test.isSuccess && JSON.stringify(tried) !== JSON.stringify(drafts);
  return (
    <Panel title={t('Try it on what has happened')}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t(
            'The newest activities of the log are decided once more, with this policy and without it. Nothing is changed or signed.',
          )}
        </Text>
        <Group gap="md" align="end">
          <Select
            label={t('Activities')}
            data={['100', '300', '1000'].map((value) => ({
              value,
              label: t('the last {{number}}', { number: value }),
            }))}
            value={limit}
            allowDeselect={false}
            onChange={(value) => {
              setLimit(value ?? '100');
            }}
            w={160}
          />
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
            loading={test.isPending}
            disabled={obstacle !== undefined}
            onClick={() => {
              setTried(drafts);
              test.mutate({ policies: drafts, limit: Number(limit), withoutRootQuorum: showsPlain });
            }}
          >
            {t('Try it')}
          </Button>
        </Group>
        <Checkbox
          label={t('As if nobody were of the root quorum')}
          description={t(
            'The root quorum may do anything, whatever policies say. This shows what policies alone make of the same.',
          )}
          checked={showsPlain}
          onChange={(event) => {
            setShowsPlain(event.currentTarget.checked);
          }}
        />
        {obstacle !== undefined && (
          <Text size="sm" c="dimmed">
            {obstacle}
          </Text>
        )}
        <Busy busy={test.isPending}>
          {t('Deciding the last {{count}} activities once more', { count: Number(limit) })}
        </Busy>
        <Failure title={t('It was not tried')} error={test.error} />
        <div role="status">
          {outdated && (
            <Text size="sm" c="dimmed">
              {t('The policy has been changed since: this is about what it was.')}
            </Text>
          )}
          {test.data !== undefined && (
            <TrialResult of={test.data} drafts={tried} showsPlain={test.variables.withoutRootQuorum} />
          )}
        </div>
      </Stack>
    </Panel>
  );
}

interface TrialResultProps {
  readonly of: PolicyTest;
  readonly drafts: readonly AskedDraft[];
  readonly showsPlain: boolean;
}

function TrialResult({ of, drafts, showsPlain }: TrialResultProps): ReactNode {
  const { tested, newlyAllowed, newlyDenied, newlyWaiting, activities, policies } = of;
  const [shown, setShown] = useState<'changed' | 'all'>('changed');
  const nameOf = (wanted: string): string =>
    policies.find(({ policyId }) => policyId === wanted)?.policyName ?? wanted;
  const changes = [
    newlyDenied > 0 && t('{{count}} would newly be denied.', { count: newlyDenied }),
    newlyAllowed > 0 && t('{{count}} would newly be allowed.', { count: newlyAllowed }),
    newlyWaiting > 0 && t('{{count}} would newly wait for approvals.', { count: newlyWaiting }),
  ].filter((said) => said !== false);
  const listed = (shown === 'changed' ? activities.filter(({ changed }) => changed) : activities).slice(
    0,
    50,
  );
  return (
    <Stack gap="sm">
      <Text fw={600}>
        {tested === 0
          ? t('The log has no activity to try it on.')
          : [
              t('{{count}} activities tried.', { count: tested }),
              ...(changes.length === 0 ? [t('All would be decided as they are now.')] : changes),
            ].join(' ')}
      </Text>
      {policies
        .filter(({ draft }) => draft)
        .map(({ policyId, held, decided, clauses }) => (
          <div key={policyId}>
            <Text size="sm">
              {held === 0
                ? t('Its condition never held.')
                : t('Its condition held in {{held}} of {{tested}}, and it settled {{decided}}.', {
                    held,
                    tested,
                    decided,
                  })}
            </Text>
            {clauses.length > 1 && (
              <dl className="kh-parts">
                {clauses.map(({ from, text, held, failed, faults }) => (
                  <div key={from} style={{ display: 'contents' }}>
                    <dt className="kh-mono">{visibleName(text)}</dt>
                    <dd>
                      {[
                        held === 0 ? t('never true') : t('true in {{held}}', { held }),
                        failed > 0 && t('false in {{failed}}', { failed }),
                        faults > 0 && t('missing in {{faults}}', { faults }),
                      ]
                        .filter((said) => said !== false)
                        .join(' · ')}
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        ))}
      {tested > 0 && (
        <SegmentedControl
          aria-label={t('Which activities are listed')}
          value={shown}
          onChange={setShown}
          data={[
            { value: 'changed', label: t('Decided otherwise') },
            { value: 'all', label: t('All') },
          ]}
          style={{ alignSelf: 'start' }}
        />
      )}
      {listed.length > 0 && (
        <ul className="kh-rows" aria-label={t('Activities tried')}>
          {listed.map((activity) => (
            <TriedRow
              key={activity.activityId}
              activity={activity}
              nameOf={nameOf}
              drafts={drafts}
              showsPlain={showsPlain}
            />
          ))}
        </ul>
      )}
    </Stack>
  );
}

interface RowProps {
  readonly activity: TestedActivity;
  readonly nameOf: (policyId: string) => string;
  readonly drafts: readonly AskedDraft[];
  readonly showsPlain: boolean;
}

function TriedRow({ activity, nameOf, drafts, showsPlain }: RowProps): ReactNode {
  const { activityId, type, createdAt, before, after, changed } = activity;
  const [open, setOpen] = useState(false);
  const what = describeType(type);
  return (
    <li style={{ padding: '0.7rem 0' }}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="start">
        <div>
          <Link href={`/activity/${activityId}`} className="kh-link">
            {what}
          </Link>{' '}
          <span className="kh-row-more">
            <RelativeTime at={createdAt} exact />
          </span>
          <br />
          <span className="kh-row-more">
            {changed && t('Before: {{outcome}}.', { outcome: describeOutcome(before.outcome) })}{' '}
            <strong>{describeDecision(after, nameOf)}</strong>
          </span>
        </div>
        <Button
          size="compact-xs"
          variant="default"
          flex="none"
          aria-expanded={open}
          aria-label={t('Why: {{activity}}', { activity: what })}
          onClick={() => {
            setOpen(!open);
          }}
        >
          {t('Why')}
        </Button>
      </Group>
      {open && (
        <PolicyExplanation question={{ activityId, policies: drafts, withoutRootQuorum: showsPlain }} />
      )}
    </li>
  );
}
