/**
 * Commands that change a file which others have too. Each reads the file and puts a whole one in its place: of two at once, the
 * later would undo what the earlier added.
 */
import type { Config } from '../../app/config.ts';
import { takeLock } from '../../storage/file/vault-lock.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { undisturbed } from '../shared/signals.ts';
import { dataDirectory } from './control.ts';

/** Milliseconds. The work of one is short. */
const patience = 30_000;

/**
 * Does work while no other command of this vault does any. A signal that comes meanwhile does not end it halfway.
 * @throws CommandError where another command does not come to its end.
 */
export function oneAfterAnother<Made>(config: Config, work: () => Made): Made {
  const directory = dataDirectory(config);
  const lock = takeLock(directory, 'command.lock', patience);
  if (lock === undefined) {
    throw new CommandError(
      exitCodes.busy,
      'another command of this vault is changing such settings and does not end: end it, and try again',
    );
  }
  try {
    return undisturbed(work);
  } finally {
    lock.release();
  }
}
