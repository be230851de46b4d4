import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inCronSpan, parseCron, parseDuration, parseTimestamp, timeZone } from './schedule.ts';

function span(cron: string, duration: string, zone: string): (time: string | number) => boolean {
  const schedule = parseCron(cron);
  const length = parseDuration(duration);
  const offset = timeZone(zone);
  if (typeof schedule === 'string' || length === undefined || offset === undefined)
    throw new Error('no span');
  return (time) => inCronSpan(schedule, length, offset, typeof time === 'string' ? Date.parse(time) : time);
}

describe('CronSpan', () => {
  const office = span('0 9 * * 1-5', '8h', 'America/New_York');
  test.each([
    ['2026-03-02T13:59:59.999Z', false],
    ['2026-03-02T14:00:00.000Z', true],
    ['2026-03-02T21:59:59.999Z', true],
    ['2026-03-02T22:00:00.000Z', false],
    // A Saturday.
    ['2026-03-07T15:00:00Z', false],
    // After the clocks were set forward, nine o'clock is an hour sooner.
    ['2026-03-09T12:59:59Z', false],
    ['2026-03-09T13:00:00Z', true],
  ])('office hours in New York: at %s, %s', (time, open) => {
    expect(office(time)).toBe(open);
  });

  const night = span('0 22 * * *', '8h', 'America/New_York');
  test.each([
    ['an ordinary night', '2026-03-03T10:59:59Z', true],
    ['an ordinary morning, at six', '2026-03-03T11:00:00Z', false],
    ['the night that the clocks go forward, until seven', '2026-03-08T10:59:59Z', true],
    ['the night that the clocks go forward, at seven', '2026-03-08T11:00:00Z', false],
    ['the night that the clocks go back, until five', '2026-11-01T09:59:59Z', true],
    ['the night that the clocks go back, at five', '2026-11-01T10:00:00Z', false],
  ])('overnight, %s', (_, time, open) => {
    expect(night(time)).toBe(open);
  });

  test('the day of the month or the day of the week, where both are given', () => {
    const either = span('0 9 1 * 1', '1h', 'UTC');
    expect(['2026-04-01', '2026-04-06', '2026-04-07'].map((day) => either(`${day}T09:30:00Z`))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('an hour that the clocks skip opens nothing; one that they show twice opens twice', () => {
    const second = span('30 2 * * *', '10m', 'Europe/Berlin');
    const skipped = Array.from({ length: 24 * 12 }, (_, i) => Date.parse('2026-03-28T23:00Z') + i * 300_000);
    expect(skipped.some((time) => second(time))).toBe(false);
    expect(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((time) => second(time))).toEqual([
      true,
      true,
    ]);
  });

  test('an evening before the clocks go forward still counts the morning after', () => {
    const evening = span('30 23 7 3 *', '12h', 'America/New_York');
    expect(['2026-03-08T14:00:00Z', '2026-03-08T16:30:00Z'].map((time) => evening(time))).toEqual([
      true,
      false,
    ]);
  });

  test('is open where some minute of the schedule is recent enough, minute by minute', () => {
    const field = (least: number, most: number) =>
      fc.oneof(fc.constant('*'), fc.integer({ min: least, max: most }).map(String));
    const zones = fc.constantFrom('America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC');
    const changes = fc.constantFrom('2026-03-08', '2026-04-05', '2026-10-04', '2026-11-01', '2026-06-15');
    fc.assert(
      fc.property(
        fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)),
        fc.integer({ min: 1, max: 1_500 }),
        zones,
        changes,
        fc.integer({ min: -2_880, max: 2_880 }),
        (fields, minutes, zone, change, shift) => {
          const offset = timeZone(zone) ?? (() => 0);
          const now = Date.parse(change) + shift * 60_000 + 30_000;
          const [minute, hour, date, month, weekday] = fields;
          const fires = (at: number): boolean => {
            const clock = new Date(at + offset(at));
            const is = (value: string, seen: number): boolean => value === '*' || Number(value) === seen;
            const byDate = is(date, clock.getUTCDate());
            const byWeekday = is(weekday, clock.getUTCDay());
            return (
              is(minute, clock.getUTCMinutes()) &&
              is(hour, clock.getUTCHours()) &&
              is(month, clock.getUTCMonth() + 1) &&
              (date !== '*' && weekday !== '*' ? byDate || byWeekday : byDate && byWeekday)
            );
          };
          const recent = Array.from({ length: minutes }, (_, i) => Math.floor(now / 60_000 - i) * 60_000);
          expect(span(fields.join(' '), `${minutes}m`, zone)(now)).toBe(recent.some(fires));
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each([
    '@daily',
    '*/5 * * * *',
    '0 9 * * MON',
    '0 9 * * 7',
    '60 9 * * 1',
    '0 0 9 * * 1',
    '0 9 * *',
    '5-1 * * * *',
    '',
  ])('no schedule: %j', (cron) => {
    expect(typeof parseCron(cron)).toBe('string');
  });

  test.each([
    ['8h', 28_800_000],
    ['90m', 5_400_000],
    ['1d12h', 129_600_000],
    ['1d2h3m', 93_780_000],
    ['0h', undefined],
    ['', undefined],
    ['1.5h', undefined],
    ['30s', undefined],
    ['1h1d', undefined],
    ['8 h', undefined],
  ])('a duration: %j', (duration, milliseconds) => {
    expect(parseDuration(duration)).toBe(milliseconds);
  });

  test.each(['Mars/Olympus', '', '+02:00', 'America/New York'])('no time zone: %j', (zone) => {
    expect(timeZone(zone)).toBeUndefined();
  });
});

test.each([
  ['2026-03-01T00:00:00Z', Date.UTC(2026, 2, 1)],
  ['2026-03-01t00:00:00z', Date.UTC(2026, 2, 1)],
  ['2026-03-01T00:00:00+00:00', Date.UTC(2026, 2, 1)],
  ['2026-03-01T00:00:00-00:00', Date.UTC(2026, 2, 1)],
  ['2026-03-01T00:00:00.5Z', Date.UTC(2026, 2, 1, 0, 0, 0, 500)],
  ['2026-03-01T00:00:00.123456789Z', Date.UTC(2026, 2, 1, 0, 0, 0, 123)],
  ['2026-03-01T00:00:00-05:00', undefined],
  ['2026-03-01T00:00:00', undefined],
  ['2026-03-01', undefined],
  ['2026-02-30T00:00:00Z', undefined],
  ['2026-13-01T00:00:00Z', undefined],
  ['2026-03-01T24:00:00Z', undefined],
  ['now', undefined],
])('Timestamp of %s', (literal, at) => {
  expect(parseTimestamp(literal)).toBe(at);
});
