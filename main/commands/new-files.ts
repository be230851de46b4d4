/** Files that commands make. Nothing is overwritten, and nobody else reads them. */
import { dirname, resolve } from 'node:path';
import { createNewFile } from '../files/new-files.ts';
import { causeOf, namingFile } from '../files/storage-causes.ts';
import { CommandError, exitCodes, reasonOf } from './output.ts';

/** @param name For errors: the option that names the file. @returns its descriptor. */
export function createFile(file: string, name = file): number {
  try {
    return createNewFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new CommandError(exitCodes.failed, `${file} is there already: it is not overwritten`);
    const cause = causeOf(error);
    if (cause !== undefined && cause !== 'forbidden') throw namingFile(error, file);
    const reason =
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? `there is no directory ${dirname(resolve(file))}`
        : reasonOf(error);
    throw new CommandError(exitCodes.usage, `${name} cannot be made: ${reason}`);
  }
}
