import { describe, expect, test } from 'vitest';
import { exactTime, millisecondsOf, relativeTime } from './time.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe('relativeTime', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  test.each([
    [0, 'just now'],
    [-59_999, 'just now'],
    [30_000, 'in a moment'],
    [-minute, '1 minute ago'],
    [-59 * minute, '59 minutes ago'],
    [-hour, '1 hour ago'],
    [-day, 'yesterday'],
    [-6 * day, '6 days ago'],
    [-7 * day, 'last week'],
    [-40 * day, 'last month'],
    [-400 * day, 'last year'],
    [3 * hour, 'in 3 hours'],
    [7 * day - minute, 'in 7 days'],
  ])('%i ms from now is %s', (offset, said) => {
    expect(relativeTime(now + offset, now)).toBe(said);
  });
});

test('timestamps are read to the millisecond', () => {
  expect(millisecondsOf({ seconds: '1763700000', nanos: '250000000' })).toBe(1_763_700_000_250);
  expect(millisecondsOf({ seconds: '0', nanos: '0' })).toBe(0);
});

test('the exact time has the year and the zone', () => {
  expect(exactTime(Date.UTC(2026, 10, 21, 12))).toMatch(/2026/);
});
