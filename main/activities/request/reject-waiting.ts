/**
 * Rejects all activities that wait for votes, in every organization and in no user's name: after a freeze.
 * There may be many rows, so a transaction rejects a limited number. Rows that are still to be rejected
 * accept no votes meanwhile.
 */
import {
  appendActivity,
  getLogRow,
  listWaiting,
  logEnd,
  type ActivityRow,
  type WaitingRow,
} from '../../storage/tables/activities.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';

/** A transaction looks at so many revisions, and ends early with the row that fills its bytes. */
const mostRows = 32;
const mostBytes = 1024 * 1024;

export type Rejected = Pick<ActivityRow, 'id' | 'organizationId' | 'type' | 'status'>;

interface Parts {
  readonly units: UnitOfWork;
  readonly clock: Clock;
  /** As the engine's. */
  readonly onAppended: (tx: Writer, row: ActivityRow, by: null) => void;
}

/** The parts of the work that belong to each transaction. */
interface Slices {
  /** Called in each transaction. @param isLast Whether nothing is left to be rejected. */
  readonly within: (tx: Writer, isLast: boolean) => void;
  /** Called after each COMMIT. */
  readonly committed: (rejected: readonly Rejected[]) => void;
}

export class Rejections {
  /** The last revision that a freeze came after; 0 where all that waits takes votes. */
  #until = 0;
  /** Counts the runs: a later one takes over. */
  #run = 0;

  /** True if a waiting revision is already due for rejection. */
  includes({ sequence }: Pick<ActivityRow, 'sequence'>): boolean {
    return sequence <= this.#until;
  }

  /** From now on, activities that wait now accept no votes. Later ones do. */
  begin(tx: Reader): void {
    this.#until = logEnd(tx).sequence;
  }

  /**
   * Rejects the activities that `begin` found. If it fails, the remaining ones still accept no votes, and
   * another run rejects them.
   * @returns true if none is left, false if another run has taken over.
   */
  async run(parts: Parts, { within, committed }: Slices): Promise<boolean> {
    const run = ++this.#run;
    let after: WaitingRow | undefined = { organizationId: '', sequence: 0 };
    while (after !== undefined) {
      const from: WaitingRow = after;
      const slice = await parts.units.write((tx) => {
        if (run !== this.#run) return undefined;
        const done = this.#reject(tx, parts, from);
        within(tx, done.next === undefined);
        return done;
      });
      if (slice === undefined) return false;
      committed(slice.rejected);
      after = slice.next;
    }
    if (run !== this.#run) return false;
    this.#until = 0;
    return true;
  }

  #reject(
    tx: Writer,
    { onAppended, clock }: Parts,
    from: WaitingRow,
  ): { readonly rejected: readonly Rejected[]; readonly next: WaitingRow | undefined } {
    const rejected: Rejected[] = [];
    const waiting = listWaiting(tx, from, mostRows);
    let bytes = 0;
    for (const row of waiting) {
      const target = row.isNewest === 1 && this.includes(row) ? getLogRow(tx, row.sequence) : undefined;
      if (target === undefined) continue;
      const appended = appendActivity(tx, {
        ...target,
        revision: target.revision + 1,
        status: 'ACTIVITY_STATUS_REJECTED',
        result: null,
        failure: null,
        updatedAt: clock.now(),
      });
      onAppended(tx, appended, null);
      const { id, organizationId, type, status } = appended;
      rejected.push({ id, organizationId, type, status });
      bytes += target.intent.length + target.votes.length;
      if (bytes >= mostBytes) return { rejected, next: row };
    }
    return { rejected, next: waiting.length < mostRows ? undefined : waiting.at(-1) };
  }
}
