import { expect, test } from 'vitest';
import { scheduleFinding } from './check-schedule.ts';

const now = Date.UTC(2026, 0, 2);
const hour = 3_600_000;
const schedule = { directory: '/stick', hours: 24, dueAt: now + hour, failure: null };

test.each([
  ['to come', schedule, true, 'ok', /^every 24 hours into \/stick; the next is due 2026-01-02T01:00:00Z$/],
  ['due now', { ...schedule, dueAt: now - hour / 2 }, true, 'ok', /^every 24 hours/],
  [
    'late while served',
    { ...schedule, dueAt: now - 2 * hour },
    true,
    'failed',
    /due since 2026-01-01T22:00:00Z, .*`keyhearth unlock`\. Or make one now: `keyhearth backup FILE`$/,
  ],
  [
    'late while nothing serves it',
    { ...schedule, dueAt: now - 2 * hour },
    false,
    'note',
    /`keyhearth serve`/,
  ],
  [
    'failed, and late',
    { ...schedule, dueAt: now - 2 * hour, failure: { message: 'the disk is full', at: now - hour } },
    true,
    'failed',
    /^the last was not made, at 2026-01-01T23:00:00Z: the disk is full\. .*`keyhearth backup schedule DIRECTORY`$/,
  ],
] as const)('a backup that is %s', (_what, given, isServed, outcome, detail) => {
  expect(scheduleFinding(given, { now, isServed })).toEqual({
    check: 'scheduled backups',
    outcome,
    detail: expect.stringMatching(detail) as string,
  });
});
