/** Since when the vault is frozen: one row at most. It is written while the vault is locked too. */
import type { Reader, Writer } from './connection.ts';

/** In milliseconds; undefined where the vault is not frozen. */
export const getFrozenAt = (tx: Reader): number | undefined =>
  tx.get<{ at: number }>('SELECT frozen_at AS at FROM freeze')?.at;

/** A vault that is frozen already stays so since then. */
export function insertFreeze(tx: Writer, at: number): void {
  tx.run('INSERT INTO freeze (one, frozen_at) VALUES (1, ?) ON CONFLICT (one) DO NOTHING', at);
}

export function deleteFreeze(tx: Writer): void {
  tx.run('DELETE FROM freeze');
}
