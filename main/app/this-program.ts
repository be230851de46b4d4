/** The words that run this very command again, whatever the working directory and PATH are by then. */
import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';

export function thisProgram(): readonly [string, ...string[]] {
  return isSea() ? [process.execPath] : [process.execPath, realpathSync(process.argv[1] ?? '')];
}
