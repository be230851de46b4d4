/**
 * Decides which scheduled backups are kept: the last seven, and the newest of each of four weeks and twelve
 * months.
 */
import { formerName } from '../lib/text/former-name.ts';

/** Number of backups to keep, by kind. */
const keeps = { last: 7, weekly: 4, monthly: 12 } as const;

export interface Dated {
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
}

/**
 * Weeks begin on Monday, months on their first, both in UTC, and those without a backup do not count: a vault that slept
 * for a year keeps what it had.
 * Those of a time to come, which a clock that was ahead has dated, stay until then, and no other goes for them.
 * @returns those that may go, oldest first.
 */
export function superfluous<Backup extends Dated>(backups: readonly Backup[], now: number): Backup[] {
  const newestFirst = backups.filter(({ madeAt }) => madeAt <= now).sort((a, b) => b.madeAt - a.madeAt);
  const kept = new Set([
    ...newestFirst.slice(0, keeps.last),
    ...newestPer(newestFirst, weekOf, keeps.weekly),
    ...newestPer(newestFirst, monthOf, keeps.monthly),
  ]);
  return newestFirst.filter((backup) => !kept.has(backup)).reverse();
}

function newestPer<Backup extends Dated>(
  newestFirst: readonly Backup[],
  periodOf: (madeAt: number) => number,
  most: number,
): Backup[] {
  const newest = new Map<number, Backup>();
  for (const backup of newestFirst) {
    const period = periodOf(backup.madeAt);
    if (!newest.has(period)) newest.set(period, backup);
  }
  return [...newest.values()].slice(0, most);
}

const day = 86_400_000;

/** Counted from the Monday before the epoch, which was a Thursday. */
const weekOf = (time: number): number => Math.floor((time / day + 3) / 7);

function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The name of a scheduled backup: its vault and its time in UTC. */
export const backupName = (vaultId: string, madeAt: number): string =>
  `${beginningOf(vaultId)}${new Date(madeAt)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '')}.backup`;

/** The name of a copy for a person: its vault and its time in UTC. */
export function copyName(vault: string, madeAt: number): string {
  const whose = vault.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '');
  const when = new Date(madeAt).toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `keyhearth-${whose === '' ? 'vault' : whose}-${when}.backup`;
}

/**
 * @returns the time in the name of a backup; undefined for a name that is not that of a backup of this vault.
 */
export function readBackupName(vaultId: string, fileName: string): number | undefined {
  const beginning = [beginningOf(vaultId), beginningOf(vaultId, formerName)].find((each) =>
    fileName.startsWith(each),
  );
  if (beginning === undefined) return undefined;
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/.exec(fileName.slice(beginning.length));
  if (match === null) return undefined;
  const [, year, month, dayOfMonth, hour, minute, second] = match;
  const time = Date.parse(
    `${String(year)}-${String(month)}-${String(dayOfMonth)}T${String(hour)}:${String(minute)}:${String(second)}Z`,
  );
  return Number.isNaN(time) ? undefined : time;
}

const beginningOf = (vaultId: string, product = 'keyhearth'): string => `${product}-${vaultId.slice(0, 8)}-`;
