/** Backup files on disk: written beside their place and moved there whole, read a chunk at a time. */
import { constants, renameSync } from 'node:fs';
import { lstat, open, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DamagedFileError } from '../storage/file/damage.ts';
import { moveToFreeName, openNewFile, syncDirectory } from '../files/new-files.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { disks } from './disks.ts';
import {
  chunkCount,
  encodeHead,
  fileLength,
  hasBackupName,
  longestHead,
  longestName,
  openChunk,
  readHead,
  sealChunk,
  sealedLength,
  unreadable,
  type BackupHead,
  type BackupHeader,
} from './format.ts';

/** Called with the work done, and the total. */
export type Progress = (done: number, total: number) => void;

export const draftOf = (file: string): string => `${file}.draft`;

/**
 * @param replace Whether an older backup may go.
 * @throws KeyhearthError ALREADY_EXISTS where the path is taken: a backup takes the place of a backup, and only where that
 * was asked for.
 */
export async function checkFree(file: string, replace: boolean): Promise<void> {
  const found = await lstat(file).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (found === undefined) return;
  if (!replace) {
    throw alreadyThere(file);
  }
  if (!found.isFile() || (found.size > 0 && !(await beginsAsBackup(file)))) {
    throw new KeyhearthError(
      'ALREADY_EXISTS',
      `${file} is no Keyhearth backup, and only a backup is replaced by one: choose another name`,
    );
  }
}

const alreadyThere = (file: string): KeyhearthError =>
  new KeyhearthError(
    'ALREADY_EXISTS',
    `there is a file ${file} already: choose another name, or say that it may be replaced (--force)`,
  );

async function beginsAsBackup(file: string): Promise<boolean> {
  const beginning = Buffer.alloc(longestName);
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await handle.read(beginning);
  return hasBackupName(beginning);
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

export interface NewBackup {
  /** The path of the database that `Connection.copyTo` wrote. */
  readonly copy: string;
  readonly file: string;
  readonly replace: boolean;
  readonly header: Omit<BackupHeader, 'size'>;
  /** 32 bytes, which the caller keeps and erases. */
  readonly key: Uint8Array;
}

/**
 * Encrypts a database into a backup. The file is there when this returns, whole and on the disk, or not at all.
 * @returns its size in bytes.
 */
export async function writeBackup(
  { copy, file, replace, header, key }: NewBackup,
  onProgress: Progress,
): Promise<number> {
  const draft = draftOf(file);
  const { size } = await stat(copy);
  const bytes = encodeHead({ ...header, size });
  const head = readHead(bytes);
  await using source = await open(copy, 'r');
  // Removes the rest of an interrupted backup. A file that cannot be removed belongs to another user and
  // stays.
  await unlink(draft).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  const target = await openNewFile(draft);
  try {
    await fill(target, bytes, sealed(source, key, head, onProgress));
    await checkFree(file, replace);
    if (replace) renameSync(draft, file);
    else moveToFreeName(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw codeOf(error) === 'EEXIST' ? alreadyThere(file) : error;
  }
  syncDirectory(dirname(file));
  return fileLength(head);
}

/** Bytes of a backup that may be written before they are synced to the disk. */
const syncedAtOnce = 4 * 1024 ** 2;

/** Writes all of a file to the disk, and closes it. */
async function fill(file: FileHandle, head: Uint8Array, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  await using target = file;
  await target.writeFile(head);
  let unsynced = 0;
  for await (const chunk of chunks) {
    await target.writeFile(chunk);
    unsynced += chunk.length;
    if (unsynced < syncedAtOnce) continue;
    // All of it at once, at the end, would keep the vault's own COMMITs waiting on most file systems.
    await target.datasync();
    unsynced = 0;
  }
  await target.sync();
}

/** The database, sealed a chunk at a time. */
async function* sealed(
  source: FileHandle,
  key: Uint8Array,
  head: BackupHead,
  onProgress: Progress,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { size, chunkSize } = head.header;
  const plain = Buffer.alloc(chunkSize);
  for (let index = 0; index < chunkCount(head.header); index++) {
    const length = Math.min(plain.length, size - index * plain.length);
    await readWhole(source, plain.subarray(0, length));
    yield sealChunk(key, head, index, plain.subarray(0, length));
    onProgress(index * plain.length + length, size);
  }
}

/** @throws KeyhearthError BACKUP_UNREADABLE for a file that is not as long as its header says. */
export function checkLength(head: BackupHead, size: number): void {
  const expected = fileLength(head);
  if (size < expected) throw unreadable(`it is cut off: it has ${size} of its ${expected} bytes`);
  if (size > expected) throw unreadable(`it goes on for ${size - expected} bytes after its end`);
}

/** Works on the database of a backup. @throws KeyhearthError BACKUP_UNREADABLE where SQLite cannot read it. */
export async function onDatabase<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DamagedFileError) throw unreadable(`its database is damaged: ${error.problem}`);
    throw error;
  }
}

/** A backup file, open for reading. */
export class BackupFile implements AsyncDisposable {
  readonly path: string;
  readonly head: BackupHead;
  readonly #handle: FileHandle;

  private constructor(path: string, head: BackupHead, handle: FileHandle) {
    this.path = path;
    this.head = head;
    this.#handle = handle;
  }

  /**
   * @throws KeyhearthError NOT_FOUND; BACKUP_UNREADABLE if header and length are not those of a whole backup;
   * UNAVAILABLE where its disk does not answer.
   */
  static open(path: string): Promise<BackupFile> {
    return disks.run(dirname(path), () => BackupFile.#open(path), {
      discard: (late) => late.#handle.close(),
    });
  }

  static async #open(path: string): Promise<BackupFile> {
    // A FIFO would have the open wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') throw new KeyhearthError('NOT_FOUND', `there is no file ${path}`);
      throw new KeyhearthError('INVALID_ARGUMENT', `${path} cannot be opened: ${reasonOf(error)}`);
    });
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw unreadable('it is no file');
      const beginning = Buffer.alloc(Math.min(found.size, longestHead));
      await readWhole(handle, beginning, 0);
      const head = readHead(beginning);
      checkLength(head, found.size);
      return new BackupFile(path, head, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get size(): number {
    return fileLength(this.head);
  }

  /**
   * The database, a chunk at a time; each is wiped when the next is asked for.
   * @throws KeyhearthError BACKUP_UNREADABLE at the first chunk that is not as it was written: what came before is void.
   */
  async *chunks(key: Uint8Array): AsyncGenerator<Buffer, void, undefined> {
    let position = this.head.length;
    for (let index = 0; index < chunkCount(this.head.header); index++) {
      const sealed = Buffer.alloc(sealedLength(this.head.header, index));
      await readWhole(this.#handle, sealed, position);
      position += sealed.length;
      const plain = openChunk(key, this.head, index, sealed);
      try {
        yield plain;
      } finally {
        plain.fill(0);
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

async function readWhole(
  handle: FileHandle,
  into: Uint8Array,
  position: number | null = null,
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await handle.read(
      into,
      done,
      into.length - done,
      position === null ? null : position + done,
    );
    if (bytesRead === 0) throw unreadable('it ended while it was read');
    done += bytesRead;
  }
}
