/**
 * Notes of held votes in the browser's storage, so the next window can say which votes were not sent. A note is left behind
 * when the window closes, or its process ends, before the vote is sent. A lock (Web Locks) shows that its window still holds it.
 */

import { notifications } from '@mantine/notifications';
import { t } from '../../app/i18n/text.ts';
import { describeType } from '../activity/activity-words.ts';
import { queryApi } from '../../app/rpc/vault.tsx';
import type { Activity } from '../../app/rpc/resources.ts';
import type { WindowRpc } from '../../../preload/contract.ts';

export type VoteKind = 'approve' | 'reject';

interface Note {
  readonly organizationId: string;
  readonly how: VoteKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface HeldNote {
  /** The vote was sent or taken back. */
  readonly remove: () => void;
  /** The vote is not sent from here: the note stays for the next window. */
  readonly leave: () => void;
}

/** Before the id of an activity, and an id of the vote: two windows may hold votes on one request. */
const prefix = 'keyhearth.vote.';

/** A request expires a day after its first vote. Milliseconds. */
const longestKept = 24 * 60 * 60_000;

/** Says that this window holds a vote. */
export function noteHeldVote({ id, organizationId }: Activity, how: VoteKind): HeldNote {
  const name = `${prefix}${id}.${crypto.randomUUID()}`;
  const { promise: held, resolve: leave } = Promise.withResolvers<undefined>();
  const note: Note = { organizationId, how, at: Date.now() };
  localStorage.setItem(name, JSON.stringify(note));
  void navigator.locks.request(name, () => held);
  return {
    remove() {
      localStorage.removeItem(name);
      leave(undefined);
    },
    leave() {
      leave(undefined);
    },
  };
}

/** A vote that a window held and did not send. */
export interface UnsentVote {
  readonly activity: Activity;
  readonly how: VoteKind;
}

/** Takes the notes that no window holds, and finds which of their votes were not sent. */
export async function takeUnsentVotes(
  rpc: WindowRpc,
  organizationId: string,
  userId: string,
): Promise<readonly UnsentVote[]> {
  const unsent: UnsentVote[] = [];
  for (const name of Object.keys(localStorage).filter((each) => each.startsWith(prefix))) {
    const note = readNote(name);
    if (note === null || Math.abs(Date.now() - note.at) > longestKept) localStorage.removeItem(name);
    else if (note.organizationId === organizationId && (await isFree(name))) {
      const [activityId = ''] = name.slice(prefix.length).split('.');
      const { activity } = await queryApi(rpc, 'get_activity', { activityId });
      localStorage.removeItem(name);
      // The window may have closed between the sending and the answer.
      if (!hasVote(activity, userId, note.how)) unsent.push({ activity, how: note.how });
    }
  }
  return unsent;
}

function readNote(name: string): Note | null {
  try {
    const { organizationId, how, at } = JSON.parse(localStorage.getItem(name) ?? '') as Record<
      string,
      unknown
    >;
    if (typeof organizationId !== 'string' || typeof at !== 'number') return null;
    return how === 'approve' || how === 'reject' ? { organizationId, how, at } : null;
  } catch {
    return null;
  }
}

const isFree = (name: string): Promise<boolean> =>
  navigator.locks.request(name, { ifAvailable: true }, (lock) => lock !== null);

const selections = { approve: 'VOTE_SELECTION_APPROVED', reject: 'VOTE_SELECTION_REJECTED' } as const;

const hasVote = ({ votes }: Activity, userId: string, how: VoteKind): boolean =>
  votes.some((vote) => vote.userId === userId && vote.selection === selections[how]);

/** Says in the window which votes were not sent. */
export function sayUnsent(votes: readonly UnsentVote[]): void {
  if (votes.length === 0) return;
  const titles = votes.map(({ activity, how }) => {
    const title = describeType(activity.type);
    return how === 'approve' ? t('Approve: {{title}}.', { title }) : t('Reject: {{title}}.', { title });
  });
  notifications.show({
    color: 'yellow',
    title: t('{{count}} votes were not sent', { count: votes.length }),
    message: `${titles.join(' ')} ${t('Vote again under Approvals.')}`,
    autoClose: false,
  });
}
