/** The path of Litestream's program: on the PATH, or where `npm test` installs it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The package on npm that has the program for this platform and nothing else. */
export const litestreamPackage = `@flydotio/litestream-${process.platform}-${process.arch}`;
export const litestreamVersion = '1.0.1';

/** Not among the project's own packages: for other platforms than one's own npm would have to find them too. */
export const toolsDirectory = join(import.meta.dirname, '../../node_modules/.cache/tools');

/** @returns undefined where there is none. */
export function findLitestream(): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  return [...directories, join(toolsDirectory, 'node_modules', litestreamPackage)]
    .map((directory) => join(directory, 'litestream'))
    .find((program) => {
      try {
        accessSync(program, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
