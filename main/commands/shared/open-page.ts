/** Shows a page of the window in the user's browser. */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { environmentWithoutKey } from '../../app/config.ts';
import { programPath } from '../../app/program-path.ts';
import { note } from './output.ts';

/** The words that open a file with the program that the user chose for its kind, the file's address last. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** @param page A file of this user alone: every user of the machine can read what it is opened with. */
export function opening(platform: NodeJS.Platform, page: string): readonly [string, ...string[]] {
  const [program, ...words] = openers[platform] ?? ['xdg-open'];
  return [program, ...words, pathToFileURL(page).href];
}

/** Asks the desktop to show the window; where that cannot be done, the printed line has to do. */
export function openPage(page: string | null): void {
  if (page === null) {
    note('No page for the browser can be written here: open the link yourself.');
    return;
  }
  const [program, ...words] = opening(process.platform, page);
  const child = spawn(programPath(program), words, {
    stdio: 'ignore',
    detached: true,
    env: environmentWithoutKey(),
  });
  child.on('error', () => undefined);
  child.unref();
}
