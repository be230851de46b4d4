/** Where backups may lie, and which files there are this vault's. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { VaultRow } from '../db/vault.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { draftOf, messageOf } from './file.ts';
import { backupName, readBackupName } from './rotation.ts';
import { owned } from '../lib/faults.ts';

/** How long a file may take to be found, before it counts as not to be seen: a network's disk may not answer. */
const findWithin = 1_000;

export const databaseIn = (vaultDirectory: string): string => join(vaultDirectory, 'vault.db');

/** One at a time: the vault's directory is one process's, and its backups are made in turn. */
export const copyIn = (vaultDirectory: string): string => join(vaultDirectory, 'vault.db.copy');

/** Removes a database with what SQLite puts beside one: a journal that is left would be taken for the next one's. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * @param field What named the directory.
 * @throws LatchkeyError INVALID_ARGUMENT for a directory that is not there, or lies with the vault.
 */
export function checkPlace(field: string, directory: string, vaultDirectory: string): void {
  if (!isAbsolute(directory)) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid ${field}: expected an absolute path, got ${directory}`,
    );
  }
  const inside = relative(vaultDirectory, directory);
  if (inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `${directory} is the vault's own directory: a backup there is lost with the vault; choose another`,
    );
  }
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new LatchkeyError('INVALID_ARGUMENT', `there is no directory ${directory}`);
  }
}

/** @throws LatchkeyError INVALID_ARGUMENT for a directory that cannot be written either. */
export function checkScheduleDirectory(directory: string, vaultDirectory: string): void {
  // One directory is made, no tree: a stick that is not plugged in is not taken for a place on the disk.
  if (isAbsolute(directory) && !existsSync(directory) && existsSync(dirname(directory))) {
    mkdirSync(directory, { mode: 0o700 });
  }
  checkPlace('schedule.directory', directory, vaultDirectory);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LatchkeyError('INVALID_ARGUMENT', `${directory} cannot be written: ${messageOf(error)}`);
  }
}

/** A name for a new backup; names tell seconds, and one of the same second has its name already. */
export function freeName(vault: VaultRow, directory: string, madeAt: number): string {
  for (let at = madeAt; ; at += 1000) {
    const file = join(directory, backupName(vault.id, at));
    if (!existsSync(file)) return file;
  }
}

/** The files of a directory that are named as this vault's scheduled backups. */
export function scheduledFiles(vault: VaultRow, directory: string): { file: string; madeAt: number }[] {
  return readdirSync(directory).flatMap((name) => {
    const madeAt = readBackupName(vault.id, name);
    return madeAt === undefined ? [] : [{ file: join(directory, name), madeAt }];
  });
}

/** Removes what an interrupted backup of this vault left. */
export function removeDrafts(vault: VaultRow, directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.endsWith(draftOf('')) && readBackupName(vault.id, basename(name, draftOf(''))) !== undefined) {
      rmSync(join(directory, name), { force: true });
    }
  }
}

/** @returns null where the disk does not answer. */
export async function isThere(file: string): Promise<boolean | null> {
  const silence = new Promise<null>((resolve) => {
    setTimeout(
      owned(() => {
        resolve(null);
      }),
      findWithin,
    ).unref();
  });
  const found = access(file).then(
    () => true,
    () => false,
  );
  return Promise.race([found, silence]);
}
