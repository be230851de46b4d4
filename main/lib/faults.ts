/**
 * Owners of faults. The callback of a timer, an immediate or an event has no caller to catch its errors. Node
 * then ends the process, with the keys and every other request. So each callback names the owner of its
 * faults.
 */
import { logFault } from './log.ts';

/** Takes an error that no caller waits for. */
export type OnFault = (error: unknown) => void;

/**
 * Gives work an owner for its faults. The lint rules let no timer, immediate, microtask or listener of a service go without.
 * @returns a function that reports to the owner what the work throws, or rejects with, and neither throws nor rejects itself.
 */
export function owned<Given extends readonly unknown[]>(
  work: (...given: Given) => unknown,
  onFault: OnFault = logFault,
): (...given: Given) => void {
  return (...given) => {
    try {
      const returned = work(...given);
      if (returned instanceof Promise) returned.catch(onFault);
    } catch (error) {
      onFault(error);
    }
  };
}
