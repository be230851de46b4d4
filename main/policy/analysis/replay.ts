/** Policies tried on what has happened: what each activity would have been decided, by what, and which rules never held. */
import type { Paced } from '../../lib/concurrency/paced.ts';
import { compile, type Program } from '../language/compile.ts';
import { decide, isRootQuorum, type PolicyOutcome, type Verdict } from '../decide/decide.ts';
import type { Counter, Counters } from '../language/evaluation.ts';
import type { Facts } from '../decide/facts.ts';
import { throughItems } from '../decide/items.ts';
import { parse } from '../language/parser.ts';
import { storedPolicy, type Policy, type PolicyText } from '../decide/policies.ts';
import type { Node, Span } from '../language/syntax.ts';

/** An activity as policies saw it, with all who approved it, the submitter first. `now` is the time of the activity. */
export type Case = Omit<Facts, 'policies' | 'counters'>;

/** The rule that settled a decision. */
export type Decider =
  | 'DECIDER_ROOT_QUORUM'
  | 'DECIDER_POLICIES'
  | 'DECIDER_OWN_CREDENTIALS'
  /** Nothing allowed it. */
  | 'DECIDER_NOTHING';

export interface Decision {
  readonly outcome: Verdict['outcome'];
  readonly decidedBy: Decider;
  /** Of the policies that settled it. */
  readonly policyIds: readonly string[];
}

/** The results of one policy over all cases. */
export interface Coverage {
  readonly policyId: string;
  /** Cases in which its condition held for some item, for any decider; without a condition, all cases. */
  readonly held: number;
  /** In how many cases it settled the decision. */
  readonly decided: number;
  /** Number of cases for each outcome, among those that policies decided about. */
  readonly outcomes: Readonly<Partial<Record<PolicyOutcome, number>>>;
  /**
   * The first parts of its condition that `&&` or `||` join: in how many cases each was true, false or at
   * fault.
   */
  readonly clauses: readonly Clause[];
}

export interface Clause extends Span {
  readonly text: string;
  readonly held: number;
  readonly failed: number;
  readonly faults: number;
}

export interface Replay {
  /** One for each case, in their order. */
  readonly decisions: readonly Decision[];
  /** One for each policy, in their order. */
  readonly coverage: readonly Coverage[];
}

/**
 * Rolling functions count what this replay allowed before, and nothing from before its first case.
 * @param cases In the order in which they happened.
 */
export function* replay(cases: readonly Case[], texts: readonly PolicyText[]): Paced<Replay> {
  const policies: Policy[] = [];
  const tallies: Tally[] = [];
  for (const text of texts) {
    const policy = storedPolicy(text);
    policies.push(policy);
    tallies.push(new Tally(text, policy.broken !== undefined));
    yield;
  }
  const counters = new ReplayCounters();
  const decisions: Decision[] = [];
  for (const each of cases) {
    const facts: Facts = { ...each, policies, counters };
    const verdict = decideInTurn(facts);
    const decision = { outcome: verdict.outcome, ...settledBy(facts, verdict) };
    yield;
    for (const [index, tally] of tallies.entries()) {
      tally.add(facts, verdict, decision);
      if (index % talliesInStep === talliesInStep - 1) yield;
    }
    if (verdict.outcome === 'allow') counters.keep(verdict.reservations, each.now ?? 0);
    decisions.push(decision);
  }
  return { decisions, coverage: tallies.map((tally) => tally.total()) };
}

/** Each goes through all items of a case. */
const talliesInStep = 5;

/**
 * Decides a submitter's denial at once: only an activity that waits is decided again with the other votes.
 */
function decideInTurn(facts: Facts): Verdict {
  const alone = decide({ ...facts, approvers: facts.approvers.slice(0, 1) });
  return alone.outcome === 'consensus' && facts.approvers.length > 1 ? decide(facts) : alone;
}

/** Finds the rule that settled a verdict. */
export function settledBy(
  facts: Facts,
  { outcome, policyIds }: Verdict,
): Pick<Decision, 'decidedBy' | 'policyIds'> {
  return { decidedBy: policyIds.length > 0 ? 'DECIDER_POLICIES' : beside(facts, outcome), policyIds };
}

