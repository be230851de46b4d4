/** Backup files on disk: written beside their place and moved there whole, read a chunk at a time. */
import { existsSync, lstatSync, openSync, closeSync, fsyncSync, readSync } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LatchkeyError } from '../lib/errors.ts';
import {
  chunkCount,
  encodeHead,
  fileLength,
  longestHead,
  openChunk,
  readHead,
  sealChunk,
  sealedLength,
  unreadable,
  type BackupHead,
  type BackupHeader,
} from './format.ts';

/** Told how much is done, and of how much. */
export type Progress = (done: number, total: number) => void;

export const draftOf = (file: string): string => `${file}.draft`;

/**
 * @param replace Whether an older backup may go.
 * @throws LatchkeyError ALREADY_EXISTS where the path is taken: a backup takes the place of a backup, and only where that
 * was asked for.
 */
export function checkFree(file: string, replace: boolean): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!replace) {
    throw new LatchkeyError(
      'ALREADY_EXISTS',
      `there is a file ${file} already: choose another name, or say that it may be replaced (--force)`,
    );
  }
  if (!found.isFile() || (found.size > 0 && !beginsAsBackup(file))) {
    throw new LatchkeyError(
      'ALREADY_EXISTS',
      `${file} is no Latchkey backup, and only a backup is replaced by one: choose another name`,
    );
  }
}

function beginsAsBackup(file: string): boolean {
  const expected = 'latchkey-backup ';
  const beginning = Buffer.alloc(expected.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, beginning);
  } finally {
    closeSync(descriptor);
  }
  return beginning.toString('latin1') === expected;
}

export interface NewBackup {
  /** Where the database is, as `Connection.copyTo` made it. */
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
  try {
    await using source = await open(copy, 'r');
    await using target = await open(draft, 'w', 0o600);
    // A draft that somebody left there may have had another mode.
    await target.chmod(0o600);
    await target.writeFile(bytes);
    const plain = Buffer.alloc(head.header.chunkSize);
    for (let index = 0; index < chunkCount(head.header); index++) {
      const length = Math.min(plain.length, size - index * plain.length);
      await readWhole(source, plain.subarray(0, length));
      await target.writeFile(sealChunk(key, head, index, plain.subarray(0, length)));
      onProgress(index * plain.length + length, size);
    }
    await target.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  try {
    checkFree(file, replace);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  syncDirectory(dirname(file));
  return fileLength(head);
}

/** Makes what was renamed in a directory last. */
export function syncDirectory(directory: string): void {
  // Windows has no handle of a directory to flush; NTFS journals the rename itself.
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems of sticks and networks cannot: the rename is as durable as they make it.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** @throws LatchkeyError BACKUP_UNREADABLE for a file that is not as long as its header says. */
export function checkLength(head: BackupHead, size: number): void {
  const expected = fileLength(head);
  if (size < expected) throw unreadable(`it is cut off: it has ${size} of its ${expected} bytes`);
  if (size > expected) throw unreadable(`it goes on for ${size - expected} bytes after its end`);
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

  /** @throws LatchkeyError NOT_FOUND, or BACKUP_UNREADABLE for what is no whole backup by its header and length. */
  static async open(path: string): Promise<BackupFile> {
    if (!existsSync(path)) throw new LatchkeyError('NOT_FOUND', `there is no file ${path}`);
    const handle = await open(path, 'r').catch((error: unknown) => {
      throw new LatchkeyError('INVALID_ARGUMENT', `${path} cannot be opened: ${messageOf(error)}`);
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
   * @throws LatchkeyError BACKUP_UNREADABLE at the first chunk that is not as it was written: what came before is void.
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
