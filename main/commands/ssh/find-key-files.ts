/** The private key files of a directory, such as `~/.ssh`, and their deletion once a backup has their keys. */
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { longestKeyFile, readSshKeyFile } from '../../lib/key-files/ssh-key-file.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

export interface FoundKeyFile {
  readonly file: string;
  /** Of the bytes: a changed file has another. */
  readonly digest: string;
  readonly needsPassphrase: boolean;
  /** Why the vault cannot take the key; undefined where it can. */
  readonly problem: string | undefined;
}

const nonBlocking = (constants.O_NONBLOCK as number | undefined) ?? 0;
const noLink = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/** @returns the files that hold a private key, or that cannot be read; nothing of directories below. */
export function findKeyFiles(directory: string): readonly FoundKeyFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory).toSorted();
  } catch (error) {
    throw new CommandError(exitCodes.usage, `${directory} cannot be read: ${reasonOf(error)}`);
  }
  return names.flatMap((name) => {
    const file = join(directory, name);
    const { isFile, isLink } = kindOf(file);
    if (!isFile && !isLink) return [];
    if (isLink) {
      const isKey = !name.endsWith('.pub') && name.startsWith('id_');
      const problem = 'This is a link. Name the directory of the file itself with --directory.';
      return isKey ? [{ file, digest: '', needsPassphrase: false, problem }] : [];
    }
    return withBytes(file, (bytes): readonly FoundKeyFile[] => {
      if (!isPrivateKey(bytes)) return [];
      const reading = readSshKeyFile(bytes);
      if (reading.ok) reading.key.secret.fill(0);
      const needsPassphrase = !reading.ok && reading.kind === 'passphrase needed';
      const problem = reading.ok || needsPassphrase ? undefined : reading.problem;
      return [{ file, digest: hash('sha256', bytes), needsPassphrase, problem }];
    });
  });
}

function kindOf(file: string): { readonly isFile: boolean; readonly isLink: boolean } {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return { isFile: found?.isFile() === true, isLink: found?.isSymbolicLink() === true };
}

const isPrivateKey = (bytes: Uint8Array): boolean =>
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----|^PuTTY-User-Key-File-/.test(Buffer.from(bytes).toString('latin1'));

/** Reads a small plain file; the bytes are erased afterwards. */
function withBytes(
  file: string,
  use: (bytes: Uint8Array) => readonly FoundKeyFile[],
): readonly FoundKeyFile[] {
  const bytes = Buffer.alloc(longestKeyFile);
  try {
    const descriptor = openSync(file, constants.O_RDONLY | nonBlocking | noLink);
    try {
      if (!fstatSync(descriptor).isFile() || fstatSync(descriptor).size > bytes.length) return [];
      return use(bytes.subarray(0, readSync(descriptor, bytes)));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return [{ file, digest: '', needsPassphrase: false, problem: `It cannot be read: ${reasonOf(error)}` }];
  } finally {
    bytes.fill(0);
  }
}

/**
 * Overwrites and deletes a key file. A disk may keep what was overwritten.
 * @returns why it stays; undefined once it is gone.
 */
export function deleteKeyFile({ file, digest }: Pick<FoundKeyFile, 'file' | 'digest'>): string | undefined {
  const bytes = Buffer.alloc(longestKeyFile);
  try {
    const descriptor = openSync(file, constants.O_RDWR | nonBlocking | noLink);
    try {
      const { nlink } = fstatSync(descriptor);
      if (nlink > 1) return `it has ${String(nlink)} names on the disk`;
      const length = readSync(descriptor, bytes);
      if (hash('sha256', bytes.subarray(0, length)) !== digest) return 'it was changed meanwhile';
      writeSync(descriptor, bytes.fill(0), 0, length, 0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    rmSync(file);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    bytes.fill(0);
  }
}
