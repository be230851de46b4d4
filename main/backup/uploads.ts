/**
 * Backups that a browser uploads, since a page knows no paths: part by part into a draft beside the vault. A draft ends when it
 * is used, released or old, or with the service. Its public name, in paths and in calls, is `chosen`.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statfsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupPart, UploadProgress, UploadedBackup } from '../../preload/contract.ts';
import { openNewFile } from '../files/new-files.ts';
import { causeOf, storageTexts } from '../files/storage-causes.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { checkLength } from './file.ts';
import { fileLength, readHead, type BackupHead } from './format.ts';
import { owned } from '../lib/faults.ts';

/** In bytes: what is larger is named by its path. */
const largest = 32 * 1024 ** 3;
/** A person does not need more at once. */
const mostKept = 3;
/** From its last use to its end, in milliseconds. A page that still uploads sends the next part at once. */
const keptFor = { whole: 60 * 60_000, coming: 2 * 60_000 };

const scheme = 'chosen:';
const draftName = /^chosen-[0-9a-f-]{36}\.backup$/;

interface Draft {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly head: BackupHead;
  readonly size: number;
  /** In bytes. */
  received: number;
  /** Open until it is whole. */
  handle: FileHandle | undefined;
  /** Calls that write or read the file now. */
  users: number;
  /** To be removed once it has no users. */
  ended: boolean;
  timer: NodeJS.Timeout | undefined;
}

export interface UploadParts {
  /** The vault's; null for a vault in memory. */
  readonly directory: string | null;
  /** The free space of a directory's disk, in bytes. */
  readonly freeBytes?: (directory: string) => number;
}

export class Uploads {
  readonly #parts: UploadParts;
  readonly #drafts = new Map<string, Draft>();

  constructor(parts: UploadParts) {
    this.#parts = parts;
    const { directory } = parts;
    if (directory === null) return;
    // A process that was killed may have left some.
    for (const name of readdirSync(directory)) {
      if (draftName.test(name)) rmSync(join(directory, name), { force: true });
    }
  }

