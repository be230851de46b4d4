/**
 * Finds what a user could do, before there is an activity. Conditions are evaluated as far as the kind of
 * activity and the user decide them; the rest depends.
 */
import { once } from '../../lib/once.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { isChainKeyword, isOfTransactions } from '../language/chain-keywords.ts';
import { compile, type Program } from '../language/compile.ts';
import { isPart, nothingSearched, type Searched } from '../decide/consensus.ts';
import { Evaluation, type LoadFact } from '../language/evaluation.ts';
import { allFacts, consensusFacts, type Voter } from '../decide/facts.ts';
import { parse } from '../language/parser.ts';
import { waysToVote } from './for-any-user.ts';
import { storedPolicy, type PolicyText } from '../decide/policies.ts';
import { print } from '../language/printer.ts';
import { keywords } from '../language/schema.ts';
import type { Logic, Node } from '../language/syntax.ts';
import { walk } from '../language/walk.ts';

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

/** Certain, or undefined where it depends. `impossible`: it asks for what no such activity has, and so never holds. */
type Possibly = boolean | undefined | 'impossible';

type Judge = (evaluation: Evaluation, has: (keyword: string) => boolean) => Possibly;

interface Rule {
  readonly policyId: string;
  readonly denies: boolean;
  readonly condition: Judge | undefined;
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
    const { policyId, effect, consensus, time, broken } = storedPolicy(text);
    const { condition = '' } = text;
    rules.push({
      policyId,
      denies: effect === 'EFFECT_DENY',
      condition:
        broken !== undefined
          ? // It allows nothing; where it was to deny it denies.
            () => effect === 'EFFECT_DENY'
          : condition.trim() === ''
            ? undefined
            : judge(parse(condition)),
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
  const has = (keyword: string): boolean => canHave(kind, keyword);
  const judged = rules.flatMap((rule) => {
    const holds = whetherHolds(rule, evaluation, has);
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

function whetherHolds(
  { time, condition }: Rule,
  evaluation: Evaluation,
  has: (keyword: string) => boolean,
): boolean | undefined {
  if (time !== undefined && evaluation.start(time.run) !== true) return false;
  if (condition === undefined) return true;
  const holds = condition(evaluation, has);
  return holds === 'impossible' ? false : holds;
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
  const reaching = ways.filter(
    (way) => new Evaluation(consensusFacts([way]), now).start(consensus.run) === true,
  );
  if (effect === 'EFFECT_DENY') {
    if (reaching.length === ways.length) return 'reached';
    return reaching.length > 0 ? 'reachable' : 'out of reach';
  }
  if (reaching.length > 0) return 'reached';
  return isPart(consensus, user, others, now, searched) ? 'reachable' : 'out of reach';
}

/** The facts of any activity of a kind; the rest depends. */
const factsOf = (user: Voter, { type, kind, resource, action }: ActivityKind, now: number): LoadFact =>
  allFacts(
    { approvers: [user], rootQuorumThreshold: Infinity, now },
    {
      activity: () => ({ type, kind, resource, action }),
    },
  );

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

/** Nothing is cut short: one part that asks for what is not there keeps the whole from holding. */
function judge(node: Node): Judge {
  if (node.kind === 'logic') return joined(node.operator, node.operands.map(judge));
  if (node.kind === 'not') {
    const of = judge(node.of);
    return (evaluation, has) => {
      const value = of(evaluation, has);
      return typeof value === 'boolean' ? !value : value;
    };
  }
  const { run } = compile(print(node), 'condition');
  const needs = keywordsIn(node);
  return (evaluation, has) => {
    if (!needs.every(has)) return 'impossible';
    const value = evaluation.start(run);
    return typeof value === 'boolean' ? value : undefined;
  };
}

function joined(operator: Logic, parts: readonly Judge[]): Judge {
  return (evaluation, has) => {
    const values = parts.map((part) => part(evaluation, has));
    if (values.includes('impossible')) return 'impossible';
    // A part that is not known may be one that goes wrong: only "and" can be settled without it.
    if (operator === '&&' && values.includes(false)) return false;
    if (values.includes(undefined)) return undefined;
    return operator === '&&' ? true : values.includes(true);
  };
}

/** The keywords that are read in any case. What is asked of each element of a list is not asked of an empty one. */
function keywordsIn(node: Node): readonly string[] {
  const found = new Set<string>();
  walk(node, (each, variables) => {
    const base = each.kind === 'field' ? each.of : each;
    if (base.kind !== 'name' || variables.size > 0) return;
    const text = print(each);
    if (Object.hasOwn(keywords.condition, text)) found.add(text);
  });
  return [...found];
}
