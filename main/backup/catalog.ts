/** The catalog of a vault's backups: rows, and entries that wait in memory while the vault is locked. */
import { randomBytes } from 'node:crypto';
import { uuidV4 } from '../crypto/uuid.ts';
import {
  deleteBackupOf,
  forgetOldBackups,
  insertBackup,
  listBackupRows,
  type BackupRow,
} from '../storage/tables/backups.ts';
import type { Writer } from '../storage/connection.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Keyring } from '../keys/keyring.ts';

export const newBackupId = (): string => uuidV4(new Uint8Array(randomBytes(16)));

/** Of backups in the catalog. */
const mostKept = 1000;

export class BackupCatalog {
  readonly #units: UnitOfWork;
  readonly #keyring: Keyring;
  /** Writes that wait for the vault to be unlocked: a locked vault changes nothing. */
  #pending: ((tx: Writer) => void)[] = [];
  /** Rows among them, shown as if they were there. */
  #pendingRows: BackupRow[] = [];
  #closed = false;

  constructor(units: UnitOfWork, keyring: Keyring) {
    this.#units = units;
    this.#keyring = keyring;
  }

  /** Newest first, those that wait to be written among them. */
  rows(): BackupRow[] {
    const waiting = this.#pendingRows;
    const files = new Set(waiting.map(({ file }) => file));
    const written = this.#units.read(listBackupRows).filter(({ file }) => !files.has(file));
    return [...waiting, ...written].sort((a, b) => b.madeAt - a.madeAt);
  }

  /** Adds rows, each in the place of the one of the same file, if there is one. */
  async put(...rows: readonly BackupRow[]): Promise<void> {
    if (rows.length === 0) return;
    const files = new Set(rows.map(({ file }) => file));
    this.#pendingRows = [...this.#pendingRows.filter(({ file }) => !files.has(file)), ...rows];
    await this.write((tx) => {
      for (const row of rows) insertBackup(tx, row);
      forgetOldBackups(tx, mostKept);
    });
  }

  async forget(files: ReadonlySet<string>): Promise<void> {
    if (files.size === 0) return;
    this.#pendingRows = this.#pendingRows.filter(({ file }) => !files.has(file));
    await this.write((tx) => {
      for (const file of files) deleteBackupOf(tx, file);
    });
  }

  /** Writes now if the vault is unlocked, else once it is. What waits goes first. */
  async write(write?: (tx: Writer) => void): Promise<void> {
    if (write !== undefined) this.#pending.push(write);
    if (this.#pending.length === 0 || !this.#keyring.unlocked || this.#closed) return;
    const writes = [...this.#pending];
    const rows = this.#pendingRows;
    await this.#units.write((tx) => {
      for (const each of writes) each(tx);
    });
    // Not before: what fails waits for the next try. Repeating what is written already changes nothing.
    this.#pending = this.#pending.filter((each) => !writes.includes(each));
    this.#pendingRows = this.#pendingRows.filter((row) => !rows.includes(row));
  }

  /** Drops files that wait. The schedule's directory leads to them again. */
  close(): void {
    this.#closed = true;
  }
}
