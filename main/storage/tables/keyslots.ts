/** The keyslots: each holds the master key, wrapped by something that can open it. */
import type { Reader, Writer } from './connection.ts';

export interface KeyslotRow {
  readonly id: string;
  readonly kind: 'keychain' | 'password' | 'recovery';
  /** JSON: what opening it needs to know besides the secret. */
  readonly parameters: string;
  readonly wrapped: Uint8Array;
  readonly createdAt: number;
  /** When the owner proved to have kept the secret; null where that was never asked. */
  readonly confirmedAt: number | null;
}

export const listKeyslots = (tx: Reader): KeyslotRow[] =>
  tx.all<KeyslotRow>(
    `SELECT id, kind, parameters, wrapped, created_at AS createdAt, confirmed_at AS confirmedAt
     FROM keyslots ORDER BY created_at, rowid`,
  );

export function insertKeyslot(tx: Writer, row: KeyslotRow): void {
  tx.run(
    'INSERT INTO keyslots (id, kind, parameters, wrapped, created_at, confirmed_at) VALUES (?, ?, ?, ?, ?, ?)',
    row.id,
    row.kind,
    row.parameters,
    row.wrapped,
    row.createdAt,
    row.confirmedAt,
  );
}

export function updateKeyslot(tx: Writer, row: KeyslotRow): void {
  tx.run(
    'UPDATE keyslots SET parameters = ?, wrapped = ?, confirmed_at = ? WHERE id = ?',
    row.parameters,
    row.wrapped,
    row.confirmedAt,
    row.id,
  );
}

export function confirmKeyslot(tx: Writer, id: string, confirmedAt: number): void {
  tx.run('UPDATE keyslots SET confirmed_at = ? WHERE id = ?', confirmedAt, id);
}

export function deleteKeyslot(tx: Writer, id: string): void {
  tx.run('DELETE FROM keyslots WHERE id = ?', id);
}
