import { describe, expect, test } from 'vitest';
import { checkBackupHealth, type BackupFacts } from './health-checks.ts';

const day = 86_400_000;
const now = 1000 * day;
const schedule = { hours: 24, dueAt: now + day, failure: null };

const kinds = (facts: Partial<BackupFacts>): string[] =>
  checkBackupHealth({ now, backups: [], schedule: undefined, ready: true, ...facts }).map(({ kind }) => kind);

describe('backupNotices', () => {
  test.each<[string, Partial<BackupFacts>, string[]]>([
    ['nothing was ever backed up', {}, ['none']],
    ['a fresh and proven backup', { backups: [{ madeAt: now - day, provenAt: now }] }, []],
    ['a backup of a week', { backups: [{ madeAt: now - 7 * day, provenAt: now }] }, []],
    ['a backup of eight days', { backups: [{ madeAt: now - 8 * day, provenAt: now }] }, ['old']],
    [
      'eight days, where a backup a week is what was wanted',
      { backups: [{ madeAt: now - 8 * day, provenAt: now }], schedule: { ...schedule, hours: 168 } },
      [],
    ],
    ['one that was never tried', { backups: [{ madeAt: now, provenAt: null }] }, ['unproven']],
    [
      'an older one that was tried a season ago',
      {
        backups: [
          { madeAt: now, provenAt: null },
          { madeAt: now - 91 * day, provenAt: now - 91 * day },
        ],
      },
      ['unproven'],
    ],
    [
      'one that a clock which was ahead has dated',
      { backups: [{ madeAt: now + 30 * day, provenAt: now }] },
      ['old'],
    ],
    [
      'one of a time to come beside one of today',
      {
        backups: [
          { madeAt: now + 30 * day, provenAt: null },
          { madeAt: now, provenAt: now },
        ],
      },
      [],
    ],
    [
      'a test that a clock which was ahead has dated',
      { backups: [{ madeAt: now, provenAt: now + 30 * day }] },
      ['unproven'],
    ],
    [
      'a schedule that fails',
      {
        backups: [{ madeAt: now, provenAt: now }],
        schedule: { ...schedule, failure: { message: 'the disk is full', at: now } },
      },
      ['failing'],
    ],
    [
      'a schedule that never worked',
      { schedule: { ...schedule, failure: { message: 'the disk is full', at: now } } },
      ['failing', 'none'],
    ],
    [
      'one that is due, and no key to make it with',
      {
        backups: [{ madeAt: now - day, provenAt: now }],
        schedule: { ...schedule, dueAt: now },
        ready: false,
      },
      ['waiting'],
    ],
  ])('%s', (_what, facts, expected) => {
    expect(kinds(facts)).toEqual(expected);
  });

  test('says how old, and why', () => {
    const failure = { message: 'the disk is full', at: now };
    const notices = checkBackupHealth({
      now,
      backups: [{ madeAt: now - 30 * day, provenAt: now - 100 * day }],
      schedule: { ...schedule, failure },
      ready: true,
    });
    expect(notices.map(({ message }) => message)).toEqual([
      'The last scheduled backup was not made: the disk is full',
      'The last backup is 30 days old.',
      'The last backup test was 100 days ago.',
    ]);
  });
});
