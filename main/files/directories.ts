/**
 * Makes directories of the user's own, with those above them. Node's own way to do it never ends where the system says that
 * there is none while the one above it is there: in /proc, and under some automatic mounts.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Of the owner alone. */
const options = { mode: 0o700 };

/** @throws Error of the system, where none is there afterwards. */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const above = dirname(path);
    if (!isMissing(error) || above === path || existsSync(above)) throw error;
    makeDirectory(above);
    makeDirectory(path);
  }
}

/** The same on a disk that the thread must not wait for. */
export async function makeDirectoryLater(path: string): Promise<void> {
  try {
    await mkdir(path, options);
  } catch (error) {
    const isThere = (wanted: string) =>
      stat(wanted).then(
        (found) => found.isDirectory(),
        () => false,
      );
    if (await isThere(path)) return;
    const above = dirname(path);
    if (!isMissing(error) || above === path || (await isThere(above))) throw error;
    await makeDirectoryLater(above);
    await makeDirectoryLater(path);
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
