/** Directories for backups, and the files in them that belong to this vault. */
import { rmSync } from 'node:fs';
import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { VaultRow } from '../storage/tables/vault.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { disks } from './disks.ts';
import { draftOf } from './file.ts';
import { backupName, readBackupName } from './rotation.ts';

/** Milliseconds for which a search for files may last before they count as missing: a person waits for it. */
const findWithinMs = 1_000;

export const databaseIn = (vaultDirectory: string): string => join(vaultDirectory, 'vault.db');

/** One path is enough: one process holds the vault's directory, and backups are written one after another. */
export const copyIn = (vaultDirectory: string): string => join(vaultDirectory, 'vault.db.copy');

/** Removes a database with what SQLite puts beside one: a journal that is left would be taken for the next one's. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * @param field What named the directory.
 * @throws KeyhearthError INVALID_ARGUMENT for a directory that is not there, or lies with the vault; UNAVAILABLE for one whose
 * disk does not answer.
 */
export async function checkDestination(
  field: string,
  directory: string,
  vaultDirectory: string,
): Promise<void> {
  checkPath(field, directory, vaultDirectory);
  if (!(await disks.run(directory, () => isDirectory(directory)))) {
    throw new KeyhearthError('INVALID_ARGUMENT', `there is no directory ${directory}`);
  }
}

/** @throws KeyhearthError as `checkPlace`, and INVALID_ARGUMENT for a directory that cannot be written. */
export async function checkScheduleDirectory(directory: string, vaultDirectory: string): Promise<void> {
  const field = 'schedule.directory';
  checkPath(field, directory, vaultDirectory);
  await disks.run(directory, async () => {
    // Only one directory is created, not a tree: else a path on an unplugged drive would be created on the
    // disk.
    const isNew = !(await exists(directory)) && (await exists(dirname(directory)));
    if (isNew) await mkdir(directory, { mode: 0o700 });
  });
  await checkDestination(field, directory, vaultDirectory);
  try {
    await disks.run(directory, () => access(directory, constants.W_OK | constants.X_OK));
  } catch (error) {
    if (error instanceof KeyhearthError) throw error;
    throw new KeyhearthError('INVALID_ARGUMENT', `${directory} cannot be written: ${reasonOf(error)}`);
  }
}

function checkPath(field: string, directory: string, vaultDirectory: string): void {
  if (!isAbsolute(directory)) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `invalid ${field}: expected an absolute path, got ${directory}`,
    );
  }
  const inside = relative(vaultDirectory, directory);
  if (inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `${directory} is the vault's own directory: a backup there is lost with the vault; choose another`,
    );
  }
}

/** A name for a new backup; names tell seconds, and one of the same second has its name already. */
export const freeName = (vault: VaultRow, directory: string, madeAt: number): Promise<string> =>
  disks.run(directory, async () => {
    for (let at = madeAt; ; at += 1000) {
      const file = join(directory, backupName(vault.id, at));
      if (!(await exists(file))) return file;
    }
  });

/** The files of a directory that are named as this vault's scheduled backups. */
export async function scheduledFiles(
  vault: VaultRow,
  directory: string,
): Promise<{ file: string; madeAt: number }[]> {
  const names = await disks.run(directory, () => readdir(directory));
  return names.flatMap((name) => {
    const madeAt = readBackupName(vault.id, name);
    return madeAt === undefined ? [] : [{ file: join(directory, name), madeAt }];
  });
}

/** Removes what an interrupted backup of this vault left. */
export const removeDrafts = (vault: VaultRow, directory: string): Promise<void> =>
  disks.run(directory, async () => {
    for (const name of await readdir(directory)) {
      if (name.endsWith(draftOf('')) && readBackupName(vault.id, basename(name, draftOf(''))) !== undefined) {
        await rm(join(directory, name), { force: true });
      }
    }
  });

/** @returns by file whether it is there; null where its disk does not answer. */
export async function findFiles(files: readonly string[]): Promise<ReadonlyMap<string, boolean | null>> {
  const found = new Map<string, boolean | null>();
  const inDirectory = async ([directory, members]: readonly [string, readonly string[]]): Promise<void> => {
    const look = async (): Promise<void> => {
      for (const file of members) found.set(file, await exists(file));
    };
    await disks.run(directory, look, { limitMs: findWithinMs }).catch(() => undefined);
  };
  await Promise.all([...Map.groupBy(files, dirname)].map(inDirectory));
  return new Map(files.map((file) => [file, found.get(file) ?? null]));
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
