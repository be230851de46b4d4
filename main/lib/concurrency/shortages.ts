/** Shortages of a process: what it asks of the system fails then, and no disk, file or request is the cause. */
import { KeyhearthError } from '../errors.ts';

type Shortage = 'files' | 'threads' | 'memory';

/** For the caller, with what to do. */
const texts: Readonly<Record<Shortage, string>> = {
  files:
    'Keyhearth can open no more files (end programs that keep connections to it open, or raise its limit of open files: ulimit -n)',
  threads:
    'Keyhearth can begin no more threads (end other programs of its user, or raise the limit of their number: ulimit -u)',
  memory:
    'Keyhearth has not enough memory for it (end other programs, or give Keyhearth more, and try again)',
};

const codes: ReadonlyMap<unknown, Shortage> = new Map([
  ['EMFILE', 'files'],
  ['ENFILE', 'files'],
  ['ERR_WORKER_OUT_OF_MEMORY', 'memory'],
]);

/** Node says these in words alone where it begins a thread or loads a module. */
const words: readonly (readonly [RegExp, Shortage])[] = [
  [/\b(EMFILE|ENFILE)\b|too many open files/i, 'files'],
  [/^EAGAIN$/, 'threads'],
];

/** @returns what a process, or a system, lacked as it met an error; undefined where the error has another cause. */
export function kindOfShortage(error: unknown): Shortage | undefined {
  if (!(error instanceof Error)) return undefined;
  // Those of exceptions of the web are numbers.
  const code: unknown = 'code' in error ? error.code : undefined;
  const known = codes.get(code);
  if (known !== undefined) return known;
  const isNodes = code === undefined || (typeof code === 'string' && code.startsWith('ERR_'));
  return isNodes ? words.find(([each]) => each.test(error.message))?.[1] : undefined;
}

/** @returns what a caller hears in the place of an error; undefined where it has another cause. */
export function shortageOf(error: unknown): KeyhearthError | undefined {
  const kind = kindOfShortage(error);
  return kind && new KeyhearthError('UNAVAILABLE', texts[kind], { cause: error });
}
