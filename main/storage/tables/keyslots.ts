/** The keyslots: each holds the master key, wrapped by something that can open it. */
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const keyslots = table('keyslots', {
  id: text,
  kind: text.of<'keychain' | 'password' | 'recovery'>(),
  /** JSON: what opening it needs to know besides the secret. */
  parameters: text,
  wrapped: blob,
  createdAt: number,
  /** When the owner proved to have kept the secret; null where that was never asked. */
  confirmedAt: number.orNull,
});

export type KeyslotRow = RowOf<typeof keyslots>;

export const listKeyslots = (tx: Reader): KeyslotRow[] =>
  tx.all<KeyslotRow>(`SELECT ${keyslots.columns} FROM keyslots ORDER BY created_at, rowid`);

export const insertKeyslot = keyslots.insert;

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
