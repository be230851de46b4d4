/** The vault's file, as commands find and read it without the process that may serve it. */
import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../storage/connection.ts';
import { reserveIn } from '../../storage/file/disk-state.ts';
import { CommandError, exitCodes } from './output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

export const vaultFile = (directory: string): string => join(directory, 'vault.db');

/** @throws CommandError if the directory is not readable, so the answer is unknown. */
export function hasVaultFile(directory: string): boolean {
  try {
    return statSync(vaultFile(directory), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new CommandError(
      exitCodes.failed,
      `${directory} cannot be looked into, so nothing is known of a vault there: ${reasonOf(error)}. Run this as the user whose vault it is`,
    );
  }
}

/** Removes the file of a vault that no process has open, and what SQLite and the vault have put beside it. */
export function removeVault(directory: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${vaultFile(directory)}${suffix}`, { force: true });
  for (const file of [reserveIn(directory), join(directory, 'vault.mark')]) rmSync(file, { force: true });
}

export interface FileToRead extends Disposable {
  readonly connection: Connection;
}

/**
 * Opens the vault's file for reading. SQLite makes files beside it even for that: where the directory can only be read, a copy
 * of the file is read, in a directory of this user's that goes afterwards.
 */
export function readVaultFile(directory: string): FileToRead {
  if (isWritable(directory)) return toRead(vaultFile(directory), () => undefined);
  const copies = makeCopies(directory);
  const remove = (): void => {
    rmSync(copies, { recursive: true, force: true });
  };
  try {
    for (const suffix of ['', '-wal']) {
      const file = `${vaultFile(directory)}${suffix}`;
      if (existsSync(file)) copyFileSync(file, `${vaultFile(copies)}${suffix}`, constants.COPYFILE_EXCL);
    }
    return toRead(vaultFile(copies), remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function makeCopies(directory: string): string {
  try {
    return mkdtempSync(join(tmpdir(), 'keyhearth-read-'));
  } catch (error) {
    throw new CommandError(
      exitCodes.failed,
      `${directory} can only be read, so the vault’s file is read from a copy, and none can be written in ${tmpdir()}: ${reasonOf(error)}. Name a directory that can be written in TMPDIR`,
    );
  }
}

function toRead(file: string, after: () => void): FileToRead {
  const connection = Connection.openReadOnly(file);
  return {
    connection,
    [Symbol.dispose]: () => {
      connection.close();
      after();
    },
  };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
