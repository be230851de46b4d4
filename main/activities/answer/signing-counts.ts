/**
 * Signing requests of each of the last days. The service reads a row of the log once and keeps the counts in memory, so a question
 * reads the rows that came since the last one. The counts come from the verified log and are never written.
 */
import type { Reader } from '../../storage/connection.ts';
import { logEnd } from '../../storage/tables/activities.ts';
import { countRefusals, countStretch, quarterHour } from '../../storage/tables/signing-counts.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';

export interface SigningDay {
  /** `2026-11-24`, in the time zone of this computer. */
  readonly date: string;
  readonly signed: number;
  readonly refused: number;
}

interface Quarter {
  signed: number;
  refused: number;
}

interface Counted {
  /** The newest row that is counted. */
  readonly until: number;
  readonly quarters: Map<number, Quarter>;
}

/** Days that are counted, today among them. */
export const countedDays = 30;

/** Rows of a step: about three milliseconds. */
const stepRows = 2_000;

/** Organizations whose counts are kept. */
const mostKept = 100;

export class SigningCounts {
  readonly #types: readonly string[];
  readonly #kept = new Map<string, Counted>();

  /** @param types Of the activities that sign. */
  constructor(types: readonly string[]) {
    this.#types = types;
  }

  /**
   * Counts the days, the oldest first. Takes a step for every few thousand rows that are new.
   * @param now Milliseconds.
   */
  *days(tx: Reader, organizationId: string, now: number): Paced<readonly SigningDay[]> {
    const days = lastDays(now);
    const from = Math.floor((days[0]?.startsAt ?? now) / quarterHour);
    const kept = this.#kept.get(organizationId);
    const until = logEnd(tx).sequence;
    const quarters = new Map<number, Quarter>(kept?.quarters);
    let before = until + 1;
    for (;;) {
      const stretch = countStretch(tx, organizationId, this.#types, {
        before,
        after: kept?.until ?? 0,
        rows: stepRows,
      });
      addTo(quarters, stretch.counts);
      if (stretch.looked < stepRows || stretch.last === null || stretch.newest < from) break;
      before = stretch.last;
      yield;
    }
    for (const quarter of quarters.keys()) if (quarter < from) quarters.delete(quarter);
    this.#keep(organizationId, { until, quarters });
    const shown = new Map(quarters);
    addTo(shown, countRefusals(tx, organizationId, this.#types, from));
    return days.map(({ date, startsAt }, index) => {
      const end = days[index + 1]?.startsAt ?? Number.POSITIVE_INFINITY;
      const day = { date, signed: 0, refused: 0 };
      for (const [quarter, { signed, refused }] of shown) {
        const at = quarter * quarterHour;
        if (at < startsAt || at >= end) continue;
        day.signed += signed;
        day.refused += refused;
      }
      return day;
    });
  }

  #keep(organizationId: string, counted: Counted): void {
    this.#kept.delete(organizationId);
    this.#kept.set(organizationId, counted);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Replaces each quarter that grows: the map that was kept stays as it was. */
function addTo(
  quarters: Map<number, Quarter>,
  counts: readonly { readonly quarter: number; readonly outcome: string; readonly count: number }[],
): void {
  for (const { quarter, outcome, count } of counts) {
    if (outcome !== 'signed' && outcome !== 'refused') continue;
    const known = quarters.get(quarter) ?? { signed: 0, refused: 0 };
    quarters.set(quarter, { ...known, [outcome]: known[outcome] + count });
  }
}

function lastDays(now: number): readonly { readonly date: string; readonly startsAt: number }[] {
  const today = new Date(now);
  return Array.from({ length: countedDays }, (_, index) => {
    const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (countedDays - 1) + index);
    const [year, month, date] = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
    return {
      date: `${String(year)}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`,
      startsAt: day.getTime(),
    };
  });
}
