/**
 * Whether an activity may happen, from the facts about it and nothing else.
 *
 * The root quorum may do anything. For everybody else a policy that denies wins over any that allow; where none allows,
 * one whose consensus the submitter is part of waits for the others; a user may change its own credentials; and the rest
 * is denied.
 */
import { isPart } from './consensus.ts';
import { Evaluation, type Reservation } from './evaluation.ts';
import { allFacts, distinct, submitterOf, type Facts, type Voter } from './facts.ts';
import type { Policy } from './policies.ts';

export type PolicyOutcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  /** The policy does not apply. */
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_TIME_INACTIVE';

/** As the API shows one. */
export interface PolicyEvaluation {
  readonly policyId: string;
  readonly outcome: PolicyOutcome;
}

interface Decided {
  /** One for each policy, in their order; none where policies have no say. */
  readonly evaluations: readonly PolicyEvaluation[];
}

export type Verdict = Decided &
  (
    | {
        readonly outcome: 'allow';
        /** What to add to the counters in the transaction that does what is allowed, and to release should it fail. */
        readonly reservations: readonly Reservation[];
      }
    /** The activity waits for more votes. */
    | { readonly outcome: 'consensus'; readonly reason: string }
    | { readonly outcome: 'deny'; readonly reason: string }
  );

const nothingAllows = 'No policies evaluated to outcome: Allow';

export function decide(facts: Facts): Verdict {
  const { policies = [], rootQuorumThreshold, rootQuorumOnly = false, ownCredentials = false } = facts;
  const approvers = distinct(facts.approvers);
  if (isRootQuorum(approvers, rootQuorumThreshold)) return allow(facts, []);

  // The quorum may still come together, and then no policy stands against it: not even one that denies. Else a policy
  // could keep the quorum from removing it.
  const waitsForRoot = submitterOf(facts)?.root === true;
  const without = (reason: string, evaluations: readonly PolicyEvaluation[]): Verdict => ({
    outcome: waitsForRoot ? 'consensus' : 'deny',
    reason,
    evaluations,
  });
  if (rootQuorumOnly) return without(nothingAllows, []);

  const results = evaluateAll(policies, facts, approvers);
  const evaluations = results.map(({ policyId, outcome }) => ({ policyId, outcome }));
  const denying = results.filter(({ denies }) => denies).map(({ policyId }) => policyId);
  if (denying.length > 0) {
    return without(`The following policies denied this action: ${denying.join(', ')}`, evaluations);
  }
  const some = (wanted: PolicyOutcome): boolean => results.some(({ outcome }) => outcome === wanted);
  if (some('OUTCOME_ALLOW')) return allow(facts, evaluations);
  if (some('OUTCOME_REQUIRES_CONSENSUS')) return { outcome: 'consensus', reason: nothingAllows, evaluations };
  if (ownCredentials) return allow(facts, evaluations);
  return without(nothingAllows, evaluations);
}

/** Whether as many members of the root quorum have voted as it takes. */
export function isRootQuorum(approvers: readonly Voter[], threshold: number): boolean {
  const approvals = new Set(approvers.filter(({ root }) => root).map(({ userId }) => userId)).size;
  return approvals > 0 && approvals >= threshold;
}

/**
 * Whether a user's approval of a waiting activity counts for something: as one of the root quorum, or as part of the
 * consensus of a policy that would allow it.
 * @param facts As for `decide`, without the user's vote.
 */
export function mayApprove(facts: Facts, user: Voter): boolean {
  if (user.root) return true;
  if (facts.rootQuorumOnly === true) return false;
  const { policies = [], voters, now = 0 } = facts;
  const others = [...facts.approvers, ...absent(facts.approvers, voters)];
  const evaluation = newEvaluation(facts);
  return policies.some(
    ({ effect, time, condition, consensus, broken }) =>
      effect === 'EFFECT_ALLOW' &&
      broken === undefined &&
      consensus !== undefined &&
      (time === undefined || evaluation.start(time.run) === true) &&
      (condition === undefined || evaluation.start(condition.run) === true) &&
      isPart(consensus, user, others, now),
  );
}

/**
 * Whether a policy is in force at a time.
 * @returns with `error`, why that cannot be said.
 */
