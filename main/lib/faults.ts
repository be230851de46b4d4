/**
 * Owners of faults. A timer, an immediate or an event calls its work with nobody to catch what the work throws, and Node then
 * ends the process, with the keys and every other request. So each such work names the owner of its faults.
 */

/** Takes an error that no caller waits for. */
export type OnFault = (error: unknown) => void;

/** Writes a line to standard error: the log of a service. */
export function logLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes an error to standard error, with its stack. */
export function logFault(error: unknown): void {
  logLine(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/**
 * Gives work an owner for its faults. The lint rules let no timer, immediate, microtask or listener of a service go without.
 * @returns a function that tells the owner what the work throws, or rejects with, and neither throws nor rejects itself.
 */
export function owned<Given extends readonly unknown[]>(
  work: (...given: Given) => unknown,
  onFault: OnFault = logFault,
): (...given: Given) => void {
  return (...given) => {
    try {
      const outcome = work(...given);
      if (outcome instanceof Promise) outcome.catch(onFault);
    } catch (error) {
      onFault(error);
    }
  };
}
