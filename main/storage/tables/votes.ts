/** Votes as the log keeps them: JSON in the row of their activity. */
import { isStoredObject, storedJson } from '../../lib/text/stored-json.ts';
import type { Reader } from '../connection.ts';
import type { ActivityRow } from './activities.ts';
import { findUserSnapshot } from './user-snapshots.ts';

export type Selection = 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';

/** The voter's snapshot is named by its hash. */
export interface Vote {
  readonly id: string;
  readonly userId: string;
  readonly snapshot: string;
  readonly selection: Selection;
  /** The body that was signed. */
  readonly message: string;
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
  readonly createdAt: number;
}

/**
 * In the order in which they were given; the first is the submitter's.
 * @returns undefined where one of them, or its voter, cannot be read. Nothing is decided by such a row.
 */
export function readVotes(tx: Reader, { votes }: Pick<ActivityRow, 'votes'>): readonly Vote[] | undefined {
  const read = storedJson(votes);
  if (!Array.isArray(read) || !read.every(isVote)) return undefined;
  return read.every(({ snapshot }) => findUserSnapshot(tx, snapshot) !== undefined) ? read : undefined;
}

const texts = ['id', 'userId', 'snapshot', 'message', 'publicKey', 'signature', 'scheme'] as const;
const selections: readonly unknown[] = [
  'VOTE_SELECTION_APPROVED',
  'VOTE_SELECTION_REJECTED',
] satisfies Selection[];

const isVote = (value: unknown): value is Vote =>
  isStoredObject(value) &&
  texts.every((name) => typeof value[name] === 'string') &&
  selections.includes(value['selection']) &&
  Number.isSafeInteger(value['createdAt']);
