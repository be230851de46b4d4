import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'wouter';
import { describeType } from './activity-words.ts';
import { count } from './bytes.ts';
import { Moment } from './moment.tsx';
import { Panel } from './page.tsx';
import { PolicyExplanation } from './policy-explanation.tsx';
import { describeDecider, describeOutcome, useTest } from './policies.ts';
import type { PolicyTest, TestedActivity } from './policies.ts';
import { Failure } from './states.tsx';
import './rows.css';

interface Props {
  /** What would be in force beside the policies that are, or in the place of one of them. */
  readonly drafts: readonly object[];
  /** Why it cannot be tried now. */
  readonly obstacle: string | undefined;
}

/** Tries drafts on what has happened: what would have been decided otherwise, and why. */
export function PolicyTrial({ drafts, obstacle }: Props): ReactNode {
  const [limit, setLimit] = useState('100');
  const [plain, setPlain] = useState(true);
  const test = useTest();
  // What was tried, while what is written may be something else already.
  const [tried, setTried] = useState<readonly object[]>([]);
  const outdated = test.isSuccess && JSON.stringify(tried) !== JSON.stringify(drafts);
  return (
    <Panel title="Try it on what has happened">
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          The newest activities of the log are decided once more, with this policy and without it. Nothing is
          changed or signed.
        </Text>
        <Group gap="md" align="end">
          <Select
            label="Activities"
            data={['100', '300', '1000'].map((value) => ({ value, label: `the last ${value}` }))}
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
              test.mutate({ policies: drafts, limit: Number(limit), withoutRootQuorum: plain });
            }}
          >
            Try it
          </Button>
        </Group>
        <Checkbox
          label="As if nobody were of the root quorum"
          description="The root quorum may do anything, whatever policies say. This shows what policies alone make of the same."
          checked={plain}
          onChange={(event) => {
            setPlain(event.currentTarget.checked);
          }}
        />
        {obstacle !== undefined && (
          <Text size="sm" c="dimmed">
            {obstacle}
          </Text>
        )}
        <Failure title="It was not tried" error={test.error} />
        <div role="status">
          {outdated && (
            <Text size="sm" c="dimmed">
              The policy has been changed since: this is about what it was.
            </Text>
          )}
          {test.data !== undefined && (
            <Found of={test.data} drafts={tried} plain={test.variables.withoutRootQuorum} />
          )}
        </div>
      </Stack>
    </Panel>
  );
}

interface FoundProps {
  readonly of: PolicyTest;
  readonly drafts: readonly object[];
  readonly plain: boolean;
}

function Found({ of, drafts, plain }: FoundProps): ReactNode {
  const { tested, newlyAllowed, newlyDenied, newlyWaiting, activities, policies } = of;
  const [shown, setShown] = useState<'changed' | 'all'>('changed');
  const nameOf = (wanted: string): string =>
    policies.find(({ policyId }) => policyId === wanted)?.policyName ?? wanted;
  const changes = [
    [newlyDenied, 'newly denied'],
    [newlyAllowed, 'newly allowed'],
    [newlyWaiting, 'newly waiting for approvals'],
  ] as const;
  const said = changes.filter(([number]) => number > 0).map(([number, what]) => `${String(number)} ${what}`);
  const listed = (shown === 'changed' ? activities.filter(({ changed }) => changed) : activities).slice(
    0,
    50,
  );
  return (
    <Stack gap="sm">
      <Text fw={600}>
        {tested === 0
          ? 'The log has no activity to try it on.'
          : `${count(tested, 'activity', 'activities')} tried: ${said.length === 0 ? 'all would be decided as they are now' : said.join(', ')}.`}
      </Text>
      {policies
        .filter(({ draft }) => draft)
        .map(({ policyId, held, decided, clauses }) => (
          <div key={policyId}>
            <Text size="sm">
              {held === 0
                ? 'Its condition never held.'
                : `Its condition held in ${String(held)} of ${String(tested)}, and it settled ${String(decided)}.`}
            </Text>
            {clauses.length > 1 && (
              <dl className="lk-parts">
                {clauses.map(({ from, text, held: true_, failed, faults }) => (
                  <div key={from} style={{ display: 'contents' }}>
                    <dt className="lk-mono">{text}</dt>
                    <dd>
                      {true_ === 0 ? 'never true' : `true in ${String(true_)}`}
                      {failed > 0 && `, false in ${String(failed)}`}
                      {faults > 0 && `, missing in ${String(faults)}`}
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        ))}
      {tested > 0 && (
        <SegmentedControl
          aria-label="Which activities are listed"
          value={shown}
          onChange={setShown}
          data={[
            { value: 'changed', label: 'Decided otherwise' },
            { value: 'all', label: 'All' },
          ]}
          style={{ alignSelf: 'start' }}
        />
      )}
      {listed.length > 0 && (
        <ul className="lk-rows" aria-label="Activities tried">
          {listed.map((activity) => (
            <TriedRow
              key={activity.activityId}
              activity={activity}
              nameOf={nameOf}
              drafts={drafts}
              plain={plain}
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
  readonly drafts: readonly object[];
  readonly plain: boolean;
}

function TriedRow({ activity, nameOf, drafts, plain }: RowProps): ReactNode {
  const { activityId, type, createdAt, before, after, changed } = activity;
  const [open, setOpen] = useState(false);
  const what = describeType(type);
  return (
    <li style={{ padding: '0.7rem 0' }}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="start">
        <div>
          <Link href={`/activity/${activityId}`} className="lk-link">
            {what}
          </Link>{' '}
          <span className="lk-row-more">
            <Moment at={createdAt} />
          </span>
          <br />
          <span className="lk-row-more">
            {changed && `${describeOutcome(before.outcome)} → `}
            <strong>{describeOutcome(after.outcome)}</strong> {describeDecider(after, nameOf)}
          </span>
        </div>
        <Button
          size="compact-xs"
          variant="default"
          flex="none"
          aria-expanded={open}
          aria-label={`Why: ${what}`}
          onClick={() => {
            setOpen(!open);
          }}
        >
          Why
        </Button>
      </Group>
      {open && <PolicyExplanation question={{ activityId, policies: drafts, withoutRootQuorum: plain }} />}
    </li>
  );
}
