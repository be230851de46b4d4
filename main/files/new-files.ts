/**
 * Creates files in directories that other users may write to. A path there proves nothing: another user may have put a
 * symbolic link, a FIFO or a file in its place a moment ago. So a file is created, exclusively and through no link, or an
 * error says what is in the way.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Node leaves O_NOFOLLOW out on Windows, where the operator takes it for 0. */
const creation = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Of the owner alone. */
const privateMode = 0o600;

/** @returns the descriptor of a file that was not there. @throws Error EEXIST where something has the name. */
export const createNewFile = (file: string): number => openSync(file, creation, privateMode);

/** The same, asynchronously. */
export const openNewFile = (file: string): Promise<FileHandle> => open(file, creation, privateMode);

/** Writes a file that was not there, to the disk. Where that fails, nothing is left. */
export function writeNewFile(file: string, content: string | Uint8Array): void {
  const descriptor = createNewFile(file);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a file that was not there, whole or not at all: also where the process is killed meanwhile, nothing has the name.
 * @throws Error EEXIST where something has it.
 */
export function writeWholeFile(file: string, content: string): void {
  writeByDraft(file, content, moveToFreeName);
}

/** Puts a whole file in the place of whatever has the name. A link of that name is replaced and not followed. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  writeByDraft(file, content, renameSync);
}

/** The same of a program, which its owner can run from the moment it has its name. */
export function replaceProgram(file: string, content: string): void {
  writeByDraft(file, content, (draft, name) => {
    chmodSync(draft, 0o700);
    renameSync(draft, name);
  });
}

/**
 * Changes a file that other programs of this user have too, whole or not at all. It keeps its group and its permissions. A link of
 * the user's own stays, and what it leads to is changed: many keep such files elsewhere. A link of another user is replaced.
 */
export function changeFile(file: string, content: string | Uint8Array): void {
  const target = whereItIsKept(file);
  const found = lstatSync(target, { throwIfNoEntry: false });
  writeByDraft(target, content, (draft, name) => {
    if (found?.isFile() === true) shareAlike(draft, found);
    renameSync(draft, name);
  });
}

/** Permissions, without the bits that change who a program runs as. */
const permissions = 0o777;
const ofGroup = 0o070;
const ofAll = 0o007;

/** Where the group is not to be had, that of the draft may do only what every user may. */
function shareAlike(draft: string, { gid, mode }: Stats): void {
  let kept = mode & permissions;
  try {
    chownSync(draft, -1, gid);
  } catch {
    kept &= ~ofGroup | ((mode & ofAll) << 3);
  }
  chmodSync(draft, kept);
}

/** @returns where a file is whose name may be a link; the name itself for a link of another user, and for one that leads nowhere. */
export function whereItIsKept(file: string): string {
  const uid = lstatSync(file, { throwIfNoEntry: false })?.uid;
  const isOurs = process.geteuid === undefined || uid === process.geteuid();
  return isOurs && existsSync(file) ? realpathSync(file) : file;
}

function writeByDraft(
  file: string,
  content: string | Uint8Array,
  move: (draft: string, file: string) => void,
): void {
  const draft = newDraft(file);
  writeNewFile(draft, content);
  try {
    move(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Of any characters, fewer bytes than a file's name may have, with the rest of a draft's. */
const mostCharacters = 64;

/** A name beside a file that no other program can guess. */
export const newDraft = (file: string): string =>
  join(dirname(file), `${basename(file).slice(0, mostCharacters)}.${randomUUID()}.draft`);

/** Puts a copy of a file in the place of whatever has the name, whole or not at all. */
export async function replaceWithCopy(source: string, file: string): Promise<void> {
  const draft = newDraft(file);
  try {
    await using from = await open(source, 'r');
    const to = await openNewFile(draft);
    await pipeline(from.createReadStream({ autoClose: false }), to.createWriteStream({ flush: true }));
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** File systems without hard links say one of these. */
const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/**
 * Gives a draft its name, where nothing else has it. A file system without hard links cannot tell at the same instant:
 * there the caller's own look must do.
 * @throws Error EEXIST
 */
export function moveToFreeName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!withoutLinks.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    renameSync(draft, file);
    return;
  }
  rmSync(draft);
}

/** Makes the names in a directory last. */
export function syncDirectory(directory: string): void {
  // Windows has no handle of a directory to flush; NTFS journals the rename itself.
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems of sticks and networks cannot: the name is as durable as they make it.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(descriptor);
  }
}
