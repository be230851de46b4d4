/** Files that commands create. They overwrite nothing, and no other user can read them. */
import { closeSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createNewFile, syncDirectory } from '../../files/new-files.ts';
import { causeOf, namingFile } from '../../files/storage-causes.ts';
import { CommandError, exitCodes } from './output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

/**
 * Makes a file, before anything is done that cannot be undone, and has it written to the disk. Where that fails, nothing is left.
 * @param name For errors: the option that names the file.
 */
export async function writeFileOnce(
  file: string,
  write: (descriptor: number) => Promise<void> | void,
  name = file,
): Promise<void> {
  const descriptor = createFile(file, name);
  let isWhole = false;
  try {
    await write(descriptor);
    fsyncSync(descriptor);
    syncDirectory(dirname(file));
    isWhole = true;
  } catch (error) {
    throw namingFile(error, file);
  } finally {
    closeSync(descriptor);
    if (!isWhole) rmSync(file, { force: true });
  }
}

/** @returns its descriptor. */
function createFile(file: string, name: string): number {
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
    throw new CommandError(exitCodes.usage, `${name} cannot be created: ${reason}`);
  }
}

/**
 * Writes new files to the disk: all of them, or none.
 * @param option For errors: the option that names them.
 */
export function writeSecretFiles(
  option: string,
  files: readonly { readonly file: string; readonly text: string }[],
): void {
  const made: string[] = [];
  try {
    for (const { file, text } of files) {
      const descriptor = createFile(file, `${option} ${file}`);
      made.push(file);
      try {
        writeFileSync(descriptor, text);
        fsyncSync(descriptor);
      } catch (error) {
        throw namingFile(error, file);
      } finally {
        closeSync(descriptor);
      }
    }
    for (const directory of new Set(files.map(({ file }) => dirname(file)))) syncDirectory(directory);
  } catch (error) {
    for (const file of made) rmSync(file, { force: true });
    throw error;
  }
}
