/** Runs a command of the user's, and ends as it ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Transform, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { isatty } from 'node:tty';
import { programPath } from '../../app/program-path.ts';
import { note } from '../shared/output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { endings } from '../shared/signals.ts';

/** The exit code of a command, or the signal that ended it. */
export type CommandEnd = number | NodeJS.Signals;

/** Exit codes of shells for a command that is missing, and for one that cannot be run. */
const notFound = 127;
const notRunnable = 126;

/**
 * Beside those that end it: Node.js would open a debugger at SIGUSR1. SIGUSR2, and SIGQUIT of Ctrl-\ and of containers, would
 * end this process and leave the command behind.
 */
const others = (['SIGUSR1', 'SIGUSR2', 'SIGQUIT'] as const).filter((signal) => signal in constants.signals);

/** A terminal sends these to every process in it. */
const ofKeyboard: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT']);

/**
 * Runs a command on this process's own input and output, and passes signals on to it.
 * @param environment All that it has.
 * @param through Makes a stream that its output goes through, and one for its errors. It has no terminal for them then.
 */
export function runToItsEnd(
  program: string,
  operands: readonly string[],
  environment: NodeJS.ProcessEnv,
  through?: () => Transform,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    /** The command may be known to run, and this process be sent a signal, before `spawn` returns. */
    const started: ChildProcess[] = [];
    const waiting: NodeJS.Signals[] = [];
    const forwards = [...endings, ...others].map((signal) => {
      const forward = (): void => {
        // Ctrl-C reaches every process of the terminal, and most take a second one for "at once".
        if (ofKeyboard.has(signal) && onTerminal()) return;
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
    const output = through === undefined ? 'inherit' : 'pipe';
    const child = spawn(programPath(program, environment), operands, {
      stdio: ['inherit', output, output],
      env: environment,
    });
    const outputs = Promise.all(
      through === undefined
        ? []
        : [pass(child.stdout, through(), process.stdout), pass(child.stderr, through(), process.stderr)],
    );
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
      // Its own children may still write.
      void outputs.then(() => {
        end(signal ?? code ?? 1);
      });
    });
  });
}

/**
 * Passes output on until it ends. A reader that has heard enough ends it too: the program learns that from its next write, as it
 * would without what its output goes through.
 */
async function pass(from: Readable | null, through: Transform, to: Writable): Promise<void> {
  if (from === null) return;
  const stop = (): void => {
    from.destroy();
    through.destroy();
  };
  to.once('error', stop);
  through.pipe(to, { end: false });
  try {
    await pipeline(from, through);
    await finished(through, { writable: false });
  } catch {
    from.destroy();
  } finally {
    to.off('error', stop);
  }
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
