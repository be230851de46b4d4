/** Since when the vault is frozen: one row at most. It is written while the vault is locked too. */
import type { Reader, Writer } from '../connection.ts';

/** In milliseconds; undefined where the vault is not frozen. */
export const getFrozenAt = (tx: Reader): number | undefined =>
  tx.get<{ at: number }>('SELECT frozen_at AS at FROM freeze')?.at;

/** A vault that is frozen already stays so since then. */
export function insertFreeze(tx: Writer, at: number): void {
  tx.run('INSERT INTO freeze (one, frozen_at) VALUES (1, ?) ON CONFLICT (one) DO NOTHING', at);
}

/** Rows of the log that are searched for the last signature: the whole log may be long. */
const mostRows = 2000;

/** @param types Of the activities that sign. */
export const findLastSignature = (
  tx: Reader,
  types: readonly string[],
): { readonly activityId: string; readonly type: string; readonly at: number } | undefined =>
  tx.get(
    `SELECT id AS activityId, type, updated_at AS at FROM activities
     WHERE sequence > (SELECT max(sequence) FROM activities) - ? AND status = 'ACTIVITY_STATUS_COMPLETED'
       AND type IN (SELECT value FROM json_each(?))
     ORDER BY sequence DESC LIMIT 1`,
    mostRows,
    JSON.stringify(types),
  );

export function deleteFreeze(tx: Writer): void {
  tx.run('DELETE FROM freeze');
}
