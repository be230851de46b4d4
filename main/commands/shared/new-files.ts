/** Files that commands create. They overwrite nothing, and no other user can read them. */
import { closeSync, fsyncSync, lstatSync, rmSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import {
  createNewFile,
  moveToFreeName,
  newDraft,
  syncDirectory,
  writeWholeFile,
} from '../../files/new-files.ts';
import { causeOf, namingFile } from '../../files/storage-causes.ts';
import { CommandError, exitCodes } from './output.ts';
import { beforeEnding, undisturbed } from './signals.ts';
import { ExplainedError } from '../../lib/errors.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

/**
 * Makes a file, before anything is done that cannot be undone, and has it written to the disk. It has its name once it is whole:
 * where that fails, and where the command is ended meanwhile, nothing has the name.
 * @param name For errors: the option that names the file.
 */
export async function writeFileOnce(
  file: string,
  write: (descriptor: number) => Promise<void> | void,
  name = file,
): Promise<void> {
  const draft = newDraft(file);
  using _ = beforeEnding(() => {
    rmSync(draft, { force: true });
  });
  const descriptor = creating(file, name, () => createNewFile(draft));
  let made = draft;
  try {
    try {
      await write(descriptor);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    checkFree(file);
    moveToFreeName(draft, file);
    made = file;
    syncDirectory(dirname(file));
  } catch (error) {
    rmSync(made, { force: true });
    throw isTaken(error) ? alreadyThere(file) : namingFile(error, file);
  }
}

/** A file system without hard links would have a draft replace what has the name. */
function checkFree(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw alreadyThere(file);
}

const alreadyThere = (file: string): CommandError =>
  new CommandError(exitCodes.failed, `${file} is there already: it is not overwritten`);

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** @throws CommandError that says why a file cannot be created. */
function creating<Made>(file: string, name: string, create: () => Made): Made {
  try {
    checkFree(file);
    if (file.endsWith('/') || file.endsWith(sep)) throw new ExplainedError('it is the name of a directory');
    return create();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (isTaken(error)) throw alreadyThere(file);
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
 * Writes the new files that `--output` names to the disk: all of them, or none, also where a signal comes meanwhile. Each has its
 * name once it is whole.
 */
export function writeSecretFiles(files: readonly { readonly file: string; readonly text: string }[]): void {
  undisturbed(() => {
    const made: string[] = [];
    try {
      for (const { file, text } of files) {
        creating(file, `--output ${file}`, () => {
          writeWholeFile(file, text);
        });
        made.push(file);
      }
      for (const directory of new Set(files.map(({ file }) => dirname(file)))) syncDirectory(directory);
    } catch (error) {
      for (const file of made) rmSync(file, { force: true });
      throw error;
    }
  });
}
