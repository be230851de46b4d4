/** Health checks of the backups, which the owner sees without asking. */
import type { BackupNotice } from '../../preload/contract.ts';

const day = 86_400_000;

/** A backup is old after a week, or after twice the interval of the schedule. */
const oldAfterDays = 7;
/** A verified restore is old after three months. */
const verifiedForDays = 90;

export interface BackupFacts {
  readonly now: number;
  /** Newest first. */
  readonly backups: readonly { readonly madeAt: number; readonly provenAt: number | null }[];
  readonly schedule:
    | {
        readonly hours: number;
        readonly dueAt: number;
        readonly failure: { readonly message: string; readonly at: number } | null;
      }
    | undefined;
  /** True if a backup that falls due can be written. */
  readonly ready: boolean;
}

/** @returns the most pressing first; none where all is well. */
export function checkBackupHealth({ now, backups, schedule, ready }: BackupFacts): BackupNotice[] {
  const notices: BackupNotice[] = [];
  const newest = backups.find(({ madeAt }) => madeAt <= now) ?? backups.at(-1);
  if (schedule?.failure) {
    notices.push({
      kind: 'failing',
      message: `The last scheduled backup was not made: ${schedule.failure.message}`,
    });
  }
  if (newest === undefined) {
    notices.push({
      kind: 'none',
      message: 'There is no backup yet. If this disk is lost, its keys are lost with it.',
    });
    return notices;
  }
  const oldAfter = Math.max(oldAfterDays * day, (schedule?.hours ?? 0) * 2 * 3_600_000);
  const age = now - newest.madeAt;
  if (age > oldAfter) {
    notices.push({ kind: 'old', message: `The last backup is ${wholeDays(age)} old.` });
  } else if (age < 0) {
    notices.push({
      kind: 'old',
      message:
        'The age of the last backup is not known: this computer’s clock was ahead. Make another backup.',
    });
  }
  if (schedule !== undefined && !ready && schedule.dueAt <= now) {
    notices.push({ kind: 'waiting', message: 'A backup is due, and waits for the vault to be unlocked.' });
  }
  const lastVerified = Math.max(...backups.map(({ provenAt }) => provenAt ?? -Infinity));
  if (lastVerified > now || now - lastVerified > verifiedForDays * day) {
    notices.push({
      kind: 'unproven',
      message:
        lastVerified === -Infinity
          ? 'No backup has been tested. Test one to be sure it restores.'
          : lastVerified > now
            ? 'The date of the last test is not known: this computer’s clock was ahead. Test a backup again.'
            : `The last backup test was ${wholeDays(now - lastVerified)} ago.`,
    });
  }
  return notices;
}

function wholeDays(milliseconds: number): string {
  const days = Math.floor(milliseconds / day);
  return days === 1 ? '1 day' : `${days} days`;
}
