/**
 * The lock that keeps a vault to one process, and others like it: an SQLite transaction held on a file of its own. The system drops
 * it with the process, however that ends, so there is no stale lock to judge.
 */
import { chmodSync, existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

export interface VaultLock {
  release(): void;
}

/** The vault's own. */
const usual = 'lock';

const lockFile = (directory: string, name = usual): string => join(directory, name);

/** Milliseconds: a look whether the lock is held holds it for less. */
const patience = 200;

const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');

/**
 * The file's content does not matter. SQLite refuses one that it cannot read, and only while no process holds
 * it.
 */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code);

/**
 * @param name Of the lock, and of its file.
 * @param waitMs Milliseconds for which it waits for another process.
 * @returns undefined where another process holds it.
 */
export function takeLock(directory: string, name = usual, waitMs = patience): VaultLock | undefined {
  const file = lockFile(directory, name);
  // SQLite gives a journal the mode of its file.
  createPrivateFile(file);
  chmodSync(file, 0o600);
  try {
    return hold(file, waitMs);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    truncateSync(file);
    return hold(file, waitMs);
  }
}

function hold(file: string, timeout: number): VaultLock | undefined {
  const lock = new Sqlite(file, { timeout });
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return {
    release: () => {
      lock.close();
    },
  };
}

/** True if a process holds the lock now. */
export function isLocked(directory: string): boolean {
  const file = lockFile(directory);
  if (!existsSync(file)) return false;
  try {
    const lock = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      lock.prepare('SELECT 1 FROM sqlite_schema').get();
      return false;
    } finally {
      lock.close();
    }
  } catch (error) {
    return isBusy(error);
  }
}

/** Makes a file, where it is missing, readable by its owner alone before anything is in it. */
export function createPrivateFile(file: string): void {
  writeFileSync(file, '', { mode: 0o600, flag: 'a' });
}
