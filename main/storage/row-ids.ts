/**
 * Places: the numbers by which callers know the rows of long lists and of the log. A row's own number counts the rows of all
 * organizations. The vault's own organization may see all of these, so its places are rows' numbers; a sub-organization's
 * are permuted under a key of its own, and so tell nothing of what others do.
 */
import { createHmac } from 'node:crypto';
import { permuted, Permutation } from '../crypto/permutation.ts';
import type { Reader } from './connection.ts';
import { getOrganization } from './tables/organizations.ts';

export interface RowIds {
  /** @param rows Rows' numbers, from 1. */
  show(rows: readonly number[]): readonly number[];
  /** @returns the numbers of the rows; for an invalid place, a number that no row has. */
  find(places: readonly number[]): readonly number[];
}

/** One place, as `show` and `find` do with many. */
export const toPublicId = (places: RowIds, row: number): number => places.show([row])[0] ?? 0;
export const fromPublicId = (places: RowIds, place: number): number => places.find([place])[0] ?? 0;

const rowNumbers: RowIds = { show: (rows) => rows, find: (places) => places };

/** @param organizationId Of those who are shown the places. */
export function rowIdsOf(
  tx: Reader,
  organizationId: string,
  table: 'activities' | 'wallet_accounts',
): RowIds {
  // One that was deleted was a sub-organization: the vault's own stays.
  if (getOrganization(tx, organizationId)?.parentId === null) return rowNumbers;
  const permutation = new Permutation(
    createHmac('sha256', placeKey(tx))
      .update(JSON.stringify([table, organizationId]))
      .digest(),
  );
  return {
    show: (rows) => permutation.apply(rows),
    find: (places) => permutation.invert(places.map((place) => Math.min(place, permuted - 1))),
  };
}

function placeKey(tx: Reader): Uint8Array {
  const row = tx.get<{ key: Uint8Array }>('SELECT key FROM place_key');
  if (row === undefined) throw new Error('the file has no key for places');
  return row.key;
}
