/**
 * Finds what a user could do, before there is an activity. Conditions are evaluated as far as the kind of
 * activity and the user decide them; the rest depends.
 */
import { once } from '../../lib/once.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { isChainKeyword, isOfTransactions } from '../language/chain-keywords.ts';
import type { Program } from '../language/compile.ts';
import { isPart, nothingSearched, type Searched } from '../decide/consensus.ts';
import { Evaluation, type LoadFact } from '../language/evaluation.ts';
import { allFacts, consensusFacts, type Voter } from '../decide/facts.ts';
import { waysToVote, waysToVoteOnce } from './for-any-user.ts';
import { storedPolicy, type PolicyText } from '../decide/policies.ts';
import { Unknown } from '../language/types.ts';

export type Reach =
  /** By itself, whatever policies say. */
  | 'REACH_ROOT_QUORUM'
  | 'REACH_ALLOWED'
  /** On its own credentials alone. */
  | 'REACH_OWN_CREDENTIALS'
  /** Once others agree. */
  | 'REACH_CONSENSUS'
  /** On what the activity is about in particular. */
  | 'REACH_DEPENDS'
  | 'REACH_DENIED';

export interface Reached {
  readonly reach: Reach;
  /** Of the policies that say so. */
  readonly policyIds: readonly string[];
}

/** A kind of activity, with what is known of any of its kind. */
export interface ActivityKind {
  readonly type: string;
  readonly kind: string | undefined;
  readonly resource: string | undefined;
  readonly action: string | undefined;
  readonly rootQuorumOnly: boolean;
  /** True if it can be about the submitter's own credentials. */
  readonly credentials: boolean;
}

interface Rule {
  readonly policyId: string;
  readonly denies: boolean;
  /** The expressions of a broken policy are undefined, and mean nothing. */
  readonly broken: boolean;
  readonly condition: Program | undefined;
  /**
   * Answers if the user alone reaches its consensus, and else if the user can do so with others. That of a denial is
   * reached if the user reaches it with each credential, and reachable if with some.
   */
  readonly consensus: () => 'reached' | 'reachable' | 'out of reach';
  readonly time: Program | undefined;
}

export interface Organization {
  readonly rootQuorumThreshold: number;
  readonly policies: readonly PolicyText[];
  /** All users who could vote. */
  readonly voters: readonly Voter[];
  readonly now: number;
}

/** @returns what a user could do of each kind, in their order. */
export function* reachOf(
  { rootQuorumThreshold, policies, voters, now }: Organization,
  user: Voter,
  kinds: readonly ActivityKind[],
): Paced<readonly Reached[]> {
  const others = voters.filter(({ userId }) => userId !== user.userId);
  const searched = nothingSearched();
  const rules: Rule[] = [];
  for (const text of policies) {
    const { policyId, effect, condition, consensus, time, broken } = storedPolicy(text);
    rules.push({
      policyId,
      denies: effect === 'EFFECT_DENY',
      broken: broken !== undefined,
      condition,
      consensus: once(() => consensusFor(effect, consensus, user, others, now, searched)),
      time,
    });
    yield;
  }
  const found: Reached[] = [];
  for (const kind of kinds) {
    found.push(ofKind(rules, kind));
    yield;
  }
  return found;

  function ofKind(known: readonly Rule[], kind: ActivityKind): Reached {
    if (user.root && rootQuorumThreshold <= 1) return { reach: 'REACH_ROOT_QUORUM', policyIds: [] };
    const reached = kind.rootQuorumOnly ? denied : byRules(known, user, kind, now);
    // The root quorum may still allow what policies do not.
    return reached.reach === 'REACH_DENIED' && user.root ? { ...reached, reach: 'REACH_CONSENSUS' } : reached;
  }
}

const denied: Reached = { reach: 'REACH_DENIED', policyIds: [] };

