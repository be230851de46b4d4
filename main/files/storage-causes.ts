/** Why a disk does not take what is written, or gives back what is read: from the codes of the system and of SQLite. */
import { constants } from 'node:os';
import { KeyhearthError } from '../lib/errors.ts';

export type StorageCause = 'full' | 'quota' | 'read-only' | 'forbidden' | 'too-large' | 'failing';

/** For a person: the cause as part of a sentence, and what to do as a sentence without its end. */
export const storageTexts: Readonly<
  Record<StorageCause, { readonly what: string; readonly advice: string }>
> = {
  full: { what: 'the disk is full', advice: 'Make room on it' },
  quota: { what: 'the quota on the disk is used up', advice: 'Delete files there, or raise the quota' },
  'read-only': { what: 'the disk can only be read', advice: 'Mount it so that it can be written' },
  forbidden: {
    what: 'this user may not write there',
    advice: 'Give the directory and its files back to the user who runs Keyhearth',
  },
  'too-large': {
    what: 'the file would be larger than the system or the disk permits',
    advice: 'Raise the limit of the size of files (ulimit -f), or use a disk that takes larger files',
  },
  failing: {
    what: 'the disk failed',
    advice: 'Look at the system’s log, and bring the newest backup to another disk',
  },
};

const systemCauses: ReadonlyMap<unknown, StorageCause> = new Map([
  ['ENOSPC', 'full'],
  ['EROFS', 'read-only'],
  ['EACCES', 'forbidden'],
  ['EPERM', 'forbidden'],
  ['EFBIG', 'too-large'],
  ['EIO', 'failing'],
  ['ENXIO', 'failing'],
  ['ENODEV', 'failing'],
]);

/** Node has no names for these. */
const unnamedCauses: ReadonlyMap<unknown, StorageCause> = new Map([
  [-constants.errno.EDQUOT, 'quota'],
  [-constants.errno.ESTALE, 'failing'],
]);

/** By the beginning of SQLite's codes. The disk is not the cause of those about another file in the place, and about memory. */
const sqliteCauses: readonly (readonly [RegExp, StorageCause])[] = [
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_READONLY(?!_DBMOVED)/, 'read-only'],
  [/^SQLITE_IOERR(?!_NOMEM)/, 'failing'],
];

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** @returns undefined where the disk is not the cause of an error. */
export function causeOf(error: unknown): StorageCause | undefined {
  const code = codeOf(error);
  const cause = systemCauses.get(code) ?? unnamedCauses.get((error as NodeJS.ErrnoException | null)?.errno);
  if (cause !== undefined || typeof code !== 'string') return cause;
  return sqliteCauses.find(([codes]) => codes.test(code))?.[1];
}

/**
 * @param known The cause, where the error alone does not tell it.
 * @returns an error that names the file and says what to do; the same error where the disk is not its cause.
 */
export function namingFile(error: unknown, file: string, known?: StorageCause): unknown {
  const cause = known ?? causeOf(error);
  if (cause === undefined) return error;
  const { what, advice } = storageTexts[cause];
  return new KeyhearthError('STORAGE_UNAVAILABLE', `${file} cannot be written: ${what}. ${advice}.`);
}
