/** Runs a command beside the vault of `keyhearth dev`, and ends as it ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { note } from '../shared/output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { endings } from '../shared/signals.ts';

/** The exit code of a command, or the signal that ended it. */
export type CommandEnd = number | NodeJS.Signals;

/** Exit codes of shells for a command that is missing, and for one that cannot be run. */
const notFound = 127;
const notRunnable = 126;

/**
 * Runs a command on this process's own input and output, and passes signals on to it.
 * @param environment All that it has.
 */
export function runToItsEnd(
  program: string,
  operands: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    /** The command may be known to run, and this process be sent a signal, before `spawn` returns. */
    const started: ChildProcess[] = [];
    const waiting: NodeJS.Signals[] = [];
    const forwards = endings.map((signal) => {
      const forward = (): void => {
        // Ctrl-C reaches every process of the terminal, and most take a second one for "at once".
        if (signal === 'SIGINT' && onTerminal()) return;
        const [child] = started;
        if (child === undefined) waiting.push(signal);
        else child.kill(signal);
      };
      process.on(signal, forward);
      return { signal, forward };
    });
    const end = (how: CommandEnd): void => {
      for (const { signal, forward } of forwards) process.off(signal, forward);
      resolve(how);
    };
    const child = spawn(program, operands, { stdio: 'inherit', env: environment });
    started.push(child);
    for (const signal of waiting) child.kill(signal);
    child.once('error', (error: NodeJS.ErrnoException) => {
      // A signal that could not be forwarded is not the end of the command.
      if (child.pid !== undefined) return;
      const missing = error.code === 'ENOENT';
      note(
        `keyhearth: ${JSON.stringify(program)} ${missing ? 'is not found' : `cannot be run: ${reasonOf(error)}`}`,
      );
      end(missing ? notFound : notRunnable);
    });
    child.once('exit', (code, signal) => {
      end(signal ?? code ?? 1);
    });
  });
}

const onTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/**
 * Ends this process as a command ended, so that a shell recognizes Ctrl-C. The first process of a container
 * cannot end itself by a signal, so it uses a shell's exit code. So does a signal that leaves a core file
 * behind.
 */
export function endLike(end: CommandEnd): void {
  if (typeof end === 'number') {
    process.exitCode = end;
    return;
  }
  process.exitCode = 128 + constants.signals[end];
  if (endings.some((signal) => signal === end)) process.kill(process.pid, end);
}
