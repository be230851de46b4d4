/**
 * Ends grants. A grant ends with the policy that it follows from, and with each that allows its user by id. A policy's `time` ends one by the clock. A timer, which no change of the clock moves, deletes it at its end, and
 * each unlock deletes all: a lock, a freeze and a restart end them. Where the disk does not take that, or another process holds the
 * file, it comes before whatever is written next, so no grant lets anything through after its end.
 */
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import { deletePolicyRow, listPolicyRowsWithNotes, type PolicyRow } from '../../storage/tables/policies.ts';
import type { Clock } from '../../lib/clock.ts';
import { owned, type OnFault } from '../../lib/faults.ts';
import { grantEnd, grantNotes, inheritedFrom, submitterOf } from '../../lib/policies/grants.ts';

/**
 * Ends the grants that follow from a policy, which is to be changed or deleted: they keep what it was. Of policies with one condition
 * those of each end. So do the grants of a user whom the policy allows by id: an owner who lowers a spender's budget changes another
 * policy than the one that asked.
 */
export function endGrantsOf(tx: Writer, policy: PolicyRow): void {
  if (policy.effect !== 'EFFECT_ALLOW') return;
  // A grant that is itself deleted leaves the others.
  const submitter = grantEnd(policy) === undefined ? submitterOf(policy) : undefined;
  for (const row of listPolicyRowsWithNotes(tx, grantNotes)) {
    if (row.organizationId !== policy.organizationId || grantEnd(row) === undefined) continue;
    const isOfUser = submitter !== undefined && submitter === submitterOf(row);
    if (isOfUser || row.condition.endsWith(inheritedFrom(policy))) deletePolicyRow(tx, row.id);
  }
}

export interface GrantEndsParts {
  readonly units: UnitOfWork;
  readonly keys: {
    readonly unlocked: boolean;
    readonly onChange: (listener: (unlocked: boolean) => void) => () => void;
  };
  readonly clock: Clock;
  readonly onFault: OnFault;
  /** Called when grants have ended. */
  readonly onEnd: () => void;
}

export class GrantEnds {
  readonly #parts: GrantEndsParts;
  /** By policy. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Give up what is not done yet: a locked vault deletes no row, and its next unlock deletes all. */
  readonly #owed = new Set<() => void>();
  readonly #stop: () => void;

  constructor(parts: GrantEndsParts) {
    this.#parts = parts;
    this.#stop = parts.keys.onChange((unlocked) => {
      this.#clear();
      // The rows are verified by then, and no request was served yet.
      if (unlocked)
        queueMicrotask(
          owned(() => {
            this.#end(() => true);
          }, parts.onFault),
        );
    });
  }

  /** Sets the timers of new grants. */
  look(): void {
    const { units, clock, onFault } = this.#parts;
    const now = clock.now();
    for (const row of units.read((tx) => listPolicyRowsWithNotes(tx, grantNotes))) {
      const end = grantEnd(row);
      if (end === undefined || this.#timers.has(row.id)) continue;
      const work = owned(() => {
        this.#end((id) => id === row.id);
      }, onFault);
      this.#timers.set(row.id, setTimeout(work, Math.max(0, end - now)).unref());
    }
  }

  close(): void {
    this.#stop();
    this.#clear();
  }

  #end(which: (policyId: string) => boolean): void {
    const { units, keys, onEnd } = this.#parts;
    if (!keys.unlocked) return;
    const list = (tx: Reader): readonly PolicyRow[] =>
      listPolicyRowsWithNotes(tx, grantNotes).filter((row) => grantEnd(row) !== undefined && which(row.id));
    const ended = units.read(list);
    if (ended.length === 0) return;
    const giveUp = units.owe((tx) => {
      for (const { id } of list(tx)) deletePolicyRow(tx, id);
    });
    this.#owed.add(giveUp);
    for (const { id } of ended) this.#timers.delete(id);
    onEnd();
  }

  #clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const giveUp of this.#owed) giveUp();
    this.#owed.clear();
  }
}
