/** Keeps debuggers out that were not asked for: every user of the machine reaches the port of one, and with it the keys. */
import { close, url } from 'node:inspector';
import { owned } from '../lib/faults.ts';

/** For a person: a debugger was closed. */
export const closedDebugger =
  'a debugger that the environment (NODE_OPTIONS) had opened was closed: through it every user of this computer could read the keys';

/**
 * Closes a debugger that the environment opened (`NODE_OPTIONS`, terminals of editors), and lets no signal open another. One
 * that is named among the arguments of Node itself stays.
 * @returns true if one was closed.
 */
export function keepDebuggersOut(argv: readonly string[] = process.execArgv): boolean {
  // Without a listener, Node opens one.
  if (process.platform !== 'win32' && process.listenerCount('SIGUSR1') === 0)
    process.on(
      'SIGUSR1',
      owned(() => undefined),
    );
  if (url() === undefined || argv.some((option) => option.startsWith('--inspect'))) return false;
  close();
  return true;
}
