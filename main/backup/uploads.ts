/**
 * Backups that a browser brings, since a page knows no paths: part by part into a draft beside the vault, which is there
 * for as long as it is of use, and no longer than the service.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statfsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupPart, BroughtBackup, ChosenBackup } from '../../preload/contract.ts';
import { openNewFile } from '../files/new-files.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { checkLength, messageOf } from './file.ts';
import { fileLength, readHead, type BackupHead } from './format.ts';
import { owned } from '../lib/faults.ts';

/** In bytes: what is larger is named by its path. */
const largest = 32 * 1024 ** 3;
/** More at once is no person's doing. */
const mostKept = 3;
/** From its last use to its end, in milliseconds. */
const keptFor = 60 * 60_000;

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
  /** How many write or read it now. */
  users: number;
  /** To be removed once nobody uses it. */
  ended: boolean;
  timer: NodeJS.Timeout | undefined;
}

export interface ChosenParts {
  /** The vault's; null for a vault in memory. */
  readonly directory: string | null;
  /** How much a directory's disk still takes, in bytes. */
  readonly freeBytes?: (directory: string) => number;
}

export class ChosenBackups {
  readonly #parts: ChosenParts;
  readonly #drafts = new Map<string, Draft>();

  constructor(parts: ChosenParts) {
    this.#parts = parts;
    const { directory } = parts;
    if (directory === null) return;
    // A process that was killed may have left some.
    for (const name of readdirSync(directory)) {
      if (draftName.test(name)) rmSync(join(directory, name), { force: true });
    }
  }

  /**
   * Takes the next part of a file; the first begins it, and is looked at before anything is kept.
   * @throws LatchkeyError BACKUP_UNREADABLE for what is no backup; PAYLOAD_TOO_LARGE, FAILED_PRECONDITION where the disk is
   * too full, RESOURCE_EXHAUSTED, NOT_FOUND, or INVALID_ARGUMENT for a part that is not the next.
   */
  async bring({ file, name, size, at, bytes }: BackupPart): Promise<BroughtBackup> {
    const draft = file === undefined ? this.#begin(name, size, bytes) : this.#find(file);
    if (draft.users > 0 || at !== draft.received || bytes.length === 0 || at + bytes.length > draft.size) {
      throw new LatchkeyError(
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
        throw new LatchkeyError(
          'FAILED_PRECONDITION',
          `the file cannot be kept beside the vault: ${messageOf(error)}`,
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

  /** Runs work over a file that was brought, which is removed once the work is done. What fails may be tried again. */
  async use<T>(file: string, work: (path: string, name: string) => Promise<T>): Promise<T> {
    const draft = this.#find(file);
    if (draft.received < draft.size) {
      throw new LatchkeyError(
        'FAILED_PRECONDITION',
        `the file is not here to its end: ${draft.received} of ${draft.size} bytes are`,
      );
    }
    return this.#during(draft, async () => {
      const result = await work(draft.path, draft.name);
      draft.ended = true;
      return result;
    });
  }

  /** Lets a file go; nothing where it is gone. */
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
      throw new LatchkeyError('INVALID_ARGUMENT', 'a vault in memory has no backups: start with a directory');
    }
    const head = readHead(beginning);
    checkLength(head, size);
    if (size > largest) {
      throw new LatchkeyError(
        'PAYLOAD_TOO_LARGE',
        `the file is larger than ${largest / 1024 ** 3} GiB: put it on the computer that runs Latchkey, and give its path`,
      );
    }
    this.#makeRoom();
    const coming = [...this.#drafts.values()].reduce((sum, draft) => sum + draft.size - draft.received, 0);
    // As much again is for the vault that comes out of it, or for the one that is in use.
    const room = Math.max(Math.floor((freeBytes(directory) - coming) / 2), 0);
    if (size > room) {
      throw new LatchkeyError(
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

  /** Takes the oldest from whoever left it lying, where there are as many as may be. */
  #makeRoom(): void {
    if (this.#drafts.size < mostKept) return;
    const left = [...this.#drafts.values()].find(
      ({ users, received, size }) => users === 0 && received === size,
    );
    if (left === undefined) {
      throw new LatchkeyError(
        'RESOURCE_EXHAUSTED',
        `${mostKept} files are being brought already: wait until one is here, or cancel one`,
      );
    }
    owned(() => this.#remove(left))();
  }

  #find(file: string): Draft {
    const draft = this.#drafts.get(file.slice(scheme.length));
    if (draft === undefined || draft.ended) {
      throw new LatchkeyError('NOT_FOUND', 'the file is here no more: choose it again');
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
          keptFor,
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

export const isChosen = (file: string): boolean => file.startsWith(scheme);

/** What a backup says of itself, without being opened. */
export const factsOf = (
  head: BackupHead,
  { file, name }: Pick<ChosenBackup, 'file' | 'name'>,
): ChosenBackup => ({
  file,
  name,
  madeAt: head.header.createdAt,
  size: fileLength(head),
  opensWith: [...new Set(head.header.keyslots.map(({ kind }) => kind))],
});

async function closeHandle(draft: Draft): Promise<void> {
  const { handle } = draft;
  draft.handle = undefined;
  await handle?.close();
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
