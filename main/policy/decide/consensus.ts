/** Decides if a user's vote can matter to a consensus that is not reached yet. */
import { hash } from 'node:crypto';
import { Lru } from '../../lib/lru.ts';
import type { Program } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { isNamed, labelsOf } from './alike.ts';
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
 * one voter at a time, kind by kind, from each kind in turn, and only while the group does not reach it without
 * the user. Voters whom the consensus cannot tell apart are of one kind.
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
  const labelOf = labelsOf(consensus);
  if (labelOf === undefined) {
    const single = rest.map((voter) => [voter]);
    return search(consensus, user, single, now, searched) === true;
  }
  const kinds = [...Map.groupBy(rest, labelOf)].sort(([a], [b]) => Number(isNamed(b)) - Number(isNamed(a)));
  // Of voters that are alike, only the number matters.
  const key = digest([labelOf(user), ...kinds.map(([label, { length }]) => [label, length])]);
  const results = resultsOf(consensus);
  const before = results.get(key);
  if (before !== undefined) return before;
  const found = search(
    consensus,
    user,
    kinds.map(([, alike]) => alike),
    now,
    searched,
  );
  if (found !== undefined) results.set(key, found);
  return found === true;
}

/** Results for groups of voters, of each consensus. They depend on nothing else. */
const known = new WeakMap<Program, Lru<string, boolean>>();
const mostKnown = 100;

const digest = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url');

function resultsOf(consensus: Program): Lru<string, boolean> {
  const results = known.get(consensus) ?? new Lru<string, boolean>(mostKnown);
  known.set(consensus, results);
  return results;
}

type Kinds = readonly (readonly Voter[])[];

/** Each kind comes first once, and the others follow in turn: forwards, and backwards, which lets a kind meet any other first. */
function* ordersOf(kinds: Kinds): Generator<Kinds> {
  // Of two, there are no more orders.
  const ways = kinds.length > 2 ? [kinds, kinds.toReversed()] : [kinds];
  for (const way of ways) {
    for (const first of way.keys()) yield [...way.slice(first), ...way.slice(0, first)];
  }
}

/** @returns undefined where the limits end the search. */
function search(
  consensus: Program,
  user: Voter,
  kinds: Kinds,
  now: number,
  searched: Searched,
): boolean | undefined {
  const length = Math.ceil(consensus.source.length / charactersOfStep);
  const holds = (group: readonly Voter[]): boolean => {
    const evaluation = new Evaluation(consensusFacts(group), now);
    const value = evaluation.start(consensus.run);
    searched.tries += 1;
    searched.steps += evaluation.steps + length;
    return value === true;
  };

  if (holds([user]) && !holds([])) return true;
  for (const order of ordersOf(kinds)) {
    let group: readonly Voter[] = [];
    for (const alike of order) {
      for (const other of alike) {
        if (searched.tries >= maxTries || searched.steps >= maxSearchSteps) return undefined;
        const larger = [...group, other];
        // It would with any of them.
        if (holds(larger)) break;
        group = larger;
        if (holds([user, ...group])) return true;
      }
    }
  }
  return false;
}
