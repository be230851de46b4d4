import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Drawer, Group, Kbd, Stack, Text, Title } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconCheck, IconChecklist, IconX } from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { isGrantable, type GrantSpan } from '../../../main/lib/policies/grants.ts';
import { kindOf } from '../../../main/lib/text/activity-types.ts';
import { intentOf } from '../../../main/lib/text/to-be-signed.ts';
import { approvalsLapseAt } from '../../../main/lib/web/needed-approvals.ts';
import { firstOf, Json, Original, Votes } from '../activity/activity-parts.tsx';
import { ActivityRow } from '../activity/activity-row.tsx';
import { describeType } from '../activity/activity-words.ts';
import { Spoken, useDescriptions } from '../activity/spoken.tsx';
import { fieldWords } from './field-words.ts';
import { NodeSays } from './node-says.tsx';
import { heldFor, pressVote, useHeldVotes } from './held-votes.ts';
import type { VoteKind } from './unsent-votes.ts';
import { useAllWaiting } from './waiting-approvals.ts';
import { useTopmost } from '../../ui/dialog/topmost.ts';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import type { Activity, SpokenPart } from '../../app/rpc/resources.ts';
import { useIsOwners } from '../../app/owners-window.ts';
import { isTyping } from '../../app/shell/keys.ts';
import { singleKeysOn, useSingleKeys } from '../../app/shell/single-keys.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { exactTime, millisecondsOf } from '../../ui/text/time.ts';
import { confirmVote, useApiQuery, useRpc, useSubmit, useVote } from '../../app/rpc/vault.tsx';
import { InWords, useReading } from '../sign/what-is-signed.tsx';
import './decide.css';
import '../../ui/rows.css';

