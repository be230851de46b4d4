/** One evaluation of a program: what it may look at, how far it may go, and how it may fail. */
import type { Span } from './syntax.ts';

/** Why an expression has no value. */
export interface Fault {
  /**
   * `missing`: it asks for what this activity does not have. `unknown`: it asks for what the activity has and the vault
   * cannot tell. `invalid`: it does what cannot be done, as to look past the end of a list. `limit`: it takes too many
   * steps.
   */
  readonly kind: 'missing' | 'unknown' | 'invalid' | 'limit';
  readonly message: string;
  readonly at: Span;
}

/**
 * Budgets are ours. `RollingSum(amount, window, ...by)` is the amount allowed within the window, this
 * activity included. `RollingCount(window, ...by)` counts signatures, or activities of kinds that do not
 * sign. Both count activities for which each expression of `by` has its current value.
 * `RollingSum(eth.tx.outflow, '24h', signing_key.public_key) <= 10` in a policy to allow, or `> 10` in one to
 * deny, limits what leaves a key in a day. Every allowed activity counts, under any policy: expressions with
 * the same amount and the same `by` share one counter, for all windows. A name of the key that signs stands
 * for the key: `wallet_account.address`, `private_key.id` and `activity.params.sign_with` in `by` are
 * `signing_key.public_key`.
 *
 * An unknown amount is not counted. A policy to allow that counts it does not allow, and a policy to deny
 * denies. Only another policy or the root quorum can allow it.
 *
 * Budgets are exact if the decision, its reservations and the allowed writes are one transaction: a failure
 * undoes its reservations too, and no other decision comes in between.
 */
export interface Counter {
  /** The expression of the amount, or empty where signatures are counted. */
  readonly measure: string;
  /** The expressions it is kept by, each with its value, in a text that is the same for the same. */
  readonly by: string;
}

/** An amount that an allowed activity adds to a counter. */
export interface Reservation extends Counter {
  readonly amount: bigint;
}

/** Earlier reservations. */
export interface Counters {
  /** @returns the sum of the amounts reserved after `since`, in milliseconds since 1970, and not released. */
  total(counter: Counter, since: number): bigint;
}

/** Elements of lists that a program may go through, each counted with what is done to it. */
export const maxSteps = 100_000;
/** The same for all programs of one decision: those that come after run out of steps. */
export const maxStepsOfAll = 1_000_000;

/** Answers a fact by its keyword; undefined where the activity has none. */
export type LoadFact = (keyword: string) => unknown;

/** The steps of all programs of one decision, which its evaluations share. */
export interface Spent {
  steps: number;
}

export class Evaluation {
  readonly load: LoadFact;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly counters: Counters | undefined;
  /** The elements that the iterations around a node stand at, outermost first. */
  readonly variables: unknown[] = [];
  /** The first fault, or the first grave one. */
  fault: Fault | undefined;
  /** Number of faults other than a missing fact. */
  graveFaults = 0;
  /** Number of missing facts. */
  missing = 0;
  /** True if an element of a list lacks a fact that is asked of each. */
  elementLacks = false;
  /**
   * If true, a fault does not change a result that is certain without it: `false && fault` is false then, and
   * `true || fault` is true.
   */
  lenient = false;
  steps = 0;
  readonly #spent: Spent;

  constructor(load: LoadFact, now: number, counters?: Counters, spent: Spent = { steps: 0 }) {
    this.load = load;
    this.now = now;
    this.counters = counters;
    this.#spent = spent;
  }

  /**
   * @param message Made when it is kept, where it costs something to make.
   * @returns undefined, which no value is, so that a node that fails may return what this returns.
   */
  fail(kind: Fault['kind'], at: Span, message: string | (() => string)): unknown {
    const grave = kind !== 'missing';
    if (this.fault === undefined || (grave && this.graveFaults === 0)) {
      const text = typeof message === 'string' ? message : message();
      this.fault = { kind, message: text, at: { from: at.from, to: at.to } };
    }
    if (grave) this.graveFaults += 1;
    else this.missing += 1;
    return undefined;
  }

  /** Takes steps, and says whether there were any left. */
  step(count: number, at: Span): boolean {
    this.steps += count;
    this.#spent.steps += count;
    if (!this.exhausted) return true;
    this.fail('limit', at, 'too many steps');
    return false;
  }

  get exhausted(): boolean {
    return this.steps > maxSteps || this.#spent.steps > maxStepsOfAll;
  }

  /** Starts a program over, with steps of its own. */
  start(run: Run, lenient = false): unknown {
    this.fault = undefined;
    this.graveFaults = 0;
    this.elementLacks = false;
    this.lenient = lenient;
    this.steps = 0;
    return lenient ? this.leniently(run) : run(this);
  }

  /** An expression that merely lacks a fact is false; of a sum, it adds nothing. */
  leniently(run: Run, lacking: false | 0 = false): unknown {
    const before = this.graveFaults;
    const value = run(this);
    return value === undefined && this.graveFaults === before ? lacking : value;
  }
}

/** A node made into a function. Undefined means that the evaluation has a fault. */
export type Run = (evaluation: Evaluation) => unknown;
