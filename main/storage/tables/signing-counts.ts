/** Counts of signing requests, read from the index of the log's places alone. */
import type { Reader } from '../connection.ts';

/** In milliseconds. Offsets of time zones are multiples of it. */
export const quarterHour = 15 * 60_000;

export interface QuarterCount {
  /** Quarters of an hour since the epoch. */
  readonly quarter: number;
  readonly outcome: 'signed' | 'refused' | 'other';
  readonly count: number;
}

export interface CountedStretch {
  readonly counts: readonly QuarterCount[];
  /** Number of rows of the stretch. */
  readonly looked: number;
  /** The oldest row of the stretch; null for a stretch without rows. */
  readonly last: number | null;
  /** The newest quarter of the stretch. */
  readonly newest: number;
}

/** A later revision is dated by itself: a vote may come days after its request. */
const dated = `CASE WHEN a.revision = 1 THEN a.created_at
  ELSE (SELECT l.updated_at FROM activities AS l WHERE l.sequence = a.sequence) END`;

const outcome = `CASE WHEN a.type NOT IN (SELECT value FROM json_each(?)) THEN 'other'
  WHEN a.status = 'ACTIVITY_STATUS_COMPLETED' THEN 'signed'
  WHEN a.status IN ('ACTIVITY_STATUS_FAILED', 'ACTIVITY_STATUS_REJECTED') THEN 'refused' ELSE 'other' END`;

/**
 * Counts a stretch of an organization's log, from its newest row backwards.
 * @param types Of the activities that sign.
 * @param span Neither end belongs to it.
 */
export function countStretch(
  tx: Reader,
  organizationId: string,
  types: readonly string[],
  span: { readonly before: number; readonly after: number; readonly rows: number },
): CountedStretch {
  const rows = tx.all<QuarterCount & { readonly last: number }>(
    `SELECT at / ${String(quarterHour)} AS quarter, outcome, count(*) AS count, min(sequence) AS last
     FROM (SELECT a.sequence, ${dated} AS at, ${outcome} AS outcome
       FROM activities AS a INDEXED BY activities_places
       WHERE a.organization_id = ? AND a.sequence < ? AND a.sequence > ? ORDER BY a.sequence DESC LIMIT ?)
     GROUP BY quarter, outcome`,
    JSON.stringify(types),
    organizationId,
    span.before,
    span.after,
    span.rows,
  );
  return {
    counts: rows,
    looked: rows.reduce((sum, { count }) => sum + count, 0),
    last: rows.length === 0 ? null : Math.min(...rows.map(({ last }) => last)),
    newest: Math.max(...rows.map(({ quarter }) => quarter)),
  };
}

/** Counts the requests to sign that were refused and are kept, from one quarter on. */
export const countRefusals = (
  tx: Reader,
  organizationId: string,
  types: readonly string[],
  from: number,
): readonly QuarterCount[] =>
  tx.all<QuarterCount>(
    `SELECT created_at / ${String(quarterHour)} AS quarter, 'refused' AS outcome, count(*) AS count FROM refusals
     WHERE organization_id = ? AND created_at >= ? AND type IN (SELECT value FROM json_each(?)) GROUP BY quarter`,
    organizationId,
    from * quarterHour,
    JSON.stringify(types),
  );
