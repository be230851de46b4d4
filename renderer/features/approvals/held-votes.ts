/**
 * Votes that a person has given and the window has not sent: for ten seconds they can be taken back. Leaving the vault drops
 * them, since nothing that was not sent is decided.
 */

import { useSyncExternalStore } from 'react';
import { notifications } from '@mantine/notifications';
import type { Activity } from '../../app/rpc/resources.ts';
import { sayHeld } from '../../app/shell/undo.tsx';
import { t } from '../../app/i18n/text.ts';
import { readable } from '../../ui/text/readable.ts';
import { describeType } from '../activity/activity-words.ts';

export type VoteKind = 'approve' | 'reject';

/** Milliseconds between the press and the vote. */
export const heldFor = 10_000;

interface HeldVote {
  readonly how: VoteKind;
  readonly drop: () => void;
}

let held: ReadonlyMap<string, HeldVote> = new Map();
const listeners = new Set<() => void>();

function change(make: (votes: Map<string, HeldVote>) => void): void {
  const votes = new Map(held);
  make(votes);
  held = votes;
  for (const listener of listeners) listener();
}

/** The votes that wait to be sent, by the ids of their activities. */
export const useHeldVotes = (): ReadonlyMap<string, HeldVote> =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => held,
  );

/**
 * Sends a vote after ten seconds, unless it is taken back.
 * @param send Resolves with the activity as it is then.
 * @param wait Milliseconds. 0 sends at once, where the person confirms the vote in another way.
 */
export function holdVote(
  activity: Activity,
  how: VoteKind,
  send: () => Promise<Activity>,
  wait = heldFor,
): void {
  const { id, type } = activity;
  if (held.has(id)) return;
  const title = describeType(type);
  const drop = () => {
    clearTimeout(timer);
    close();
    change((votes) => votes.delete(id));
  };
  const timer = setTimeout(() => {
    close();
    send()
      .then(
        ({ status }) => {
          notifications.show({ title, message: saidOf(status) });
        },
        (error: unknown) => {
          notifications.show({
            color: 'red',
            title: how === 'approve' ? t('Couldn’t approve') : t('Couldn’t reject'),
            message: readable(error),
            autoClose: false,
          });
        },
      )
      .finally(() => {
        change((votes) => votes.delete(id));
      });
  }, wait);
  const close =
    wait === 0
      ? () => undefined
      : sayHeld({
          title:
            how === 'approve' ? t('Approving: {{title}}', { title }) : t('Rejecting: {{title}}', { title }),
          message: t('Your vote is sent in ten seconds.'),
          takeBack: drop,
        });
  change((votes) => votes.set(id, { how, drop }));
}

/** Takes back all that are not sent. */
export function dropHeldVotes(): void {
  for (const { drop } of held.values()) drop();
}

function saidOf(status: string): string {
  if (status === 'ACTIVITY_STATUS_COMPLETED') return t('Approved and completed.');
  return status === 'ACTIVITY_STATUS_REJECTED' ? t('Rejected.') : t('Approved. Waiting for others.');
}
