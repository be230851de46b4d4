import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Code } from './policy-names.tsx';
import { describeType } from '../activity/activity-words.ts';
import { DetailsButton } from './details-button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { OutcomeBars } from './outcome-bars.tsx';
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
    <Panel title={t('Test on past activity')}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('Decides past activities again, with and without this policy. Nothing is changed or signed.')}
        </Text>
        <Group gap="md" align="end">
          <Select
            label={t('Activities')}
            data={['100', '300', '1000'].map((value) => ({
              value,
              label: t('Last {{number}}', { number: value }),
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
            {t('Test')}
          </Button>
        </Group>
        <Checkbox
          label={t('Ignore the root quorum')}
          description={t('Shows what policies alone decide.')}
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
          {t('Testing the last {{count}} activities', { count: Number(limit) })}
        </Busy>
        <Failure title={t('Couldn’t test the policy')} error={test.error} />
        <div role="status">
          {outdated && (
            <Text size="sm" c="dimmed">
              {t('The policy changed after this test.')}
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
  const { tested, unreadable, newlyAllowed, newlyDenied, newlyWaiting, activities, policies } = of;
  const [shown, setShown] = useState<'changed' | 'all'>('changed');
  const nameOf = (wanted: string): string =>
    policies.find(({ policyId }) => policyId === wanted)?.policyName ?? wanted;
  const changes = [
    newlyDenied > 0 && t('{{count}} newly denied.', { count: newlyDenied }),
    newlyAllowed > 0 && t('{{count}} newly allowed.', { count: newlyAllowed }),
    newlyWaiting > 0 && t('{{count}} newly require approval.', { count: newlyWaiting }),
  ].filter((said) => said !== false);
  const listed = (shown === 'changed' ? activities.filter(({ changed }) => changed) : activities).slice(
    0,
    50,
  );
  return (
    <Stack gap="sm">
      <Text fw={600}>
        {tested === 0
          ? unreadable === 0
            ? t('The log has no activity to test.')
            : t('The log has no activity that can be tested.')
          : [
              t('{{count}} activities tested.', { count: tested }),
              ...(changes.length === 0 ? [t('No decision changes.')] : changes),
            ].join(' ')}
      </Text>
      {unreadable > 0 && (
        <Text size="sm">
          {t('{{count}} activities can’t be read and were left out.', { count: unreadable })}
        </Text>
      )}
      {tested > 0 && <OutcomeBars of={activities} />}
      {policies
        .filter(({ draft }) => draft)
        .map(({ policyId, held, decided, clauses }) => (
          <div key={policyId}>
            <Text size="sm">
              {held === 0
                ? t('The condition never matched.')
                : t('Matched {{held}} of {{tested}} activities and decided {{decided}}.', {
                    held,
                    tested,
                    decided,
                  })}
            </Text>
            {clauses.length > 1 && (
              <dl className="kh-parts">
                {clauses.map(({ from, text, held, failed, faults }) => (
                  <div key={from} style={{ display: 'contents' }}>
                    <dt>
                      <Code text={text} />
                    </dt>
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
          aria-label={t('Filter')}
          value={shown}
          onChange={setShown}
          data={[
            { value: 'changed', label: t('Changed') },
            { value: 'all', label: t('All') },
          ]}
          style={{ alignSelf: 'start' }}
        />
      )}
      {listed.length > 0 && (
        <ul className="kh-rows" aria-label={t('Tested activities')}>
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
        <DetailsButton of={what} open={open} onToggle={setOpen} />
      </Group>
      {open && (
        <PolicyExplanation question={{ activityId, policies: drafts, withoutRootQuorum: showsPlain }} />
      )}
    </li>
  );
}
