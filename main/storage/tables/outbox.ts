/**
 * Outgoing deliveries: written in the transaction of their cause, delivered after it. A row has the delivery
 * and its outcome.
 */
import type { Reader, Writer } from '../connection.ts';

export type DeliveryState =
  /** It will be tried, for the first time or again. */
  | 'waiting'
  | 'delivered'
  /** The other side said that it does not want it. */
  | 'refused'
  /** Dead-lettered: it could not be delivered for as long as its kind is tried. */
  | 'parked'
  /** Its time was over before it could be delivered. */
  | 'expired';

/** A delivery that waits. */
export interface OutboxEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  /** The deliveries of one queue go out one at a time, in the order in which they were written. The column is `lane`. */
  readonly queue: string;
  /** JSON that says what to deliver; nothing secret. */
  readonly reference: string;
  /** From when on it is of no use, in milliseconds; null for what has no such time. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface OutboxRow extends OutboxEntry {
  readonly sequence: number;
  readonly state: DeliveryState;
  /** Number of attempts since it was written or sent again. */
  readonly attempts: number;
  /** When it is tried next, in milliseconds; 0 for at once. */
  readonly nextAt: number;
  /** Since when its queue fails; null where it delivers. */
  readonly failingSince: number | null;
  /** When it came to its end; null while it waits. */
  readonly finishedAt: number | null;
  /** The note of the last attempt; null before it. */
  readonly note: string | null;
}

export const outboxPayloadsTable = 'outbox_payloads';

const columns = `sequence, id, organization_id AS organizationId, kind, lane AS queue, reference, expires_at AS expiresAt,
  created_at AS createdAt, state, attempts, next_at AS nextAt, failing_since AS failingSince,
  finished_at AS finishedAt, note`;

export function insertOutboxRow(tx: Writer, entry: OutboxEntry): void {
  tx.run(
    `INSERT INTO outbox (id, organization_id, kind, lane, reference, expires_at, created_at, state, attempts, next_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', 0, 0)`,
    entry.id,
    entry.organizationId,
    entry.kind,
    entry.queue,
    entry.reference,
    entry.expiresAt,
    entry.createdAt,
  );
}

export function insertOutboxPayload(
  tx: Writer,
  { id, organizationId }: OutboxEntry,
  sealed: Uint8Array,
): void {
  tx.run(
    'INSERT INTO outbox_payloads (id, organization_id, sealed) VALUES (?, ?, ?)',
    id,
    organizationId,
    sealed,
  );
}

export const getOutboxPayload = (tx: Reader, id: string): Uint8Array | undefined =>
  tx.get<{ sealed: Uint8Array }>('SELECT sealed FROM outbox_payloads WHERE id = ?', id)?.sealed;

export const hasOutboxPayload = (tx: Reader, id: string): boolean =>
  tx.get('SELECT 1 FROM outbox_payloads WHERE id = ?', id) !== undefined;

export function deleteOutboxPayload(tx: Writer, id: string): void {
  tx.run('DELETE FROM outbox_payloads WHERE id = ?', id);
}

/**
 * Deletes payloads that were delivered or expired, since a payload is a secret.
 * @returns the number of deleted payloads.
 */
export const deleteUselessPayloads = (tx: Writer, now: number): number =>
  tx.run(
    `DELETE FROM outbox_payloads WHERE id IN (
       SELECT p.id FROM outbox_payloads AS p JOIN outbox AS o ON o.id = p.id
       WHERE o.state IN ('delivered', 'expired') OR o.expires_at <= ?)`,
    now,
  );

export const hasUselessPayloads = (tx: Reader, now: number): boolean =>
  tx.get(
    `SELECT 1 FROM outbox_payloads AS p JOIN outbox AS o ON o.id = p.id
     WHERE o.state IN ('delivered', 'expired') OR o.expires_at <= ? LIMIT 1`,
    now,
  ) !== undefined;

/** The first delivery that waits in a queue. */
export const getFirstWaiting = (tx: Reader, queue: string): OutboxRow | undefined =>
  tx.get<OutboxRow>(
    `SELECT ${columns} FROM outbox WHERE lane = ? AND state = 'waiting' ORDER BY sequence LIMIT 1`,
    queue,
  );

/** A queue with deliveries in it, and when its first is tried next. */
export interface WaitingQueue {
  readonly queue: string;
  readonly kind: string;
  readonly organizationId: string;
  readonly nextAt: number;
}

export const listWaitingQueues = (tx: Reader): WaitingQueue[] =>
  // SQLite takes the other columns from the row that has the minimum.
  tx.all<WaitingQueue>(
    `SELECT lane AS queue, kind, organization_id AS organizationId, next_at AS nextAt, min(sequence) AS first
     FROM outbox WHERE state = 'waiting' GROUP BY lane ORDER BY first`,
  );

