// `npm run check:folders`: no folder of the code has more files than one takes in at a glance. Tests count too.
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const projectRoot = join(import.meta.dirname, '../..');
const most = 30;

/** Folders with one file for each thing: a reader knows its name. */
const exceptions = new Set(['main/storage/tables']);

/** Output of tests. */
const ignored = new Set(['test/output']);

/** @returns the folder and those within it that have too many files, each with how many. */
export function fullFolders(folder: string, root = projectRoot): readonly (readonly [string, number])[] {
  const path = relative(root, folder).split(sep).join('/');
  if (ignored.has(path)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).length;
  return [
    ...(files > most && !exceptions.has(path) ? [[path, files] as const] : []),
    ...entries
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => fullFolders(join(folder, name), root)),
  ];
}

if (import.meta.main) {
  const full = ['main', 'preload', 'renderer', 'test'].flatMap((name) =>
    fullFolders(join(projectRoot, name)),
  );
  for (const [path, files] of full) {
    console.error(`${path} has ${files} files, and ${most} at most: make folders of what belongs together`);
    process.exitCode = 1;
  }
}
