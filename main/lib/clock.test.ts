import { describe, expect, test } from 'vitest';
import { hasCome, isOver } from './clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const now = 1000 * day;

/** A clock that was ahead leaves times that lie further ahead than any that is set: these have come. */
describe('after a clock was set right,', () => {
  test.each([
    ['at its time', 0, true],
    ['long after it', -30 * day, true],
    ['a moment before it', 1, false],
    ['at the longest before it', hour, false],
    ['further ahead than it can be set', hour + 1, true],
    ['thirty days ahead', 30 * day, true],
  ])('what is due has come: %s', (_when, ahead, come) => {
    expect(hasCome(now + ahead, now, hour)).toBe(come);
  });

  test.each([
    ['made now', 0, false],
    ['made a moment ago', -1, false],
    ['that has ended', -hour, true],
    // Clocks are set back by seconds all the time.
    ['made before the clock was set back by half a minute', 30_000, false],
    ['made by a clock that was an hour ahead', hour, true],
    ['made by a clock that was thirty days ahead', 30 * day, true],
  ])('what holds for an hour is over: %s', (_what, ahead, over) => {
    const createdAt = now + ahead;
    expect(isOver({ createdAt, expiresAt: createdAt + hour }, now)).toBe(over);
    expect(isOver({ createdAt, expiresAt: null }, now)).toBe(false);
  });
});
