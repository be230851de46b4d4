/** Runs another program in place of this one. */
import { spawn } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import { endsWithParent, launcherVariable } from '../app/parent.ts';

/** Milliseconds between checks that the parent still runs. */
const parentMs = 500;

/** Signals that a shell sends to a program, and `SIGUSR2`, which freezes a vault. */
const passedOn: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'];

/**
 * Runs the program until it ends: same terminal, signals passed on, exit code kept.
 * @param descriptors numbers of open files that it reads, beside the three that every program has.
 */
export async function become(
  program: string,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
  descriptors: readonly number[] = [],
): Promise<void> {
  const stdio: StdioOptions = ['inherit', 'inherit', 'inherit'];
  for (const each of descriptors) {
    while (stdio.length < each) stdio.push('ignore');
    stdio[each] = each;
  }
  const child = spawn(program, argv, {
    cwd: process.cwd(),
    env: { ...environment, [launcherVariable]: String(process.pid) },
    stdio,
  });
  for (const signal of passedOn) {
    process.on(signal, () => {
      // A terminal sends its interrupt to the child as well; a second one would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  // npm passes its own on to its shell alone, which ends without passing it on.
  const shell = process.ppid;
  const isTied = endsWithParent(process.env, shell);
  const watch = setInterval(() => {
    if (isTied && process.ppid !== shell) child.kill('SIGTERM');
  }, parentMs).unref();
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearInterval(watch);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