function byRules(rules: readonly Rule[], user: Voter, kind: ActivityKind, now: number): Reached {
  const evaluation = new Evaluation(factsOf(user, kind, now), now);
  const judged = rules.flatMap((rule) => {
    const holds = whetherHolds(rule, evaluation);
    if (holds === false) return [];
    const consensus = rule.consensus();
    if (consensus === 'out of reach') return [];
    const agreed = consensus === 'reached';
    return [{ ...rule, certain: holds === true && (agreed || !rule.denies), agreed }];
  });
  const ids = (found: readonly { readonly policyId: string }[]) => found.map(({ policyId }) => policyId);
  const denying = judged.filter(({ denies }) => denies);
  const sure = denying.filter(({ certain }) => certain);
  if (sure.length > 0) return { reach: 'REACH_DENIED', policyIds: ids(sure) };
  const allowing = judged.filter(({ denies }) => !denies);
  const alone = allowing.filter(({ certain, agreed }) => certain && agreed);
  if (allowing.length > 0 || kind.credentials) {
    if (denying.length === 0 && alone.length > 0) return { reach: 'REACH_ALLOWED', policyIds: ids(alone) };
    if (kind.credentials && denying.length === 0 && allowing.length === 0) {
      return { reach: 'REACH_OWN_CREDENTIALS', policyIds: [] };
    }
    const together = allowing.filter(({ certain }) => certain);
    if (denying.length === 0 && together.length > 0 && allowing.length === together.length) {
      return { reach: 'REACH_CONSENSUS', policyIds: ids(together) };
    }
    return { reach: 'REACH_DEPENDS', policyIds: ids([...denying, ...allowing]) };
  }
  return denied;
}

/** True or false where that is certain of every activity of the kind; undefined where it depends. */
function whetherHolds(
  { denies, broken, time, condition }: Rule,
  evaluation: Evaluation,
): boolean | undefined {
  // A broken policy allows nothing. Where it was to deny it denies.
  if (broken) return denies;
  if (time !== undefined && evaluation.start(time.run) !== true) return false;
  return condition === undefined || outcomeOf(condition, denies, evaluation);
}

/**
 * The outcome of an expression as a decision judges it. An allowing policy with a fault does not hold. A denying one may, unless
 * the fault is merely a fact that no such activity has.
 */
function outcomeOf({ run }: Program, denies: boolean, evaluation: Evaluation): boolean | undefined {
  const before = evaluation.missing;
  const value = evaluation.start(run);
  if (typeof value === 'boolean') return value;
  const lacks = evaluation.missing > before;
  const isGrave = evaluation.graveFaults > 0 || evaluation.elementLacks;
  if (lacks && !(denies && isGrave)) return false;
  return evaluation.start(run, true) === false ? false : undefined;
}

function consensusFor(
  effect: string,
  consensus: Program | undefined,
  user: Voter,
  others: readonly Voter[],
  now: number,
  searched: Searched,
): ReturnType<Rule['consensus']> {
  if (consensus === undefined) return 'reached';
  const ways = waysToVote(user);
  const asked = (way: Voter): Evaluation => new Evaluation(consensusFacts([way]), now);
  if (effect === 'EFFECT_DENY') {
    const outcome = (way: Voter) => outcomeOf(consensus, true, asked(way));
    // A denied request does not wait for a second vote.
    if (waysToVoteOnce(user).every((way) => outcome(way) === true)) return 'reached';
    const outcomes = ways.map(outcome);
    return outcomes.every((each) => each === false) ? 'out of reach' : 'reachable';
  }
  const values = ways.map((way) => asked(way).start(consensus.run));
  if (values.includes(true)) return 'reached';
  // A request does not wait for a consensus that has a fault.
  const waits = (way: Voter, at: number): boolean =>
    values[at] === false && isPart(consensus, way, others, now, searched);
  return ways.some(waits) ? 'reachable' : 'out of reach';
}

const open = new Unknown('it depends on the activity');

/** The facts of any activity of a kind: what is not known of all of its kind is unknown. */
function factsOf(user: Voter, activity: ActivityKind, now: number): LoadFact {
  const { type, kind, resource, action } = activity;
  const known = allFacts(
    { approvers: [user], rootQuorumThreshold: Infinity, now },
    { activity: () => ({ type, kind, resource, action, params: open, signatures: open }) },
  );
  return (keyword) => known(keyword) ?? (canHave(activity, keyword) ? open : undefined);
}

/**
 * True if an activity of this kind can have the keyword; a keyword that is not listed fits all. A raw payload
 * may be a transaction, whatever its type says.
 */
function canHave({ kind, resource, action }: ActivityKind, keyword: string): boolean {
  const raw = kind?.startsWith('SIGN_RAW_PAYLOAD') === true;
  if (isChainKeyword(keyword)) return raw || (isOfTransactions(keyword) && kind === 'SIGN_TRANSACTION');
  if (/^(wallets?|wallet_account|private_key)$/.test(keyword)) {
    return resource === 'WALLET' || resource === 'PRIVATE_KEY';
  }
  return keyword !== 'signing_key' || action === 'SIGN';
}
