/**
 * Follows a schedule: writes backups that are due, removes superfluous ones, and keeps the catalog of the
 * directory. While the vault is locked, it uses the backup key of the last unlock.
 */
import { rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  deleteBackupSchedule,
  getBackupSchedule,
  setBackupSchedule,
  type BackupRow,
  type BackupScheduleRow,
} from '../storage/tables/backups.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { getVault, requireVault, type VaultRow } from '../storage/tables/vault.ts';
import type { Keyring } from '../keys/keyring.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { hasCome, type Clock } from '../lib/clock.ts';
import { checkBackupKey, newBackupKey, type BackupKey } from './backup-key.ts';
import { disks } from './disks.ts';
import { newBackupId, type BackupCatalog } from './catalog.ts';
import {
  checkDestination,
  checkScheduleDirectory,
  findFiles,
  freeName,
  removeDrafts,
  scheduledFiles,
} from './destinations.ts';
import { readHeader } from './verify.ts';
import { superfluous } from './rotation.ts';
import { every } from '../lib/concurrency/every.ts';
import { owned } from '../lib/faults.ts';

export interface ScheduleParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly catalog: BackupCatalog;
  /** The vault's. @throws KeyhearthError INVALID_ARGUMENT for a vault in memory. */
  readonly directory: () => string;
  /** Makes a backup, and adds it to the catalog. */
  readonly write: (vault: VaultRow, backupKey: BackupKey, file: string, madeAt: number) => Promise<unknown>;
  /** Something about the backups has changed. */
  readonly onChange: () => void;
  /** Called when a scheduled backup fails. */
  readonly onFailure: (line: string) => void;
}

/** Milliseconds between checks for a backup that is due. A machine that slept catches up within this time. */
const lookEvery = 30_000;
/** From a scheduled backup that failed to the next try. */
const retryAfter = 10 * 60_000;
const hour = 3_600_000;

interface ScheduleFailure {
  readonly message: string;
  readonly at: number;
}

export class BackupSchedule {
  readonly #parts: ScheduleParts;
  #stopListening: (() => void) | undefined;
  #stopLooking: (() => void) | undefined;
  #backupKey: BackupKey | undefined;
  #failure: ScheduleFailure | undefined;
  #retryAt = 0;
  #looking: Promise<void> | undefined;
  /** Background work that has no caller. */
  readonly #begun = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  /** True while this process follows the schedule. */
  get isKept(): boolean {
    return this.#stopLooking !== undefined;
  }

  /** True if a backup could be written now. */
  get isReady(): boolean {
    return this.#backupKey !== undefined;
  }

