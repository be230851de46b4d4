/** The findings of `keyhearth doctor` about the schedule of backups. */
import type { BackupsStatus } from '../../../preload/contract.ts';
import { dueAt } from '../../backup/schedule.ts';
import type { Finding } from '../../self-test/finding.ts';
import { schemaVersion } from '../../storage/migrations.ts';
import type { Connection } from '../../storage/connection.ts';
import { getBackupSchedule, listBackupRows } from '../../storage/tables/backups.ts';
import { when } from '../backup/backup.ts';

type Schedule = NonNullable<BackupsStatus['schedule']>;

/** A backup of a large vault takes its time, and one that failed is tried again every ten minutes. */
const lateAfter = 3_600_000;

/** As the file has it, where no process serves the vault. */
export function readSchedule(connection: Connection, now: number): Schedule | null {
  if (Number(connection.pragma('user_version')) !== schemaVersion) return null;
  const plan = getBackupSchedule(connection);
  if (plan === undefined) return null;
  const { directory, hours, lastFailure: message, lastFailureAt: at } = plan;
  return {
    directory,
    hours,
    dueAt: dueAt(plan, listBackupRows(connection), now),
    failure: message === null || at === null ? null : { message, at },
  };
}

export function scheduleFinding(
  schedule: Schedule,
  { now, isServed }: { readonly now: number; readonly isServed: boolean },
): Finding {
  const check = 'scheduled backups';
  const { directory, hours, failure } = schedule;
  if (failure !== null) {
    return {
      check,
      outcome: 'failed',
      detail: `the last was not made, at ${when(failure.at)}: ${failure.message}. It is tried again every ten minutes. Make ${directory} writable, or choose another: \`keyhearth backup schedule DIRECTORY\``,
    };
  }
  if (now - schedule.dueAt > lateAfter) {
    const why = isServed
      ? 'it is created once the vault is unlocked: `keyhearth unlock`'
      : 'it is created once a process serves the vault: `keyhearth serve`';
    return {
      check,
      outcome: isServed ? 'failed' : 'note',
      detail: `one is due since ${when(schedule.dueAt)}, and ${why}. Or make one now: \`keyhearth backup FILE\``,
    };
  }
  return {
    check,
    outcome: 'ok',
    detail: `every ${String(hours)} hours into ${directory}; the next is due ${when(schedule.dueAt)}`,
  };
}
