/** The signals that end a command which runs until it is stopped. */
import { finished } from 'node:stream/promises';
import type { Config } from '../../app/config.ts';
import { note } from './output.ts';

/** Ctrl-C, `kill`, and a terminal that is closed. */
export const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds of closing before a notice is shown, and before another signal ends it at once. */
const patienceMs = 1000;

/** Milliseconds between checks that the parent still runs. */
const parentMs = 500;

/**
 * Waits for one of the signals, so that open files can be closed. npm forwards a signal that its whole group
 * already received. So only a signal that comes a second later ends the process at once.
 *
 * `kill` on npm reaches only its shell, which ends without forwarding it. With such a parent, its end is a
 * signal too.
 */
export function untilSignalled({ endsWithParent }: Pick<Config, 'endsWithParent'>): Promise<void> {
  return new Promise((resolve) => {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (endsWithParent && process.ppid !== parent) end();
    }, parentMs).unref();
    const end = (): void => {
      resolve();
      clearInterval(watch);
      setTimeout(() => {
        for (const signal of endings) process.off(signal, end);
        note('Ending, once what is under way is done; Ctrl-C again ends at once.');
      }, patienceMs).unref();
    };
    for (const signal of endings) process.on(signal, end);
  });
}

/** Does something just before this process ends by a signal, an error or itself. @returns what takes that back. */
export function beforeEnding(work: () => void): Disposable {
  const end = (): void => {
    stop();
    work();
  };
  const handlers = endings.map((signal) => ({
    signal,
    handler: (): void => {
      end();
      process.kill(process.pid, signal);
    },
  }));
  const stop = (): void => {
    process.off('exit', end);
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
  process.on('exit', end);
  for (const { signal, handler } of handlers) process.on(signal, handler);
  return { [Symbol.dispose]: stop };
}

/** Does work at once that no signal ends halfway: one that comes meanwhile is passed over. */
export function undisturbed<Made>(work: () => Made): Made {
  using _ = beforeEnding(() => undefined);
  return work();
}

/** Until standard input ends: its other end is closed, or the process that held it is gone. What comes on it is not read. */
export async function untilStdinEnds(): Promise<void> {
  try {
    await finished(process.stdin.resume(), { writable: false });
  } catch {
    // Input that fails has ended too.
  }
}
