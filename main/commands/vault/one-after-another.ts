/**
 * Commands that change a file which others have too. Each reads the file and puts a whole one in its place: of two at once, the
 * later would undo what the earlier added. Such files are the user's, so the commands of all vaults wait for each other.
 */
import { accessSync, constants } from 'node:fs';
import type { Config } from '../../app/config.ts';
import { makeDirectory } from '../../files/directories.ts';
import { takeLock, type VaultLock } from '../../storage/file/vault-lock.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { undisturbed } from '../shared/signals.ts';
import { dataDirectory } from './control.ts';

/** Milliseconds. The work of one is short. */
const patience = 30_000;

/**
 * Does work while no other command of this user does any. A signal that comes meanwhile does not end it halfway.
 * @throws CommandError where another command does not come to its end.
 */
export function oneAfterAnother<Made>(config: Config, work: () => Made): Made {
  const lock = takeTurn(config);
  try {
    return undisturbed(work);
  } finally {
    lock.release();
  }
}

/** The same of work that waits for other programs. A signal ends it: the next run of the command goes on from there. */
export async function oneAfterAnotherLater<Made>(config: Config, work: () => Promise<Made>): Promise<Made> {
  const lock = takeTurn(config);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function takeTurn(config: Config): VaultLock {
  const lock = takeLock(placeOfLock(config), 'command.lock', patience);
  if (lock !== undefined) return lock;
  throw new CommandError(
    exitCodes.busy,
    'another command is changing such settings and does not end: end it, and try again',
  );
}

/** A home that can only be read has no such files to be changed. What is elsewhere is left to the commands of this vault. */
function placeOfLock(config: Config): string {
  try {
    makeDirectory(config.userDirectory);
    accessSync(config.userDirectory, constants.W_OK);
    return config.userDirectory;
  } catch {
    return dataDirectory(config);
  }
}