  /** Keeps to the schedule from now on. */
  start(): void {
    this.#stopLooking = every(lookEvery, () => {
      this.#begin(this.#look());
    });
    this.#stopListening = this.#parts.keyring.onChange((unlocked) => {
      if (!unlocked) return;
      // After the unlock itself: the keys are there a moment before the file is watched.
      queueMicrotask(
        owned(() => {
          this.#begin(this.#unlocked());
        }),
      );
    });
  }

  /** When the next backup is due, and why the last was not made; undefined where there is no schedule. */
  state(rows: readonly BackupRow[]):
    | {
        readonly directory: string;
        readonly hours: number;
        readonly dueAt: number;
        readonly failure: ScheduleFailure | null;
      }
    | undefined {
    const plan = this.#parts.units.read(getBackupSchedule);
    if (plan === undefined) return undefined;
    const { directory, hours } = plan;
    const due = dueAt(plan, rows, this.#parts.clock.wall());
    return { directory, hours, dueAt: due, failure: this.#failureOf(plan) };
  }

  /**
   * @param wish Null for none.
   * @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT for a directory that will not do.
   */
  async set(wish: { readonly directory: string; readonly hours: number } | null): Promise<void> {
    const { units, keyring, clock, directory } = this.#parts;
    units.read(requireVault);
    // Without an open vault nothing is written.
    keyring.lend(() => undefined);
    if (wish !== null) await checkScheduleDirectory(wish.directory, directory());
    const now = clock.now();
    await units.write((tx) => {
      if (wish === null) deleteBackupSchedule(tx);
      else {
        // In the form that the paths of its files have.
        const plan = { ...wish, directory: resolve(wish.directory) };
        setBackupSchedule(tx, { ...plan, updatedAt: now, lastFailure: null, lastFailureAt: null });
      }
    });
    this.#failure = undefined;
    this.#retryAt = 0;
    if (this.isKept) await this.#unlocked();
    this.#parts.onChange();
  }

  /** Makes a scheduled backup if one is due. Records and reports a failure. */
  #look(): Promise<void> {
    return (this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    }));
  }

  /** Begins nothing more, and erases the key. */
  stop(): void {
    this.#closed = true;
    this.#stopLooking?.();
    this.#stopListening?.();
    this.#eraseBackupKey();
  }

  /** Resolves once no work is in progress. */
  async settled(): Promise<void> {
    // One may have begun another.
    while (this.#begun.size > 0) await Promise.all(this.#begun);
  }

  /** Runs work in the background, and reports its failure. */
  #begin(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => {
        this.#parts.onFailure(`Backups: ${reasonOf(error)}`);
      })
      .finally(() => {
        this.#begun.delete(settled);
      });
    this.#begun.add(settled);
  }

  async #lookOnce(): Promise<void> {
    const { units, clock, catalog, directory, write } = this.#parts;
    if (this.#closed) return;
    const vault = units.read(getVault);
    const plan = units.read(getBackupSchedule);
    if (vault === undefined || plan === undefined) return;
    const now = clock.wall();
    const isDue = hasCome(this.#retryAt, now, retryAfter) && dueAt(plan, catalog.rows(), now) <= now;
    if (!isDue) return;
    const backupKey = this.#backupKey;
    if (backupKey === undefined) return;
    try {
      await checkDestination('backup schedule', plan.directory, directory());
      await removeDrafts(vault, plan.directory);
      const file = await freeName(vault, plan.directory, now);
      // Ended, or locked and unlocked with another key, while the disk was waited for.
      if (this.#isClosed() || this.#backupKey !== backupKey) return;
      checkBackupKey(units, backupKey);
      await write(vault, backupKey, file, now);
      // The backup is there, with the old ones or without.
      await this.#rotate(vault, plan, now).catch((error: unknown) => {
        if (!this.#closed) this.#parts.onFailure(`Old backups were not removed: ${reasonOf(error)}`);
      });
      this.#failure = undefined;
      this.#retryAt = 0;
      if (plan.lastFailure !== null) await this.#recordFailure(undefined);
    } catch (error) {
      // Ended by its closing, and no failure.
      if (this.#isClosed()) return;
      const message = reasonOf(error);
      this.#failure = { message, at: now };
      this.#retryAt = now + retryAfter;
      this.#parts.onFailure(`The scheduled backup was not made: ${message}`);
      await this.#recordFailure(this.#failure);
    }
    this.#parts.onChange();
  }

  /** Removes what is superfluous among this vault's own backups in the schedule's directory, and nothing else there. */
  async #rotate(vault: VaultRow, { directory }: BackupScheduleRow, now: number): Promise<void> {
    const own: Awaited<ReturnType<typeof scheduledFiles>> = [];
    for (const backup of await scheduledFiles(vault, directory)) {
      // A name shows neither whose a file is nor that it is whole, and no backup goes for one that is not.
      const header = await readHeader(backup.file).catch(() => undefined);
      if (header?.vaultId === vault.id) own.push(backup);
    }
    const removed = new Set<string>();
    for (const { file } of superfluous(own, now)) {
      await disks.run(directory, () => rm(file, { force: true }));
      removed.add(file);
    }
    await this.#parts.catalog.forget(removed);
  }

  /** Writes what waited, makes the next backup key, and adopts files that appeared in the directory. */
  async #unlocked(): Promise<void> {
    const { units, keyring } = this.#parts;
    const vault = units.read(getVault);
    if (vault === undefined || !keyring.unlocked) return;
    this.#eraseBackupKey();
    const plan = units.read(getBackupSchedule);
    if (plan !== undefined) this.#backupKey = await newBackupKey(this.#parts, vault);
    await this.#parts.catalog.write();
    if (plan !== undefined && !this.#closed) await this.#adoptFiles(vault, plan.directory);
    this.#begin(this.#look());
  }

  /** Adds the files in the schedule's directory to the catalog, and removes those that are gone. */
  async #adoptFiles(vault: VaultRow, directory: string): Promise<void> {
    const listed = new Set(this.#parts.catalog.rows().map(({ file }) => file));
    const found: BackupRow[] = [];
    const files = await scheduledFiles(vault, directory).catch((error: unknown) => {
      // A drive that is not plugged in: what it has is known still.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
    if (files === undefined) return;
    for (const { file, madeAt } of files) {
      if (listed.has(file)) continue;
      const header = await readHeader(file).catch(() => undefined);
      if (header?.vaultId !== vault.id) continue;
      const { size } = await disks.run(directory, () => stat(file));
      found.push({
        id: newBackupId(),
        file,
        madeAt,
        logRows: 0,
        logHead: '',
        size,
        provenAt: null,
        problem: null,
      });
    }
    const there = await findFiles([...listed].filter((file) => dirname(file) === resolve(directory)));
    const gone = [...there].flatMap(([file, isThere]) => (isThere === false ? [file] : []));
    if (found.length + gone.length === 0 || this.#closed) return;
    await this.#parts.catalog.put(...found);
    await this.#parts.catalog.forget(new Set(gone));
    this.#parts.onChange();
  }

  #eraseBackupKey(): void {
    this.#backupKey?.key.fill(0);
    this.#backupKey = undefined;
  }

  /** Asked again after a wait: it may have changed since. */
  #isClosed(): boolean {
    return this.#closed;
  }

  async #recordFailure(failure: ScheduleFailure | undefined): Promise<void> {
    await this.#parts.catalog
      .write((tx) => {
        const plan = getBackupSchedule(tx);
        if (plan === undefined) return;
        const { message = null, at = null } = failure ?? {};
        setBackupSchedule(tx, { ...plan, lastFailure: message, lastFailureAt: at });
      })
      .catch((error: unknown) => {
        this.#parts.onFailure(reasonOf(error));
      });
  }

  #failureOf(plan: BackupScheduleRow): ScheduleFailure | null {
    if (this.#failure !== undefined) return this.#failure;
    if (plan.lastFailure === null) return null;
    return { message: plan.lastFailure, at: plan.lastFailureAt ?? plan.updatedAt };
  }
}

/**
 * The time of the next scheduled backup, in milliseconds; now if there is none yet. A backup dated in the
 * future came from a clock that was ahead.
 */
export function dueAt(
  { directory, hours, updatedAt }: BackupScheduleRow,
  rows: readonly BackupRow[],
  now: number,
): number {
  // Earlier versions kept the directory as it was typed.
  const place = resolve(directory);
  const newest = rows.find(({ file, madeAt }) => dirname(file) === place && madeAt <= now);
  return newest === undefined ? Math.min(updatedAt, now) : newest.madeAt + hours * hour;
}
