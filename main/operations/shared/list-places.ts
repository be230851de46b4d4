/** Parts of queries about long lists: places of rows, and blocks of them. */
import { z } from 'zod';
import type { RowIds } from '../../storage/row-ids.ts';
import { runsOf } from '../../storage/slices.ts';
import { timestamp } from '../../lib/clock.ts';
import { limits } from './limits.ts';

export const place = z.int().nonnegative();

/** A page of a list, by the places that an outline named. */
export const places = z.array(place).min(1).max(limits.pageSize);

/** Places in one outline at most. */
export const mostPlaces = 20_000;

export const shownBlock = z
  .object({
    /** Of the first. */
    createdAt: z.object({ seconds: z.string(), nanos: z.string() }),
    count: z.int(),
    /** First and last of places that follow one another. */
    runs: z.array(z.tuple([place, place])),
  })
  .meta({ id: 'ListBlock' });

/**
 * Shows rows in blocks that are a page each.
 * @param found Rows' numbers.
 */
export function blocksOf(found: readonly number[], shown: RowIds, createdAt: (row: number) => number) {
  const blocks = [];
  for (let from = 0; from < found.length; from += limits.pageSize) {
    const members = found.slice(from, from + limits.pageSize);
    const runs = runsOf(shown.show(members)).map(([first, last]): [number, number] => [first, last]);
    blocks.push({ createdAt: timestamp(createdAt(members[0] ?? 0)), count: members.length, runs });
  }
  return blocks;
}
