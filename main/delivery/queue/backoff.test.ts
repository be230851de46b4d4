import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('doubles with each failure up to an hour, and lets each of many come back at another time', () => {
  expect([1, 2, 3, 4].map((attempts) => backoffMs(attempts, 1))).toEqual([1000, 2000, 4000, 8000]);
  expect(backoffMs(1, 0)).toBe(500);
  expect(backoffMs(12, 1)).toBe(2_048_000);
  expect([13, 40, 10_000].map((attempts) => backoffMs(attempts, 1))).toEqual([
    3_600_000, 3_600_000, 3_600_000,
  ]);
});
