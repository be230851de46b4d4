/**
 * Decides if an activity may happen, from the facts about it and nothing else.
 *
 * The root quorum may do anything. For other users, a policy that denies wins over any that allow. If none
 * allows, a policy whose consensus the submitter is part of waits for the others. A user may change its own
 * credentials. The rest is denied. An activity with several items is decided item by item. It is allowed if
 * each item is, by any policies, and the budgets of an item count the items before it.
 *
 * A policy to allow allows only what is known. A policy to deny also denies if it might deny once all were
 * known.
 */
import { once } from '../../lib/once.ts';
import { isPart, nothingSearched } from './consensus.ts';
import { Evaluation } from '../language/evaluation.ts';
import { submitterOf, type Facts, type Voter } from './facts.ts';
import { throughItems, type Counting, type Evaluated } from './items.ts';
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
  /**
   * One for each policy, in their order; none where policies have no say. Of an activity with several items they are those
   * of the item that settled it; where all are allowed, a policy's outcome is the best that it came to for any of them.
   */
  readonly evaluations: readonly PolicyEvaluation[];
  /** Of the policies that settled it. */
  readonly policyIds: readonly string[];
  /** The item that settled it, from 0: the first that is denied, that nothing allows, or that waits. */
  readonly item: number;
}

export type Verdict = Decided &
  /** Its reservations are kept in the transaction that executes the activity, and given back if it fails. */
  (
    | ({ readonly outcome: 'allow' } & Counting)
    /** The activity waits for more votes. */
    | { readonly outcome: 'consensus'; readonly reason: string }
    | { readonly outcome: 'deny'; readonly reason: string }
  );

const nothingAllows = 'No policies evaluated to outcome: Allow';

export function decide(facts: Facts): Verdict {
  const { rootQuorumThreshold, rootQuorumOnly = false } = facts;
  const nothing: Decided = { evaluations: [], policyIds: [], item: 0 };
  if (isRootQuorum(facts.approvers, rootQuorumThreshold)) {
    return { outcome: 'allow', ...nothing, ...throughItems(facts) };
  }

  // The quorum may still come together, and then no policy stands against it: not even one that denies. Else a policy
  // could keep the quorum from removing it.
  const waitsForRoot = submitterOf(facts)?.root === true;
  const without = (reason: string, decided: Decided): Verdict => ({
    outcome: waitsForRoot ? 'consensus' : 'deny',
    reason,
    ...decided,
  });
  if (rootQuorumOnly) return without(nothingAllows, nothing);

  const judged: Judged[] = [];
  const waits = partOf(facts, submitterOf(facts));
  const ownCredentials = facts.ownCredentials === true && submitterApproves(facts);
  const counting = throughItems(facts, (item) =>
    judged.push(judge(item, { ...facts, ownCredentials }, waits)),
  );
  const worst = standings.find((standing) => judged.some((each) => each.standing === standing));
  const item = judged.findIndex(({ standing }) => standing === worst);
  const { evaluations = [], policyIds = [] } = judged[item] ?? {};
  const decided: Decided = { evaluations, policyIds, item };
  const where = judged.length === 1 ? '' : ` (item ${String(item + 1)} of ${String(judged.length)})`;
  switch (worst) {
    case 'allowed':
      return { outcome: 'allow', ...together(judged), item, ...counting };
    case 'waiting':
      return { outcome: 'consensus', reason: `${nothingAllows}${where}`, ...decided };
    case 'denied':
      return without(`The following policies denied this action: ${policyIds.join(', ')}${where}`, decided);
    default:
      return without(`${nothingAllows}${where}`, decided);
  }
}

/** False once the submitter's own vote has lapsed, or the credential that it was stamped with is gone. */
function submitterApproves(facts: Facts): boolean {
  const submitter = submitterOf(facts);
  return facts.approvers.some(({ userId }) => userId === submitter?.userId);
}

/** Standings of an item, from worst to best: an activity has the worst standing of its items. */
const standings = ['denied', 'not allowed', 'waiting', 'allowed'] as const;

interface Judged extends Omit<Decided, 'item'> {
  readonly standing: (typeof standings)[number];
}

function judge(item: Evaluated, { policies = [], ownCredentials }: Facts, waits: IsPart): Judged {
  const results = policies.map((policy) => resultOf(policy, item, waits));
  const evaluations = results.map(({ policyId, outcome }) => ({ policyId, outcome }));
  const which = (wanted: (result: Result) => boolean): readonly string[] =>
    results.filter(wanted).map(({ policyId }) => policyId);

  const denying = which(({ denies }) => denies);
  if (denying.length > 0) return { standing: 'denied', evaluations, policyIds: denying };
  const allowing = which(({ outcome }) => outcome === 'OUTCOME_ALLOW');
  if (allowing.length > 0) return { standing: 'allowed', evaluations, policyIds: allowing };
  const asking = which(({ outcome }) => outcome === 'OUTCOME_REQUIRES_CONSENSUS');
  if (asking.length > 0) return { standing: 'waiting', evaluations, policyIds: asking };
  return { standing: ownCredentials === true ? 'allowed' : 'not allowed', evaluations, policyIds: [] };
}

/** From best to worst, of policies that deny nothing. */
const bestFirst: readonly PolicyOutcome[] = [
  'OUTCOME_ALLOW',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_ERROR',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_TIME_INACTIVE',
];

