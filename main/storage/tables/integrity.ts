/** The one row that authenticates all others: the sealed key of their HMACs, and the digest over them (`integrity/`). */
import type { Reader, Writer } from '../connection.ts';

/** The context that the row key is sealed in. */
export const rowKeyContext = { table: 'integrity', rowId: 'row key', organizationId: '' } as const;

export const getSealedRowKey = (tx: Reader): Uint8Array | undefined =>
  tx.get<{ sealed: Uint8Array }>('SELECT sealed FROM integrity WHERE one = 1')?.sealed;

/** True if rows of a vault are in the file, of this version or of an earlier one. */
export const holdsRows = (tx: Reader): boolean =>
  tx.get('SELECT 1 FROM integrity UNION ALL SELECT 1 FROM organizations') !== undefined;

/** The sums follow before COMMIT. */
export function putSealedRowKey(tx: Writer, sealed: Uint8Array): void {
  tx.run(
    `INSERT INTO integrity (one, sealed, sums, log) VALUES (1, ?, x'', '')
     ON CONFLICT (one) DO UPDATE SET sealed = excluded.sealed, sums = excluded.sums, log = excluded.log`,
    sealed,
  );
}
