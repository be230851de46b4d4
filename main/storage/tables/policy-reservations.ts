/**
 * Amounts allowed under budgets, a row for each activity and counter. Each row carries the total of its
 * counter, itself included. So the amount reserved in a period is the difference of two rows, however many
 * are between.
 */
import { latest } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';

/** The measured amount and the key of its counter, both as the policies write them. */
export interface CounterKey {
  readonly organizationId: string;
  readonly measure: string;
  readonly by: string;
}

interface ReservationRow {
  readonly amount: string;
  readonly total: string;
  readonly reservedAt: number;
}

const columns = 'amount, total, reserved_at AS reservedAt';
const ofCounter = 'organization_id = ? AND measure = ? AND kept_by = ?';

const last = (tx: Reader, { organizationId, measure, by }: CounterKey): ReservationRow | undefined =>
  tx.get<ReservationRow>(
    `SELECT ${columns} FROM policy_reservations WHERE ${ofCounter} ORDER BY reserved_at DESC, sequence DESC LIMIT 1`,
    organizationId,
    measure,
    by,
  );

/**
 * Reads a counter for several windows.
 * @returns what answers the sum of what was reserved after a time, in milliseconds, for as long as nothing more is reserved.
 */
export function reservedOf(tx: Reader, counter: CounterKey): (since: number) => bigint {
  const end = last(tx, counter);
  return (since) => {
    if (end === undefined || end.reservedAt <= since) return 0n;
    const first = tx.get<ReservationRow>(
      `SELECT ${columns} FROM policy_reservations WHERE ${ofCounter} AND reserved_at > ? ORDER BY reserved_at, sequence LIMIT 1`,
      counter.organizationId,
      counter.measure,
      counter.by,
      since,
    );
    if (first === undefined) return 0n;
    return BigInt(end.total) - BigInt(first.total) + BigInt(first.amount);
  };
}

/** An expression that counters are kept by; null where any of its values will do. */
export type KeptBy = readonly [name: string, values: readonly string[] | null];

/** @returns the keys of the counters of a measure, kept by exactly these, that were added to after a time, the newest first. */
export const listCountersSince = (
  tx: Reader,
  { organizationId, measure, by }: Omit<CounterKey, 'by'> & { readonly by: readonly KeptBy[] },
  since: number,
  limit: number,
): readonly string[] =>
  tx
    .all<{ readonly by: string }>(
      `SELECT kept_by AS by FROM policy_reservations
       WHERE organization_id = ? AND measure = ? AND reserved_at > ?
       GROUP BY kept_by
       HAVING json_array_length(kept_by) = ? AND NOT EXISTS (
         SELECT 1 FROM json_each(?) AS wanted
         WHERE kept_by ->> ('$[' || wanted.key || '][0]') IS NOT wanted.value ->> 0
         OR (wanted.value ->> 1 IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM json_each(wanted.value, '$[1]') AS one
           WHERE one.value = kept_by ->> ('$[' || wanted.key || '][1]'))))
       ORDER BY max(sequence) DESC LIMIT ?`,
      organizationId,
      measure,
      since,
      by.length,
      JSON.stringify(by),
      limit,
    )
    .map((row) => row.by);

/** @returns what is kept by one of several, of a measure. */
export const listCounters = (
  tx: Reader,
  { organizationId, measure }: Omit<CounterKey, 'by'>,
  by: readonly string[],
): readonly string[] =>
  tx
    .all<{ readonly by: string }>(
      `SELECT value AS by FROM json_each(?) WHERE EXISTS (SELECT 1 FROM policy_reservations
       WHERE organization_id = ? AND measure = ? AND kept_by = value)`,
      JSON.stringify(by),
      organizationId,
      measure,
    )
    .map((row) => row.by);

/**
 * Has what was reserved at times to come count from now on. The clock was ahead then: nothing of it may be forgotten, and
 * nothing may use up a budget until that clock's time. All of a counter that is later than now goes together: totals are in
 * the order of time, and at one time in that of `sequence`.
 */
export const settleReservations = (tx: Writer, now: number): number =>
  tx.run(
    `UPDATE policy_reservations AS own SET reserved_at = ? WHERE reserved_at > ? AND EXISTS (
       SELECT 1 FROM policy_reservations AS ahead WHERE ahead.organization_id = own.organization_id
       AND ahead.measure = own.measure AND ahead.kept_by = own.kept_by AND ahead.reserved_at > ?)`,
    now,
    now,
    latest(now),
  );

/**
 * @param keepMs How long a reservation can matter; a few of those that are older go with each new one. The oldest that is
 * within a while says what was before it, so none is missed.
 */
export function reserve(
  tx: Writer,
  counter: CounterKey,
  reservation: { readonly activityId: string; readonly amount: bigint; readonly now: number },
  keepMs: number,
): void {
  const end = last(tx, counter);
  // A clock that was put back must not let what was reserved meanwhile fall out of a window.
  const reservedAt = Math.max(reservation.now, end?.reservedAt ?? 0);
  tx.run(
    `INSERT INTO policy_reservations (organization_id, activity_id, measure, kept_by, amount, total, reserved_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    counter.organizationId,
    reservation.activityId,
    counter.measure,
    counter.by,
    String(reservation.amount),
    String(reservation.amount + BigInt(end?.total ?? 0)),
    reservedAt,
  );
  tx.run(
    `DELETE FROM policy_reservations WHERE sequence IN (
       SELECT sequence FROM policy_reservations WHERE ${ofCounter} AND reserved_at < ? ORDER BY reserved_at LIMIT 3)`,
    counter.organizationId,
    counter.measure,
    counter.by,
    reservedAt - keepMs,
  );
}