export function finishDelivery(
  tx: Writer,
  id: string,
  end: {
    readonly state: Exclude<DeliveryState, 'waiting'>;
    readonly note: string | null;
    /** True after an attempt. */
    readonly tried: boolean;
    readonly now: number;
  },
): void {
  tx.run(
    `UPDATE outbox SET state = ?, note = ?, attempts = attempts + ?, finished_at = ?, failing_since = NULL
     WHERE id = ? AND state = 'waiting'`,
    end.state,
    end.note,
    end.tried ? 1 : 0,
    end.now,
    id,
  );
}

/** Notes a failed try. All that waits behind it in its queue counts as failing for as long. */
export function postponeDelivery(
  tx: Writer,
  { id, queue }: Pick<OutboxRow, 'id' | 'queue'>,
  { note, nextAt, now }: { readonly note: string; readonly nextAt: number; readonly now: number },
): void {
  tx.run(
    `UPDATE outbox SET attempts = attempts + 1, note = ?, next_at = ? WHERE id = ? AND state = 'waiting'`,
    note,
    nextAt,
    id,
  );
  tx.run(
    // One that failed at a time to come failed by a clock that was ahead.
    `UPDATE outbox SET failing_since = ? WHERE lane = ? AND state = 'waiting' AND (failing_since IS NULL OR failing_since > ?)`,
    now,
    queue,
    now,
  );
}

/** Notes that a queue delivers again. */
export function noteRecovery(tx: Writer, queue: string): void {
  tx.run(
    `UPDATE outbox SET failing_since = NULL WHERE lane = ? AND state = 'waiting' AND failing_since IS NOT NULL`,
    queue,
  );
}

/** Dead-letters what could not be delivered since a time. @returns how many. */
export const deadLetterDeliveries = (
  tx: Writer,
  queue: string,
  { failingSince, now }: { readonly failingSince: number; readonly now: number },
): number =>
  tx.run(
    `UPDATE outbox SET state = 'parked', finished_at = ?, note = coalesce(note, 'not tried: what was before it could not be delivered')
     WHERE lane = ? AND state = 'waiting' AND failing_since <= ?`,
    now,
    queue,
    failingSince,
  );

/**
 * Retries a delivery at once, in any state.
 * @returns true if it exists.
 */
export const sendAgain = (tx: Writer, organizationId: string, id: string): boolean =>
  tx.run(
    `UPDATE outbox SET state = 'waiting', attempts = 0, next_at = 0, failing_since = NULL, finished_at = NULL
     WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  ) > 0;

/** Has all that waits be tried at once: what it waited for is there. */
export function retryDeliveriesNow(tx: Writer): void {
  tx.run("UPDATE outbox SET next_at = 0 WHERE state = 'waiting' AND next_at > 0");
}

/** Counts the deliveries of a kind that wait after a failed attempt and have not expired. */
export const countDelayed = (tx: Reader, kind: string, now: number): number =>
  tx.get<{ count: number }>(
    `SELECT count(*) AS count FROM outbox
     WHERE state = 'waiting' AND kind = ? AND attempts > 0 AND (expires_at IS NULL OR expires_at > ?)`,
    kind,
    now,
  )?.count ?? 0;

/** Deletes the oldest of what came to its end, beyond what is kept. @returns how many went. */
export const forgetOldDeliveries = (tx: Writer, keep: number, atMost: number): number =>
  tx.run(
    `DELETE FROM outbox WHERE sequence IN (
       SELECT sequence FROM outbox WHERE finished_at IS NOT NULL AND sequence <= (
         SELECT sequence FROM outbox WHERE finished_at IS NOT NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?)
       ORDER BY sequence LIMIT ?)`,
    keep,
    atMost,
  );

export const countFinished = (tx: Reader): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM outbox WHERE finished_at IS NOT NULL')?.count ?? 0;

/** Of all organizations, newest first. */
export const listDeliveriesOfKind = (tx: Reader, kind: string, limit: number): OutboxRow[] =>
  tx.all<OutboxRow>(
    `SELECT ${columns} FROM outbox WHERE kind = ? ORDER BY sequence DESC LIMIT ?`,
    kind,
    limit,
  );

/** Of whatever organization. */
export const findDelivery = (tx: Reader, kind: string, id: string): OutboxRow | undefined =>
  tx.get<OutboxRow>(`SELECT ${columns} FROM outbox WHERE id = ? AND kind = ?`, id, kind);

export const hasWaiting = (tx: Reader, kind: string): boolean =>
  tx.get("SELECT 1 FROM outbox WHERE state = 'waiting' AND kind = ? LIMIT 1", kind) !== undefined;
