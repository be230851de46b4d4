/**
 * The freeze as the name of a file: `not-frozen`, made in time, becomes `frozen`. To rename a file needs no room on the disk, and
 * works where the database cannot be written; so a restart finds the freeze all the same. Either the row or the name says so.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../files/new-files.ts';

export class FreezeMarker {
  readonly #directory: string;
  readonly #ready: string;
  readonly #set: string;

  /** @param directory The vault's. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#ready = join(directory, 'not-frozen');
    this.#set = join(directory, 'frozen');
  }

  /** Since when, in milliseconds, by the time of the renaming; undefined where it does not say so. */
  get frozenAt(): number | undefined {
    const found = statSync(this.#set, { throwIfNoEntry: false });
    return found && Math.floor(found.ctimeMs);
  }

  /** Makes the file that a freeze renames. A disk that does not take it now may take it at the next start. */
  prepare(): void {
    if (existsSync(this.#ready) || existsSync(this.#set)) return;
    try {
      closeSync(openSync(this.#ready, 'wx', 0o600));
    } catch {
      // A freeze tries once more.
    }
  }

  /** @throws Error where the directory cannot be written. */
  set(): void {
    if (existsSync(this.#set)) return;
    if (existsSync(this.#ready)) renameSync(this.#ready, this.#set);
    else closeSync(openSync(this.#set, 'wx', 0o600));
    syncDirectory(this.#directory);
  }

  /** @throws Error where the directory cannot be written. */
  clear(): void {
    if (!existsSync(this.#set)) return;
    renameSync(this.#set, this.#ready);
    syncDirectory(this.#directory);
  }

  /** Removes what `prepare` made, of a directory that holds no vault. */
  remove(): void {
    rmSync(this.#ready, { force: true });
  }
}
