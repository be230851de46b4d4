/** Decides if a user's vote can matter to a consensus that is not reached yet. */
import type { Program } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { consensusFacts, distinct, type Voter } from './facts.ts';

/** Limits for all searches of one decision: evaluations, their steps, and the characters that they read. */
const maxTries = 2_000;
const maxSearchSteps = 1_000_000;
const charactersOfStep = 16;

/** The cost of the searches of one decision. */
export interface Searched {
  tries: number;
  steps: number;
}

export const nothingSearched = (): Searched => ({ tries: 0, steps: 0 });

/**
 * A user is part of a consensus if some group of voters reaches it with the user and not without. Groups grow
 * one voter at a time, from each voter in turn, and only while the group does not reach it without the user.
 * If more approval never breaks the consensus, and it is not contrived, this finds such a group if there is
 * one. If it finds none, or reaches its limits, the answer is false.
 * @param user With the credential of the vote, given or possible.
 * @param others All other users who have voted or could.
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