/** The decider where policies do not settle. */
function beside(facts: Facts, outcome: Verdict['outcome']): Decider {
  if (outcome === 'consensus' || isRootQuorum(facts.approvers, facts.rootQuorumThreshold)) {
    return 'DECIDER_ROOT_QUORUM';
  }
  return outcome === 'allow' ? 'DECIDER_OWN_CREDENTIALS' : 'DECIDER_NOTHING';
}

/** The same case without root users: the decision of policies alone. */
export const withoutRootQuorum = (each: Case): Case => {
  const { voters } = each;
  const plain = (users: Case['approvers']): Case['approvers'] =>
    users.map((user) => ({ ...user, root: false }));
  return {
    ...each,
    approvers: plain(each.approvers),
    ...(voters === undefined ? {} : { voters: () => plain(voters()) }),
  };
};

class ReplayCounters implements Counters {
  readonly #kept = new Map<string, { readonly at: number; readonly amount: bigint }[]>();

  total(counter: Counter, since: number): bigint {
    const kept = this.#kept.get(keyOf(counter)) ?? [];
    return kept.reduce((sum, { at, amount }) => (at > since ? sum + amount : sum), 0n);
  }

  keep(reservations: readonly (Counter & { readonly amount: bigint })[], at: number): void {
    for (const { amount, ...counter } of reservations) {
      const key = keyOf(counter);
      const kept = this.#kept.get(key) ?? [];
      kept.push({ at, amount });
      this.#kept.set(key, kept);
    }
  }
}

const keyOf = ({ measure, by }: Counter): string => JSON.stringify([measure, by]);

/** More than a person reads of one condition. */
const mostClauses = 100;

class Tally {
  readonly #policyId: string;
  readonly #broken: boolean;
  readonly #condition: Program | undefined;
  readonly #clauses: readonly { -readonly [Key in keyof Clause]: Clause[Key] }[];
  /** Values of the condition's parts, by their position. */
  readonly #values = new Map<string, unknown>();
  readonly #outcomes: Partial<Record<PolicyOutcome, number>> = {};
  #held = 0;
  #decided = 0;

  /** @param broken Whether it does not compile, and so holds nowhere. */
  constructor({ policyId, condition = '' }: PolicyText, broken: boolean) {
    this.#policyId = policyId;
    this.#broken = broken;
    if (broken || condition.trim() === '') {
      this.#clauses = [];
      return;
    }
    this.#condition = compile(condition, 'condition', (node, value) => {
      this.#values.set(textOf(node), value);
    });
    const tree = parse(condition);
    const parts = tree.kind === 'logic' ? tree.operands : [tree];
    this.#clauses = parts.slice(0, mostClauses).map(({ from, to }) => ({
      from,
      to,
      text: condition.slice(from, to),
      held: 0,
      failed: 0,
      faults: 0,
    }));
  }

  add(facts: Facts, { evaluations }: Verdict, { policyIds }: Decision): void {
    const outcome = evaluations.find(({ policyId }) => policyId === this.#policyId)?.outcome;
    if (outcome !== undefined) this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (policyIds.includes(this.#policyId)) this.#decided += 1;
    if (this.#condition === undefined) {
      if (!this.#broken) this.#held += 1;
      return;
    }
    const condition = this.#condition;
    const values = this.#clauses.map((): unknown[] => []);
    const wholes: unknown[] = [];
    throughItems(facts, ({ evaluation }) => {
      this.#values.clear();
      wholes.push(evaluation.start(condition.run));
      for (const [index, clause] of this.#clauses.entries()) {
        values[index]?.push(this.#values.get(textOf(clause)));
      }
    });
    if (wholes.includes(true)) this.#held += 1;
    for (const [index, clause] of this.#clauses.entries()) {
      const found = values[index] ?? [];
      if (found.includes(true)) clause.held += 1;
      else if (found.includes(undefined)) clause.faults += 1;
      else clause.failed += 1;
    }
  }

  total(): Coverage {
    return {
      policyId: this.#policyId,
      held: this.#held,
      decided: this.#decided,
      outcomes: this.#outcomes,
      clauses: this.#clauses,
    };
  }
}

const textOf = ({ from, to }: Span | Node): string => `${from}:${to}`;
