/**
 * Pages that lead a browser into the window. The program that opens a browser gets its arguments from a command line, which
 * every user of the machine can read; so it is given the path of a file, and the file, which this user alone can read, has
 * the code.
 */
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeNewFile } from '../../files/new-files.ts';
import { owned } from '../../lib/faults.ts';

/** From a page's making to its end, in milliseconds: a browser that is not running yet takes its time. */
export const pageLifetimeMs = 2 * 60_000;

const prefix = 'keyhearth-window-';
const made = /^keyhearth-window-[A-Za-z0-9]{6}$/;
const pageName = 'open.html';

export class OpeningPages {
  readonly #parents: readonly string[];
  readonly #onFault: (error: unknown) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /**
   * @param parents Directories to make one in, the best first. Browsers that are packed as snaps read no hidden directory and
   * no `/tmp`.
   */
  constructor(parents: readonly string[], onFault: (error: unknown) => void) {
    this.#parents = parents;
    this.#onFault = onFault;
  }

  /** @returns the page's path, or null where none can be written. */
  write(address: string): string | null {
    for (const parent of this.#parents) {
      try {
        removeOld(parent);
        const directory = mkdtempSync(join(realpathSync(parent), prefix));
        this.#keep(directory);
        const page = join(directory, pageName);
        writeNewFile(page, pageTo(address));
        return page;
      } catch {
        // It is not there, or not to be written: the next may be.
      }
    }
    return null;
  }

  /** Removes a page that is used. */
  remove(page: string): void {
    this.#remove(join(page, '..'));
  }

  close(): void {
    for (const directory of [...this.#timers.keys()]) this.#remove(directory);
  }

  #keep(directory: string): void {
    const end = owned(() => {
      this.#remove(directory);
    }, this.#onFault);
    this.#timers.set(directory, setTimeout(end, pageLifetimeMs).unref());
  }

  #remove(directory: string): void {
    clearTimeout(this.#timers.get(directory));
    this.#timers.delete(directory);
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch (error) {
      // Its code is spent or old by now.
      this.#onFault(error);
    }
  }
}

/** Removes the pages of processes that were killed. Their codes ended with them. */
function removeOld(parent: string): void {
  for (const name of readdirSync(parent).filter((each) => made.test(each))) {
    const directory = join(parent, name);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    const isOurs = found?.isDirectory() === true && found.uid === process.geteuid?.();
    if (!isOurs || Date.now() - found.mtimeMs < 2 * pageLifetimeMs) continue;
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param address Has no character that HTML gives a meaning to. */
const pageTo = (address: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0;url=${address}">
<title>Keyhearth</title>
</head>
<body>
<p><a href="${address}">Open Keyhearth</a></p>
</body>
</html>
`;
