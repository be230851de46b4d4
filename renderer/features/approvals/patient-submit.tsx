/** Requests one after the other, each of which may need the votes of others: the next one follows once the last is decided. */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Alert } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconHourglass } from '@tabler/icons-react';
import { voteTypes } from '../../../main/lib/text/activity-types.ts';
import type { ActivityParameters, ActivityResult, ActivityType } from '../../../main/operations/api.ts';
import type { WindowRpc } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { completed, queryApi, submitApi, useRpc } from '../../app/rpc/vault.tsx';
import { readable } from '../../ui/text/readable.ts';
import { describeType } from '../activity/activity-words.ts';

export interface PatientSubmit {
  /**
   * @returns the result, once the request has the votes that it needs.
   * @throws OperationError where it was refused, also by this form: once it is left, it rejects its request and sends no other.
   */
  readonly submit: <Type extends ActivityType>(
    type: Type,
    parameters: ActivityParameters<Type>,
  ) => Promise<ActivityResult<Type>>;
  /** The request that needs votes now. */
  readonly waiting: Activity | null;
}

export function usePatientSubmit(): PatientSubmit {
  const rpc = useRpc();
  const [waiting, setWaiting] = useState<Activity | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const own = new AbortController();
    leaving.current = own;
    return () => {
      own.abort();
    };
  }, []);
  return {
    waiting,
    submit: async <Type extends ActivityType>(type: Type, parameters: ActivityParameters<Type>) => {
      const { signal } = leaving.current;
      signal.throwIfAborted();
      const activity = await submitApi(rpc, type, parameters);
      if (!needsVotes(activity)) return completed<Type>(activity).result;
      setWaiting(activity);
      try {
        const latest = await decidedOrLeft(rpc, activity, signal);
        return completed<Type>(needsVotes(latest) ? await giveUp(rpc, latest) : latest).result;
      } finally {
        setWaiting(null);
      }
    },
  };
}

/**
 * Rejects a request whose form is gone: a vote that came later would create the first half of something.
 * @returns the request as it is then. Its last vote may have been faster.
 */
async function giveUp(rpc: WindowRpc, { id, type, fingerprint }: Activity): Promise<Activity> {
  const what = describeType(type);
  try {
    await submitApi(rpc, voteTypes.reject, { fingerprint });
    notifications.show({
      title: t('Request rejected: {{what}}', { what }),
      message: t('The form was left before the request was approved.'),
    });
    return await latestOf(rpc, id);
  } catch (error) {
    const latest = await latestOf(rpc, id);
    if (!needsVotes(latest)) return latest;
    notifications.show({
      autoClose: false,
      title: t('Request still waiting: {{what}}', { what }),
      message: `${t('The form was left. Reject the request under Approvals.')} ${readable(error)}`,
    });
    return latest;
  }
}

const latestOf = async (rpc: WindowRpc, activityId: string): Promise<Activity> =>
  (await queryApi(rpc, 'get_activity', { activityId })).activity;

const needsVotes = ({ status }: Activity): boolean => status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

/** Between two looks at a request whose event did not come, in milliseconds. */
const betweenLooks = 10_000;

async function decidedOrLeft(rpc: WindowRpc, activity: Activity, signal: AbortSignal): Promise<Activity> {
  let latest = activity;
  while (needsVotes(latest) && !signal.aborted) {
    await changed(rpc, activity.id, signal);
    latest = await latestOf(rpc, activity.id);
  }
  return latest;
}

/** Settles at the next event of the activity, when the signal is given, or after a while. */
const changed = (rpc: WindowRpc, activityId: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, betweenLooks);
    const stop = rpc.onEvent((event) => {
      if (event.kind === 'activity' && event.id === activityId) end();
    });
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });

/** Says in a form which of its requests waits for votes. */
export function AwaitedVotes({ of }: { readonly of: Activity | null }): ReactNode {
  const notice = useRef<HTMLDivElement>(null);
  // It comes at the end of a form that may be longer than the window.
  useEffect(() => {
    notice.current?.scrollIntoView({ block: 'nearest' });
  }, [of]);
  return (
    of !== null && (
      <Alert
        ref={notice}
        role="status"
        icon={<IconHourglass aria-hidden />}
        title={t('Waiting for approval: {{what}}', { what: describeType(of.type) })}
      >
        {t('Keep this form open: the next step follows the approval. If you leave, the request is rejected.')}
      </Alert>
    )
  );
}
