/** Whether a user's vote can matter to a consensus that is not reached yet. */
import type { Program } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { consensusFacts, distinct, type Voter } from './facts.ts';

/** What the searches of one decision may cost together: evaluations, the steps of all of them, and what they read. */
const maxTries = 2_000;
const maxSearchSteps = 1_000_000;
const charactersOfStep = 16;

/** What the searches of one decision have cost. */
export interface Searched {
  tries: number;
  steps: number;
}

export const nothingSearched = (): Searched => ({ tries: 0, steps: 0 });

/**
 * A user is part of a consensus when some group of voters reaches it with the user and not without. Groups are grown one
 * voter at a time, from each voter in turn, and only by those with whom it is still not reached without the user. For a
 * consensus that more approval never breaks, and that is not contrived, this finds such a group where there is one; where
 * it finds none, or may not go on, the answer is no.
 * @param user With what the vote is, or would be, stamped with.
 * @param others Everybody else who has voted or could.
 */
export function isPart(
  consensus: Program,
  user: Voter,
  others: readonly Voter[],
  now: number,
  searched: Searched,
): boolean {
  const rest = distinct(others.filter(({ userId }) => userId !== user.userId));
  const length = Math.ceil(consensus.source.length / charactersOfStep);
  const holds = (group: readonly Voter[]): boolean => {
    const evaluation = new Evaluation(consensusFacts(group), now);
    const value = evaluation.start(consensus.run);
    searched.tries += 1;
    searched.steps += evaluation.steps + length;
    return value === true;
  };
  const decides = (group: readonly Voter[]): boolean => holds([user, ...group]) && !holds(group);

  if (decides([])) return true;
  for (const first of rest.keys()) {
    let group: readonly Voter[] = [];
    for (const other of [...rest.slice(first), ...rest.slice(0, first)]) {
      if (searched.tries >= maxTries || searched.steps >= maxSearchSteps) return false;
      const larger = [...group, other];
      if (holds(larger)) continue;
      group = larger;
      if (holds([user, ...group])) return true;
    }
  }
  return false;
}
