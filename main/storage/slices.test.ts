import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { anywhere, lookThrough, runsOf, type Stretch } from './slices.ts';

describe('runs', () => {
  test('are of numbers that follow one another, either way', () => {
    expect(runsOf([9, 8, 7, 5, 4, 1])).toEqual([
      [9, 7],
      [5, 4],
      [1, 1],
    ]);
    expect(runsOf([1, 2, 3, 7])).toEqual([
      [1, 3],
      [7, 7],
    ]);
    expect(runsOf([5, 4, 5])).toEqual([
      [5, 4],
      [5, 5],
    ]);
    expect(runsOf([])).toEqual([]);
  });
});

test('a text is found with every character as it is', () => {
  expect(anywhere('50%_a\\b')).toBe('%50\\%\\_a\\\\b%');
});

describe('looking through rows', () => {
  // Its own clock: a machine that is busy would end the first look at once.
  let time = 0;
  beforeEach(() => {
    vi.spyOn(performance, 'now').mockImplementation(() => time);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Rows 1 to `rows`, of which every third is found; each takes as long as is said. */
  const table = (rows: number, milliseconds: number) => {
    const asked: number[] = [];
    const stretch = (from: number, count: number): Stretch => {
      asked.push(count);
      time += milliseconds;
      const last = Math.min(rows, from + count);
      const numbers = Array.from({ length: last - from }, (_, index) => from + 1 + index);
      return {
        found: numbers.filter((number) => number % 3 === 0),
        looked: numbers.length,
        last: numbers.at(-1) ?? null,
      };
    };
    return { asked, stretch };
  };

  test('ends at the end of the table', () => {
    const { stretch } = table(10, 0);
    expect(lookThrough(stretch, 0, { first: 100 })).toEqual({ found: [3, 6, 9], next: null });
    expect(lookThrough(stretch, 10, { first: 100 })).toEqual({ found: [], next: null });
  });

  test('takes longer stretches where they are quick, and says where it ended when the time is over', () => {
    const { asked, stretch } = table(1e9, 1);
    const { next } = lookThrough(stretch, 0, { first: 10 });
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(8);
    expect(next).toBe(asked.reduce((sum, count) => sum + count, 0));
  });

  test('ends with the stretch that had enough', () => {
    const { asked, stretch } = table(1e9, 0);
    expect(lookThrough(stretch, 0, { first: 30, most: 5 })).toMatchObject({ next: 30 });
    expect(asked).toEqual([30]);
  });

  test('goes on where it ended', () => {
    const { stretch } = table(50_000, 0);
    const found: number[] = [];
    for (let next: number | null = 0; next !== null;) {
      const slice = lookThrough(stretch, next, { first: 7, most: 100 });
      found.push(...slice.found);
      next = slice.next;
    }
    expect(found).toEqual(Array.from({ length: 16_666 }, (_, index) => 3 * (index + 1)));
  });
});