/** Activities that wait for votes; an activity's own address opens it over the list. */
export function Approvals({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  const waiting = useAllWaiting();
  const { list } = waiting;
  const described = useDescriptions(list.map(({ id }) => id));
  const held = useHeldVotes();
  const isTopmost = useTopmost(activityId !== undefined);
  const at = list.findIndex(({ id }) => id === activityId);
  const open = (id: string | undefined) => {
    navigate(id === undefined ? '/approvals' : `/approvals/${id}`);
  };
  return (
    <>
      <PageHead
        title={t('Approvals')}
        lead={t('Approvals lapse a day after the first. One rejection ends a request.')}
      />
      <Panel kind="plain">
        {waiting.isPending && <LoadingRows label={t('Loading approvals')} />}
        <Failure title={t('Couldn’t load the approvals')} error={waiting.error} onRetry={waiting.retry} />
        {waiting.isSuccess && list.length === 0 && (
          <Empty
            title={t('No pending requests')}
            icon={IconChecklist}
            action={
              <Button component={Link} href="/policies/new/two-people" variant="default">
                {t('Create a policy that requires two')}
              </Button>
            }
          >
            <p>{t('Requests that need several approvals wait here.')}</p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="kh-rows" aria-label={t('Waiting for approval')}>
            {list.map((activity) => (
              <ActivityRow
                key={activity.id}
                activity={activity}
                about={described.get(activity.id)?.about}
                href={`/approvals/${activity.id}`}
                more={t('requested by {{name}}', { name: submitters(activity) })}
              >
                <span className="kh-badge" data-tone="waiting">
                  {stateOf(activity, held.get(activity.id)?.how)}
                </span>
              </ActivityRow>
            ))}
          </ul>
        )}
      </Panel>
      {waiting.more !== null && (
        <Button variant="default" loading={waiting.isLoadingMore} onClick={waiting.more}>
          {t('Load more')}
        </Button>
      )}
      <Drawer
        opened={activityId !== undefined}
        onClose={() => {
          if (isTopmost()) open(undefined);
        }}
        position="right"
        size={680}
        title={t('Approval')}
      >
        {activityId !== undefined && (
          <>
            {at !== -1 && list.length > 1 && (
              <Queue list={list} at={at} isTopmost={isTopmost} onOpen={open} />
            )}
            <Approval key={activityId} activityId={activityId} isTopmost={isTopmost} />
          </>
        )}
      </Drawer>
    </>
  );
}

function stateOf({ canApprove }: Activity, held: VoteKind | undefined): string {
  if (held !== undefined) return held === 'approve' ? t('Approving…') : t('Rejecting…');
  return canApprove ? t('Needs your approval') : t('Waiting for others');
}

const submitters = ({ votes }: Activity): string => votes[0]?.user.userName ?? t('unknown');

/** Keys that are pressed in a dialog over the drawer are for that dialog. */
interface InDrawer {
  readonly isTopmost: () => boolean;
}

interface QueueProps extends InDrawer {
  readonly list: readonly Activity[];
  readonly at: number;
  readonly onOpen: (id: string) => void;
}

/** The way through many: to the one before and the one after, by K and J as well. */
function Queue({ list, at, isTopmost, onOpen }: QueueProps): ReactNode {
  const before = list[at - 1];
  const after = list[at + 1];
  useKeys(isTopmost, {
    k:
      before &&
      (() => {
        onOpen(before.id);
      }),
    j:
      after &&
      (() => {
        onOpen(after.id);
      }),
  });
  return (
    <Group justify="space-between" mb="md" wrap="nowrap">
      <Text size="sm" c="dimmed" role="status">
        {t('{{index}} of {{requests}}', { index: at + 1, requests: list.length })}
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Step to={before} name={t('Previous')} letter="K" icon={IconArrowUp} onOpen={onOpen} />
        <Step to={after} name={t('Next')} letter="J" icon={IconArrowDown} onOpen={onOpen} />
      </Group>
    </Group>
  );
}

interface StepProps extends Pick<QueueProps, 'onOpen'> {
  /** Undefined where there is none. */
  readonly to: Activity | undefined;
  readonly name: string;
  /** The key that does the same. */
  readonly letter: string;
  readonly icon: Icon;
}

const Step = ({ to, name, letter, icon: Arrow, onOpen }: StepProps): ReactNode => (
  <Button
    size="compact-sm"
    variant="default"
    leftSection={<Arrow size={14} aria-hidden />}
    {...(useSingleKeys() && { rightSection: <Kbd aria-hidden>{letter}</Kbd>, 'aria-keyshortcuts': letter })}
    disabled={to === undefined}
    onClick={() => {
      if (to !== undefined) onOpen(to.id);
    }}
  >
    {name}
  </Button>
);

function Approval({ activityId, isTopmost }: InDrawer & { readonly activityId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_activity', { activityId });
  if (isPending) return <LoadingRows label={t('Loading the activity')} />;
  if (data === undefined) {
    return <Failure title={t('Couldn’t load the activity')} error={error} onRetry={() => void refetch()} />;
  }
  return <Request activity={data.activity} isTopmost={isTopmost} />;
}

/** Says what approval does, and describes the request: a signature by its payloads, others field by field. */
function Request({ activity, isTopmost }: InDrawer & { readonly activity: Activity }): ReactNode {
  const reading = useReading(activity);
  const described = useDescriptions([activity.id]).get(activity.id);
  const json = <Json title={t('Request')} copy={t('Copy request JSON')} value={firstOf(activity.intent)} />;
  const signs = reading.requests.length > 0;
  return (
    <Stack gap="lg">
      <div>
        <Title order={2}>{describeType(activity.type)}</Title>
        <p className="kh-lead">{described !== undefined && <Spoken parts={described.effect} links />}</p>
      </div>
      <Facts
        rows={[
          [t('Requested by'), submitters(activity)],
          [t('Time'), exactTime(millisecondsOf(activity.createdAt))],
          ...lapse(activity),
          ...(described?.fields ?? []).map(
            ({ label, value }, index) =>
              [label, <Spoken key={index} parts={value.map(sayFor(label))} links />] as const,
          ),
          [
            t('Fingerprint'),
            <ShortId key="fingerprint" text={activity.fingerprint} copy={t('Copy fingerprint')} />,
          ],
        ]}
      />
      {signs && <InWords reading={reading} />}
      {signs && <NodeSays activity={activity} />}
      {/* A person sees all of the request before they decide, also where the fields leave something out. */}
      {signs || described?.shortened === false ? <Original>{json}</Original> : json}
      <Votes activity={activity} />
      <Decide activity={activity} unread={reading.requests.length - reading.read} isTopmost={isTopmost} />
    </Stack>
  );
}

/** Names stay as they are. */
const sayFor =
  (label: string) =>
  (part: SpokenPart): SpokenPart =>
    part.kind === undefined ? { ...part, text: fieldWords(label, part.text) } : part;

/** Approvals do not count for ever, but the request waits on. */
function lapse({ status, votes }: Activity): readonly (readonly [string, string])[] {
  const at = approvalsLapseAt(votes);
  if (status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || at === undefined) return [];
  return [[at > Date.now() ? t('Approvals count until') : t('Approvals lapsed'), exactTime(at)]];
}

interface DecideProps extends InDrawer {
  readonly activity: Activity;
  /** Number of parts that are not on the screen yet: a person must be able to read what they approve. */
  readonly unread: number;
}

/** The two buttons, and the keys A and D, pressed twice, for who goes through many. */
function Decide({ activity, unread, isTopmost }: DecideProps): ReactNode {
  const [, navigate] = useLocation();
  const approve = useVote('approve');
  const reject = useVote('reject');
  const grant = useSubmit('ACTIVITY_TYPE_CREATE_GRANT');
  const held = useHeldVotes().get(activity.id);
  const keys = useSingleKeys();
  const isOwners = useIsOwners();
  const rpc = useRpc();
  const confirm = useAsyncAction();
  const [armed, setArmed] = useState<VoteKind | null>(null);
  const waits = activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
  const canApprove = waits && held === undefined && activity.canApprove && unread === 0;
  const canReject = waits && held === undefined && activity.canReject;

  const vote = (how: VoteKind, span?: GrantSpan) => {
    const send = async (): Promise<Activity> => {
      const { fingerprint } = activity;
      // The grant comes first: where it is refused, no vote is cast.
      if (span !== undefined) await grant.mutateAsync({ fingerprint, span });
      return (how === 'approve' ? approve : reject).mutateAsync(fingerprint);
    };
    const hold = pressVote();
    confirm.run(async () => {
      if (isOwners) await confirmVote(rpc, how, activity.fingerprint);
      // An approver’s passkey asks before each vote.
      hold(activity, how, send, isOwners ? heldFor : 0);
      navigate('/approvals');
    });
  };
  const press = (how: VoteKind) => () => {
    if (armed === how) vote(how);
    else setArmed(how);
  };
  useKeys(isTopmost, { a: canApprove && press('approve'), d: canReject && press('reject') }, () => {
    setArmed(null);
  });

  if (!waits) return <Text>{t('This request has been decided.')}</Text>;
  return (
    <Stack gap="sm" className="kh-decide">
      <Text size="sm" role="status">
        {held !== undefined
          ? t('Your vote is sent in a few seconds.')
          : armed !== null
            ? armed === 'approve'
              ? t('Press A again to approve.')
              : t('Press D again to reject.')
            : activity.canApprove
              ? unread > 0 && t('Review {{count}} more payloads before you approve.', { count: unread })
              : activity.canReject
                ? t('You approved this. Waiting for others.')
                : t('Your approval isn’t needed.')}
      </Text>
      <Failure title={t('Vote not sent')} error={confirm.error} />
      {held !== undefined ? (
        <div>
          <Button variant="default" onClick={held.drop}>
            {t('Undo')}
          </Button>
        </div>
      ) : (
        <Group gap="sm">
          <Button
            leftSection={<IconCheck size={16} aria-hidden />}
            rightSection={keys && <Kbd aria-hidden>A A</Kbd>}
            disabled={!canApprove}
            onClick={() => {
              vote('approve');
            }}
          >
            {t('Approve once')}
          </Button>
          <Button
            variant="default"
            className="kh-danger-button"
            leftSection={<IconX size={16} aria-hidden />}
            rightSection={keys && <Kbd aria-hidden>D D</Kbd>}
            disabled={!canReject}
            onClick={() => {
              vote('reject');
            }}
          >
            {t('Reject')}
          </Button>
        </Group>
      )}
      {canApprove && isOwners && isGrantable(kindOf(activity.type), intentOf(activity)) && (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {t('Approve this and others like it, at most until a lock:')}
          </Text>
          <Button
            variant="default"
            size="xs"
            onClick={() => {
              vote('approve', 'TEN_MINUTES');
            }}
          >
            {t('For 10 minutes')}
          </Button>
          <Button
            variant="default"
            size="xs"
            onClick={() => {
              vote('approve', 'TODAY');
            }}
          >
            {t('For today')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/**
 * Listens for single keys, which type nothing where one types; a key without its action is left alone.
 * @param other Called for every other key, and for a press of the pointer.
 */
function useKeys(
  isTopmost: () => boolean,
  actions: Readonly<Record<string, (() => void) | false | undefined>>,
  other?: () => void,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
      const action = actions[event.key.toLowerCase()];
      if (typeof action === 'function' && singleKeysOn() && isTopmost()) action();
      else other?.();
    };
    const onPointer = () => {
      other?.();
    };
    window.addEventListener('keydown', onKey);
    window.addEventListener('pointerdown', onPointer);
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('pointerdown', onPointer);
    };
  });
}
