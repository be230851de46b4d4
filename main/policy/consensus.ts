/** Whether a user's vote can matter to a consensus that is not reached yet. */
import type { Program } from './compile.ts';
import { Evaluation } from './evaluation.ts';
import { consensusFacts, distinct, type Voter } from './facts.ts';

/** What one search may cost: evaluations, and the steps of all of them. */
const maxTries = 2_000;
const maxSearchSteps = 1_000_000;

/**
 * A user is part of a consensus when some group of voters reaches it with the user and not without. Groups are grown one
 * voter at a time, from each voter in turn, and only by those with whom it is still not reached without the user. For a
 * consensus that more approval never breaks, and that is not contrived, this finds such a group where there is one; where
 * it finds none the answer is no.
 * @param user With what the vote is, or would be, stamped with.
 * @param others Everybody else who has voted or could.
 */
export function isPart(consensus: Program, user: Voter, others: readonly Voter[], now: number): boolean {
  const rest = distinct(others.filter(({ userId }) => userId !== user.userId));
  let tries = 0;
  let steps = 0;
  const holds = (group: readonly Voter[]): boolean => {
    const evaluation = new Evaluation(consensusFacts(group), now);
    const value = evaluation.start(consensus.run);
    tries += 1;
    steps += evaluation.steps;
    return value === true;
  };
  const decides = (group: readonly Voter[]): boolean => holds([user, ...group]) && !holds(group);

  if (decides([])) return true;
  for (const first of rest.keys()) {
    let group: readonly Voter[] = [];
    for (const other of [...rest.slice(first), ...rest.slice(0, first)]) {
      if (tries >= maxTries || steps >= maxSearchSteps) return false;
      const larger = [...group, other];
      if (holds(larger)) continue;
      group = larger;
      if (holds([user, ...group])) return true;
    }
  }
  return false;
}
