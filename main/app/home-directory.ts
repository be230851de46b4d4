/** The user's home directory. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, parse } from 'node:path';

/**
 * This user's; the root directory where neither the environment nor the system names one, as container runtimes have it. An
 * empty or relative name in the environment is none: it would be read in the working directory.
 */
export function homeDirectory(): string {
  try {
    const named = homedir();
    return isAbsolute(named) ? named : userInfo().homedir;
  } catch {
    return parse(process.execPath).root;
  }
}
