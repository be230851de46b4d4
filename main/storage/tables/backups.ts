/** Backups that were made of this vault, and when the next are due. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const backups = table('backups', {
  id: text,
  /** Its path on the machine that made it. */
  file: text,
  madeAt: number,
  /** The length of the activity log in it; 0 where the file was found, and not yet opened. */
  logRows: number,
  /** Hex, the hash of the log's last row; empty where the file was found, and not yet opened. */
  logHead: text,
  /** In bytes. */
  size: number,
  /** When it was last shown to restore; null where that was never tried. */
  provenAt: number.orNull,
  /** The fault that the last verification found. */
  problem: text.orNull,
});

export type BackupRow = RowOf<typeof backups>;

/** Newest first. */
export const listBackupRows = (tx: Reader): BackupRow[] =>
  tx.all<BackupRow>(`SELECT ${backups.columns} FROM backups ORDER BY made_at DESC, rowid DESC`);

/** A file holds one backup: what the path held before is forgotten. */
export function insertBackup(tx: Writer, row: BackupRow): void {
  deleteBackupOf(tx, row.file);
  backups.insert(tx, row);
}

export function deleteBackupOf(tx: Writer, file: string): void {
  tx.run('DELETE FROM backups WHERE file = ?', file);
}

/** Keeps the newest. */
export function forgetOldBackups(tx: Writer, keep: number): void {
  tx.run(
    'DELETE FROM backups WHERE rowid NOT IN (SELECT rowid FROM backups ORDER BY made_at DESC LIMIT ?)',
    keep,
  );
}

export interface BackupScheduleRow {
  readonly directory: string;
  /** Between one backup and the next. */
  readonly hours: number;
  readonly updatedAt: number;
  /** Why the last scheduled backup was not made; null once one was. */
  readonly lastFailure: string | null;
  readonly lastFailureAt: number | null;
}

export const getBackupSchedule = (tx: Reader): BackupScheduleRow | undefined =>
  tx.get<BackupScheduleRow>(
    `SELECT directory, hours, updated_at AS updatedAt, last_failure AS lastFailure, last_failure_at AS lastFailureAt
     FROM backup_schedule`,
  );

export function setBackupSchedule(tx: Writer, row: BackupScheduleRow): void {
  deleteBackupSchedule(tx);
  tx.run(
    `INSERT INTO backup_schedule (one, directory, hours, updated_at, last_failure, last_failure_at)
     VALUES (1, ?, ?, ?, ?, ?)`,
    row.directory,
    row.hours,
    row.updatedAt,
    row.lastFailure,
    row.lastFailureAt,
  );
}

export function deleteBackupSchedule(tx: Writer): void {
  tx.run('DELETE FROM backup_schedule');
}