export function isActive(
  { time, broken }: Policy,
  now: number,
): { readonly active: boolean; readonly error?: string } {
  if (broken !== undefined) return { active: false, error: broken };
  if (time === undefined) return { active: true };
  const evaluation = newEvaluation({ approvers: [], rootQuorumThreshold: 0, now });
  const active = evaluation.start(time.run);
  const { fault } = evaluation;
  return fault === undefined ? { active: active === true } : { active: false, error: fault.message };
}

interface Result extends PolicyEvaluation {
  readonly denies: boolean;
}

function evaluateAll(policies: readonly Policy[], facts: Facts, approvers: readonly Voter[]): Result[] {
  const evaluation = newEvaluation(facts);
  return policies.map((policy) => {
    if (policy.broken !== undefined) {
      // What it would have said is not known: it allows nothing, and where it was to deny it denies.
      return { policyId: policy.policyId, outcome: 'OUTCOME_ERROR', denies: policy.effect === 'EFFECT_DENY' };
    }
    const outcome = evaluate(policy, evaluation);
    if (outcome !== 'OUTCOME_REQUIRES_CONSENSUS') {
      const denies = outcome === 'OUTCOME_DENY_EXPLICIT' || (outcome === 'OUTCOME_ERROR' && mayDeny(policy));
      return { policyId: policy.policyId, outcome, denies };
    }
    return { policyId: policy.policyId, outcome: pending(policy), denies: false };
  });

  /** Nobody waits for a consensus that the submitter has no part in. */
  function pending({ consensus }: Policy): PolicyOutcome {
    const submitter = submitterOf(facts);
    if (submitter === undefined || consensus === undefined) return 'OUTCOME_DENY_IMPLICIT';
    const others = [...approvers, ...absent(approvers, facts.voters)];
    return isPart(consensus, submitter, others, evaluation.now)
      ? 'OUTCOME_REQUIRES_CONSENSUS'
      : 'OUTCOME_DENY_IMPLICIT';
  }

  /**
   * A policy to deny that goes wrong must not let through what it might deny: a request could be made so that it does. It
   * lets through what lacks a fact, as the documented error does, and what it would certainly not deny.
   */
  function mayDeny({ effect, condition, consensus }: Policy): boolean {
    if (effect !== 'EFFECT_DENY') return false;
    const parts = [condition, consensus].filter((program) => program !== undefined);
    let grave = false;
    for (const { run } of parts) {
      if (evaluation.start(run, true) === false) return false;
      grave ||= evaluation.graveFaults > 0;
    }
    return grave;
  }
}

/** Every part is evaluated, whatever the others say. */
function evaluate({ effect, condition, consensus, time }: Policy, evaluation: Evaluation): PolicyOutcome {
  const active = time === undefined || evaluation.start(time.run);
  if (active === undefined) return 'OUTCOME_ERROR';
  if (active === false) return 'OUTCOME_TIME_INACTIVE';
  const applies = condition === undefined || evaluation.start(condition.run);
  const agreed = consensus === undefined || evaluation.start(consensus.run);
  if (applies === undefined || agreed === undefined) return 'OUTCOME_ERROR';
  if (applies === false) return 'OUTCOME_DENY_IMPLICIT';
  if (effect === 'EFFECT_DENY') return agreed === true ? 'OUTCOME_DENY_EXPLICIT' : 'OUTCOME_DENY_IMPLICIT';
  return agreed === true ? 'OUTCOME_ALLOW' : 'OUTCOME_REQUIRES_CONSENSUS';
}

/** Whatever is allowed counts, whoever allowed it and whichever policies apply. */
function allow(facts: Facts, evaluations: readonly PolicyEvaluation[]): Verdict {
  const { policies = [] } = facts;
  const reservations = new Map<string, Reservation>();
  const counting = policies.flatMap(({ condition }) => condition?.reservations ?? []);
  if (counting.length > 0) {
    const evaluation = newEvaluation(facts);
    for (const reserve of counting) {
      const reservation = evaluation.start(reserve) as Reservation | undefined;
      if (reservation === undefined) continue;
      reservations.set(JSON.stringify([reservation.measure, reservation.by]), reservation);
    }
  }
  return { outcome: 'allow', evaluations, reservations: [...reservations.values()] };
}

function absent(approvers: readonly Voter[], voters: (() => readonly Voter[]) | undefined): readonly Voter[] {
  const voted = new Set(approvers.map(({ userId }) => userId));
  return (voters?.() ?? []).filter(({ userId }) => !voted.has(userId));
}

const newEvaluation = (facts: Facts): Evaluation =>
  new Evaluation(allFacts(facts), facts.now ?? 0, facts.counters);
