/** A process that can open no more files: what it asks of the system fails then, and no disk, file or request is the cause. */
import { KeyhearthError } from '../errors.ts';

/** Node says it in words alone where it begins a thread or loads a module. */
const words = /\b(EMFILE|ENFILE)\b|too many open files/i;

/** True for an error of a process, or a system, that can open no more files. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Those of exceptions of the web are numbers.
  const code: unknown = 'code' in error ? error.code : undefined;
  if (code === 'EMFILE' || code === 'ENFILE') return true;
  const isNodes = code === undefined || (typeof code === 'string' && code.startsWith('ERR_'));
  return isNodes && words.test(error.message);
}

/** @returns what a caller hears in the place of an error; undefined where it has another cause. */
export function shortageOf(error: unknown): KeyhearthError | undefined {
  if (!isShortage(error)) return undefined;
  return new KeyhearthError(
    'UNAVAILABLE',
    'Keyhearth can open no more files (end programs that keep connections to it open, or raise its limit of open files: ulimit -n)',
    { cause: error },
  );
}
