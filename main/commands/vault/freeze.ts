/** `keyhearth freeze`: of the vault that runs, or of its file where none does. */
import type { Config } from '../../app/config.ts';
import { FreezeMarker } from '../../app/freeze-marker.ts';
import { describeFreeze } from '../../app/freeze-signal.ts';
import { causeOf, storageTexts } from '../../files/storage-causes.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isLocked } from '../../storage/file/vault-directory.ts';
import { findRunning } from '../shared/client.ts';
import { withVault } from '../shared/opened-vault.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { dataDirectory } from './control.ts';

export async function freeze(config: Config, json: boolean): Promise<void> {
  const { frozen } = await withVault(config, (vault) => vault.call('freeze')).catch(
    async (error: unknown) => {
      throw isOfDisk(error) ? await freezeByMarker(dataDirectory(config), error) : error;
    },
  );
  const details = frozen === null ? [] : [describeFreeze(frozen)];
  print(
    json,
    { frozen },
    [
      'The vault is frozen, and its keys are erased from memory. Unlocking takes the password or the recovery phrase, and rejects all activities that need approval: keyhearth unlock',
      ...details,
    ].join('\n'),
  );
}

const isOfDisk = (error: unknown): error is Error =>
  causeOf(error) !== undefined || (error instanceof KeyhearthError && error.code === 'STORAGE_UNAVAILABLE');

/**
 * Freezes a vault that no process serves, and that cannot be opened on this disk: to rename a file needs no room.
 * @returns what the command ends with.
 */
async function freezeByMarker(directory: string, opening: Error): Promise<Error> {
  // The service has reported the outcome of the freeze itself.
  if ((await findRunning(directory)) !== undefined) return opening;
  try {
    new FreezeMarker(directory).set();
  } catch (error) {
    const cause = causeOf(error);
    const why = cause === undefined ? String(error) : storageTexts[cause].what;
    return new CommandError(
      exitCodes.storage,
      `The vault is not frozen, as the file ‘not-frozen’ beside it cannot be renamed: ${why}. ${opening.message}`,
    );
  }
  // One that was starting meanwhile may have looked before.
  if (isLocked(directory)) {
    return new CommandError(
      exitCodes.busy,
      'The vault is frozen from its next start on, but a process has just opened it: run `keyhearth freeze` again',
    );
  }
  return new CommandError(
    exitCodes.storage,
    `The vault is frozen by the name of the file ‘frozen’ beside it, and not in it: ${opening.message} No process serves it, and none opens it but with its password or recovery phrase.`,
  );
}