  /**
   * Adds the next part of a file. The first part creates the file, and is checked before anything is stored.
   * @throws KeyhearthError BACKUP_UNREADABLE for a file that is not a backup; PAYLOAD_TOO_LARGE,
   * FAILED_PRECONDITION where the disk is too full, RESOURCE_EXHAUSTED, NOT_FOUND, or INVALID_ARGUMENT for a
   * part that is not the next.
   */
  async upload({ file, name, size, at, bytes }: BackupPart): Promise<UploadProgress> {
    const draft = file === undefined ? this.#begin(name, size, bytes) : this.#find(file);
    if (draft.users > 0 || at !== draft.received || bytes.length === 0 || at + bytes.length > draft.size) {
      // The client never learns its name, so nothing would ever end it.
      if (file === undefined) this.#drafts.delete(draft.id);
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `this is not the next part of the file: ${draft.received} of ${draft.size} bytes are here, and ${bytes.length} from ${at} came`,
      );
    }
    return this.#during(draft, async () => {
      try {
        draft.handle ??= await openNewFile(draft.path);
        await draft.handle.writeFile(bytes);
      } catch (error) {
        draft.ended = true;
        throw new KeyhearthError(
          'FAILED_PRECONDITION',
          `the file cannot be kept beside the vault: ${whyNot(error)}`,
        );
      }
      draft.received += bytes.length;
      if (draft.received === draft.size) await closeHandle(draft);
      return {
        backup: factsOf(draft.head, { file: scheme + draft.id, name: draft.name }),
        received: draft.received,
      };
    });
  }

  /** Runs work over an uploaded file, and removes the file when the work succeeds. After a failure the file stays. */
  async use<T>(file: string, work: (path: string, name: string) => Promise<T>): Promise<T> {
    const draft = this.#find(file);
    if (draft.received < draft.size) {
      throw new KeyhearthError(
        'FAILED_PRECONDITION',
        `the upload is not complete: ${draft.received} of ${draft.size} bytes are here`,
      );
    }
    return this.#during(draft, async () => {
      const result = await work(draft.path, draft.name);
      draft.ended = true;
      return result;
    });
  }

  /** Removes a file; does nothing if it is gone. */
  async release(file: string): Promise<void> {
    const draft = this.#drafts.get(file.slice(scheme.length));
    if (draft !== undefined) await this.#end(draft);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#drafts.values()].map((draft) => this.#remove(draft)));
  }

  #begin(name: string, size: number, beginning: Uint8Array): Draft {
    const { directory, freeBytes = freeBytesOf } = this.#parts;
    if (directory === null) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'a vault in memory has no backups: start with a directory',
      );
    }
    const head = readHead(beginning);
    checkLength(head, size);
    if (size > largest) {
      throw new KeyhearthError(
        'PAYLOAD_TOO_LARGE',
        `the file is larger than ${largest / 1024 ** 3} GiB: put it on the computer that runs Keyhearth, and give its path`,
      );
    }
    this.#makeRoom();
    const coming = [...this.#drafts.values()].reduce((sum, draft) => sum + draft.size - draft.received, 0);
    // As much again is for the vault that comes out of it, or for the one that is in use.
    const room = Math.max(Math.floor((freeBytes(directory) - coming) / 2), 0);
    if (size > room) {
      throw new KeyhearthError(
        'FAILED_PRECONDITION',
        `there is not enough room beside the vault: the file has ${size} bytes, and at most ${room} fit (half of what is free)`,
      );
    }
    const id = randomUUID();
    const draft: Draft = {
      ...{ id, name, head, size, path: join(directory, `chosen-${id}.backup`) },
      ...{ received: 0, handle: undefined, users: 0, ended: false, timer: undefined },
    };
    this.#drafts.set(id, draft);
    return draft;
  }

  /** Removes the oldest upload that is not in use, when there are as many as allowed. */
  #makeRoom(): void {
    if (this.#drafts.size < mostKept) return;
    const left = [...this.#drafts.values()].find(
      ({ users, received, size }) => users === 0 && received === size,
    );
    if (left === undefined) {
      throw new KeyhearthError(
        'RESOURCE_EXHAUSTED',
        `${mostKept} files are being uploaded already: wait until one is complete, or cancel one`,
      );
    }
    owned(() => this.#remove(left))();
  }

  #find(file: string): Draft {
    const draft = this.#drafts.get(file.slice(scheme.length));
    if (draft === undefined || draft.ended) {
      throw new KeyhearthError('NOT_FOUND', 'the uploaded file is gone: choose it again');
    }
    return draft;
  }

  async #during<T>(draft: Draft, work: () => Promise<T>): Promise<T> {
    clearTimeout(draft.timer);
    draft.users++;
    try {
      return await work();
    } finally {
      draft.users--;
      if (draft.ended) await this.#end(draft);
      else {
        draft.timer = setTimeout(
          owned(() => this.#end(draft)),
          draft.received === draft.size ? keptFor.whole : keptFor.coming,
        ).unref();
      }
    }
  }

  async #end(draft: Draft): Promise<void> {
    draft.ended = true;
    if (draft.users === 0) await this.#remove(draft);
  }

  async #remove(draft: Draft): Promise<void> {
    this.#drafts.delete(draft.id);
    clearTimeout(draft.timer);
    // Windows removes no file that is open.
    await closeHandle(draft).catch(() => undefined);
    rmSync(draft.path, { force: true });
  }
}

export const isUpload = (file: string): boolean => file.startsWith(scheme);

/** The facts in a backup's header, which needs no key. */
export const factsOf = (
  head: BackupHead,
  { file, name }: Pick<UploadedBackup, 'file' | 'name'>,
): UploadedBackup => ({
  file,
  name,
  madeAt: head.header.createdAt,
  size: fileLength(head),
  opensWith: [...new Set(head.header.keyslots.map(({ kind }) => kind))],
});

function whyNot(error: unknown): string {
  const cause = causeOf(error);
  if (cause === undefined) return reasonOf(error);
  const { what, advice } = storageTexts[cause];
  return `${what}. ${advice}, and choose the file again`;
}

async function closeHandle(draft: Draft): Promise<void> {
  const { handle } = draft;
  draft.handle = undefined;
  await handle?.close();
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
