/**
 * Goes through the items of an activity, in their order. Each is evaluated as if those before it had been allowed: rolling
 * functions count them.
 */
import {
  Evaluation,
  type Counter,
  type Counters,
  type Reservation,
  type Spent,
} from '../language/evaluation.ts';
import type { Reserve } from '../language/functions.ts';
import { factsOfItems, itemsOf, type Facts } from './facts.ts';
import type { Policy } from './policies.ts';

/** An item as policies see it. */
export interface Evaluated {
  readonly evaluation: Evaluation;
  /** Policies with a counter that cannot be counted: its amount or its key is unknown. */
  readonly uncounted: ReadonlySet<Policy>;
}

/** The part of an allowed activity that counters see. */
export interface Counting {
  /** Added to the counters of all policies. */
  readonly reservations: readonly Reservation[];
  /**
   * Thrown by a fact that counting asked for, as of a key that is not there. An activity that is allowed all the same fails of
   * it where it is executed: nothing happens uncounted, and the log has the activity as it would without counters.
   */
  readonly failure?: Error;
}

/** @param visit Called for each item. */
export function throughItems(facts: Facts, visit: (item: Evaluated) => void = () => undefined): Counting {
  const { policies = [], now = 0 } = facts;
  const counting = policies.filter(({ condition }) => (condition?.reservations.length ?? 0) > 0);
  const pending = new Pending(facts.counters);
  const counters = facts.counters && pending;
  // Two purses: an item whose conditions were afforded can be counted too.
  const decided: Spent = { steps: 0 };
  const counted: Spent = { steps: 0 };
  const factsOf = factsOfItems(facts);
  let failure: Error | undefined;
  for (const item of itemsOf(facts)) {
    const load = factsOf(item);
    let counts: Counted = nothingCounted;
    try {
      counts = countItem(counting, new Evaluation(load, now, undefined, counted));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failure ??= error;
    }
    const { reservations, uncounted } = counts;
    visit({ evaluation: new Evaluation(load, now, counters, decided), uncounted });
    pending.add(reservations);
  }
  return failure === undefined ? { reservations: pending.all() } : { reservations: [], failure };
}

interface Counted {
  readonly reservations: readonly Reservation[];
  readonly uncounted: ReadonlySet<Policy>;
}

const nothingCounted: Counted = { reservations: [], uncounted: new Set() };

/** A counter that several policies share is looked at once, and added to once. */
function countItem(counting: readonly Policy[], evaluation: Evaluation): Counted {
  const found = new Map<string, ReturnType<typeof reservationOf>>();
  const reservations = new Map<string, Reservation>();
  const uncounted = new Set<Policy>();
  for (const policy of counting) {
    for (const { counter, run } of policy.condition?.reservations ?? []) {
      const reservation = found.get(counter) ?? reservationOf(run, evaluation);
      found.set(counter, reservation);
      if (reservation === 'unknown') uncounted.add(policy);
      else if (reservation !== 'nothing') reservations.set(keyOf(reservation), reservation);
    }
  }
  return { reservations: [...reservations.values()], uncounted };
}

function reservationOf(reserve: Reserve['run'], evaluation: Evaluation): Reservation | 'nothing' | 'unknown' {
  const whole = evaluation.start(reserve);
  // Elements of a list that lack the amount add nothing to that of the others.
  const reservation = (whole ?? (evaluation.elementLacks && evaluation.start(reserve, true))) as
    | Reservation
    | false
    | undefined;
  if (reservation !== undefined && reservation !== false) return reservation;
  return evaluation.graveFaults > 0 ? 'unknown' : 'nothing';
}

/** Counters with what the items before add to them. */
class Pending implements Counters {
  readonly #before: Counters | undefined;
  /** As of the decision: no item changes them. */
  readonly #known = new Map<string, bigint>();
  readonly #added = new Map<string, Reservation>();

  constructor(before: Counters | undefined) {
    this.#before = before;
  }

  /** Amounts of this decision are added now, and so are within any window. */
  total(counter: Counter, since: number): bigint {
    const key = keyOf(counter);
    const sought = `${key} ${String(since)}`;
    const before = this.#known.get(sought) ?? this.#before?.total(counter, since) ?? 0n;
    this.#known.set(sought, before);
    return before + (this.#added.get(key)?.amount ?? 0n);
  }

  add(reservations: readonly Reservation[]): void {
    for (const reservation of reservations) {
      const key = keyOf(reservation);
      const amount = (this.#added.get(key)?.amount ?? 0n) + reservation.amount;
      this.#added.set(key, { ...reservation, amount });
    }
  }

  all(): readonly Reservation[] {
    return [...this.#added.values()];
  }
}

const keyOf = ({ measure, by }: Counter): string => JSON.stringify([measure, by]);
