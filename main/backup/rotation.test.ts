import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backupName, readBackupName, superfluous } from './rotation.ts';

const day = 86_400_000;
const at = (text: string): number => Date.parse(`${text}T12:00:00Z`);
const now = at('2027-01-01');
const made = (...times: readonly number[]): { madeAt: number }[] => times.map((madeAt) => ({ madeAt }));
const kept = (times: readonly number[]): number[] => {
  const gone = new Set(superfluous(made(...times), now).map(({ madeAt }) => madeAt));
  return times.filter((time) => !gone.has(time));
};
const days = (number: number, end: number): number[] =>
  Array.from({ length: number }, (_, index) => end - (number - 1 - index) * day);

describe('what is kept', () => {
  test('are the last seven, however old', () => {
    expect(superfluous(made(...days(7, at('2026-11-21'))), now)).toEqual([]);
    const sparse = [at('2019-01-01'), at('2020-01-01'), at('2026-11-21')];
    expect(kept(sparse)).toEqual(sparse);
  });

  test('are those too that a clock which was ahead has dated, and no other goes for them', () => {
    const ahead = days(10, at('2027-02-10'));
    const times = [...days(7, at('2026-12-31')), ...ahead];
    expect(kept(times)).toEqual(times);
    // The new ones are kept and rotated as if those were not there.
    const daily = days(60, at('2026-12-31'));
    expect(kept([...daily, ...ahead])).toEqual([...kept(daily), ...ahead]);
  });

  test('of two years of days: seven days, the Sundays before them, the last of each month', () => {
    // 21 November 2026 is a Saturday.
    expect(
      kept(days(730, at('2026-11-21'))).map((time) => new Date(time).toISOString().slice(0, 10)),
    ).toEqual([
      ...['2025-12-31', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'],
      ...['2026-07-31', '2026-08-31', '2026-09-30', '2026-10-31', '2026-11-01', '2026-11-08'],
      ...['2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'],
    ]);
  });

  test('rotated day by day is what is kept of all of them at once', () => {
    const all = days(500, at('2026-11-21'));
    let left: number[] = [];
    for (const time of all) left = kept([...left, time]);
    expect(left).toEqual(kept(all));
  });

  test('is never the newest that goes, never more than 23 that stay, and nothing twice', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 3000 }), { maxLength: 400 }), (ages) => {
        const times = ages.map((age) => at('2026-11-21') - age * (day / 3));
        const gone = superfluous(made(...times), now);
        const left = kept(times);
        expect(left.length + gone.length).toBe(times.length);
        expect(left.length).toBeLessThanOrEqual(23);
        expect(left.length).toBeGreaterThanOrEqual(Math.min(times.length, 7));
        if (times.length > 0) expect(left).toContain(Math.max(...times));
        expect(superfluous(made(...left), now)).toEqual([]);
      }),
    );
  });
});

describe('the name of a backup', () => {
  const vaultId = 'ae0f13e2-3ebf-42c5-9ed0-a0faad035be3';

  test('names the vault and the time', () => {
    const name = backupName(vaultId, at('2026-11-21'));
    expect(name).toBe('keyhearth-ae0f13e2-20261121T120000Z.backup');
    expect(readBackupName(vaultId, name)).toBe(at('2026-11-21'));
  });

  test.each([
    'keyhearth-ae0f13e3-20261121T120000Z.backup',
    'keyhearth-ae0f13e2-20261121T120000Z.backup.draft',
    'keyhearth-ae0f13e2-20261321T120000Z.backup',
    'keyhearth-ae0f13e2-old.backup',
    'my keyhearth-ae0f13e2-20261121T120000Z.backup',
    '',
  ])('is not %j', (name) => {
    expect(readBackupName(vaultId, name)).toBeUndefined();
  });
});
