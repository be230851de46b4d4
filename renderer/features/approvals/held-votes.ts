/**
 * Votes that a person has given and the window has not sent: for ten seconds they can be taken back. Leaving the vault or
 * closing the window drops them, since nothing that was not sent is decided. The person is then told (`unsent-votes.ts`).
 */

import { useSyncExternalStore } from 'react';
import { notifications } from '@mantine/notifications';
import type { Activity } from '../../app/rpc/resources.ts';
import { sayHeld } from '../../app/shell/undo.tsx';
import { t } from '../../app/i18n/text.ts';
import { readable } from '../../ui/text/readable.ts';
import { describeType } from '../activity/activity-words.ts';
import { noteHeldVote, sayUnsent } from './unsent-votes.ts';
import type { VoteKind } from './unsent-votes.ts';

/** Milliseconds between the press and the vote. */
export const heldFor = 10_000;

interface HeldVote {
  readonly how: VoteKind;
  /** Takes it back, at the person's wish. */
  readonly drop: () => void;
  /** Gives it up: this window can no longer send it. @returns whether it was not sent. */
  readonly abandon: () => boolean;
}

/** The open vault in which votes can be held; null behind its lock. */
let opening: symbol | null = null;
let held: ReadonlyMap<string, HeldVote> = new Map();
/** The number of votes that the last lock dropped. */
let lost = 0;
const listeners = new Set<() => void>();

function change(make: (votes: Map<string, HeldVote>) => void): void {
  const votes = new Map(held);
  make(votes);
  held = votes;
  // The browser asks before it closes or reloads the window.
  if (held.size > 0) window.addEventListener('beforeunload', askToStay);
  else window.removeEventListener('beforeunload', askToStay);
  for (const listener of listeners) listener();
}

const askToStay = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The votes that wait to be sent, by the ids of their activities. */
export const useHeldVotes = (): ReadonlyMap<string, HeldVote> => useSyncExternalStore(subscribe, () => held);

/** The number of votes that were not sent since the vault was locked meanwhile. */
export const useLostVotes = (): number => useSyncExternalStore(subscribe, () => lost);

/** At the press of a vote. @returns what holds it once it is confirmed, or says that a lock came before that. */
export function pressVote(): typeof holdVote {
  const pressedIn = opening;
  return (activity, how, ...more) => {
    if (pressedIn !== null && pressedIn === opening) holdVote(activity, how, ...more);
    else if (opening !== null) sayUnsent([{ activity, how }]);
    else {
      lost += 1;
      for (const listener of listeners) listener();
    }
  };
}

/**
 * Sends a vote after ten seconds, unless it is taken back.
 * @param send Resolves with the activity as it is then.
 * @param wait Milliseconds. 0 sends at once, where the person confirms the vote in another way.
 */
function holdVote(activity: Activity, how: VoteKind, send: () => Promise<Activity>, wait = heldFor): void {
  const { id, type } = activity;
  if (held.has(id)) return;
  const title = describeType(type);
  const note = wait === 0 ? null : noteHeldVote(activity, how);
  let isSent = false;
  let isAbandoned = false;
  const end = () => {
    clearTimeout(timer);
    close();
    change((votes) => votes.delete(id));
  };
  const timer = setTimeout(() => {
    close();
    isSent = true;
    send()
      .then(
        ({ status }) => {
          note?.remove();
          // Another person may have signed in meanwhile.
          if (!isAbandoned) notifications.show({ title, message: saidOf(status) });
        },
        (error: unknown) => {
          if (isAbandoned) return;
          note?.remove();
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
          takeBack() {
            drop();
          },
        });
  const drop = () => {
    note?.remove();
    end();
  };
  const abandon = () => {
    isAbandoned = true;
    note?.leave();
    end();
    return !isSent;
  };
  change((votes) => votes.set(id, { how, drop, abandon }));
}

/** The vault is open: votes can be held. @returns what gives up all that are not sent. */
export function beginHolding(): () => void {
  opening = Symbol('opening');
  lost = 0;
  return () => {
    opening = null;
    lost = [...held.values()].filter(({ abandon }) => abandon()).length;
  };
}

function saidOf(status: string): string {
  if (status === 'ACTIVITY_STATUS_COMPLETED') return t('Approved and completed.');
  return status === 'ACTIVITY_STATUS_REJECTED' ? t('Rejected.') : t('Approved. Waiting for others.');
}
