import { describe, expect, test } from 'vitest';
import { approvalsLapseAt, approvalWindowMs } from '../../lib/web/needed-approvals.ts';
import type { Selection, Vote } from '../../storage/tables/votes.ts';
import { standingApprovals } from './votes.ts';

const vote = (id: string, createdAt: number, selection: Selection = 'VOTE_SELECTION_APPROVED'): Vote => ({
  id,
  userId: id,
  snapshot: '',
  selection,
  message: '',
  publicKey: '',
  signature: '',
  scheme: '',
  createdAt,
});

const day = approvalWindowMs;
const standing = (votes: readonly Vote[], now: number): readonly string[] =>
  standingApprovals(votes, now).map(({ id }) => id);

describe('approvals', () => {
  test('stand for a day from the first of them, and lapse together', () => {
    const votes = [vote('a', 0), vote('b', day - 1)];
    expect(standing(votes, day - 1)).toEqual(['a', 'b']);
    expect(standing(votes, day)).toEqual([]);
  });

  test('begin another window when one is given after that', () => {
    const votes = [vote('a', 0), vote('b', 10), vote('c', day), vote('d', day + 5)];
    expect(standing(votes, day + 5)).toEqual(['c', 'd']);
    expect(standing(votes, 2 * day - 1)).toEqual(['c', 'd']);
    expect(standing(votes, 2 * day)).toEqual([]);
  });

  test('say when they lapse, as the API shows their times', () => {
    const shown = (...times: readonly number[]) =>
      approvalsLapseAt(
        times.map((time) => ({
          selection: 'VOTE_SELECTION_APPROVED',
          createdAt: { seconds: String(Math.floor(time / 1000)), nanos: String((time % 1000) * 1e6) },
        })),
      );
    expect(shown(1500, 2500)).toBe(1500 + day);
    expect(shown(1500, 2500 + day)).toBe(2500 + 2 * day);
    expect(shown()).toBeUndefined();
  });

  test('are not rejections', () => {
    expect(standing([vote('a', 0), vote('b', 1, 'VOTE_SELECTION_REJECTED')], 2)).toEqual(['a']);
  });

  test('stand also where the clock was put back, for a day at most', () => {
    expect(standing([vote('a', 1000), vote('b', 10)], 20)).toEqual(['a', 'b']);
    expect(standing([vote('a', 30 * day)], 29 * day + 1)).toEqual(['a']);
    expect(standing([vote('a', 30 * day)], 29 * day)).toEqual([]);
    // A vote with a correct clock counts on its own.
    expect(standing([vote('a', 30 * day), vote('b', 10)], 20)).toEqual(['b']);
  });
});