/** Combines the policies' results over items that are all allowed. */
function together(judged: readonly Judged[]): Omit<Judged, 'standing'> {
  const [first, ...rest] = judged.map(({ evaluations }) => evaluations);
  return {
    evaluations: (first ?? []).map(({ policyId, outcome }, index) => {
      const outcomes = [outcome, ...rest.map((evaluations) => evaluations[index]?.outcome)];
      return { policyId, outcome: bestFirst.find((each) => outcomes.includes(each)) ?? outcome };
    }),
    policyIds: [...new Set(judged.flatMap(({ policyIds }) => policyIds))],
  };
}

/** True if enough members of the root quorum have voted. */
export function isRootQuorum(approvers: readonly Voter[], threshold: number): boolean {
  const approvals = new Set(approvers.filter(({ root }) => root).map(({ userId }) => userId)).size;
  return approvals > 0 && approvals >= threshold;
}

/**
 * True if a user's approval of a waiting activity counts: as one of the root quorum, or as part of the
 * consensus of a policy that would allow one of its items.
 * @param facts As for `decide`, without the user's vote.
 */
export function mayApprove(facts: Facts, user: Voter): boolean {
  if (user.root) return true;
  if (facts.rootQuorumOnly === true) return false;
  const { policies = [] } = facts;
  const needs = partOf(facts, user);
  let may = false;
  throughItems(facts, ({ evaluation, uncounted }) => {
    may ||= policies.some((policy) => {
      const { effect, time, condition, broken } = policy;
      return (
        effect === 'EFFECT_ALLOW' &&
        broken === undefined &&
        !uncounted.has(policy) &&
        (time === undefined || evaluation.start(time.run) === true) &&
        (condition === undefined || evaluation.start(condition.run) === true) &&
        needs(policy)
      );
    });
  });
  return may;
}

/**
 * True if a policy is in force at a time.
 * @returns with `error`, the reason why that is unknown.
 */
export function isActive(
  { time, broken }: Policy,
  now: number,
): { readonly active: boolean; readonly error?: string } {
  if (broken !== undefined) return { active: false, error: broken };
  if (time === undefined) return { active: true };
  const evaluation = new Evaluation((keyword) => (keyword === 'time.now' ? now : undefined), now);
  const active = evaluation.start(time.run);
  const { fault } = evaluation;
  return fault === undefined ? { active: active === true } : { active: false, error: fault.message };
}

interface Result extends PolicyEvaluation {
  readonly denies: boolean;
}

/**
 * The result of one policy for one item.
 * @param waits Answers if the submitter is part of its consensus. Without a part in it, a request does not
 * wait.
 */
function resultOf(policy: Policy, { evaluation, uncounted }: Evaluated, waits: IsPart): Result {
  const { policyId } = policy;
  const denies = policy.effect === 'EFFECT_DENY';
  // The result of a broken policy is unknown: a policy to allow does not allow, and a policy to deny denies.
  if (policy.broken !== undefined) return { policyId, outcome: 'OUTCOME_ERROR', denies };
  const outcome = evaluate(policy, evaluation);
  switch (outcome) {
    case 'OUTCOME_ERROR':
      return { policyId, outcome, denies: denies && mayDeny(policy, evaluation) };
    case 'OUTCOME_TIME_INACTIVE':
      return { policyId, outcome, denies: false };
    default:
      // The steps sufficed for its condition, and not for its counters.
      if (uncounted.has(policy)) return { policyId, outcome: 'OUTCOME_ERROR', denies };
  }
  if (outcome !== 'OUTCOME_REQUIRES_CONSENSUS') {
    return { policyId, outcome, denies: outcome === 'OUTCOME_DENY_EXPLICIT' };
  }
  return { policyId, outcome: waits(policy) ? outcome : 'OUTCOME_DENY_IMPLICIT', denies: false };
}

type IsPart = (policy: Policy) => boolean;

/** Tells whether a user is part of the consensus of a policy; once for each, since it depends on no item. */
function partOf({ approvers, voters, now = 0 }: Facts, user: Voter | undefined): IsPart {
  const known = new Map<Policy, boolean>();
  const searched = nothingSearched();
  const others = once(() => {
    const voted = new Set(approvers.map(({ userId }) => userId));
    return [...approvers, ...(voters?.() ?? []).filter(({ userId }) => !voted.has(userId))];
  });
  return (policy) => {
    const { consensus } = policy;
    const part =
      known.get(policy) ??
      (user !== undefined && consensus !== undefined && isPart(consensus, user, others(), now, searched));
    known.set(policy, part);
    return part;
  };
}

/**
 * A faulty policy to deny must not let through what it might deny: an attacker could cause the fault by the
 * request. It does not deny if a fact is missing, as the documented error does, nor if it certainly would not
 * deny. An element of a list that lacks a fact hides none of the others: a caller could add one.
 */
function mayDeny({ condition, consensus }: Policy, evaluation: Evaluation): boolean {
  const parts = [condition, consensus].filter((program) => program !== undefined);
  let grave = false;
  for (const { run } of parts) {
    if (evaluation.start(run, true) === false) return false;
    grave ||= evaluation.graveFaults > 0 || evaluation.elementLacks;
  }
  return grave;
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
