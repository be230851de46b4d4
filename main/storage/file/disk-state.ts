/**
 * Knows if the vault's directory is writable. A full, read-only or failing disk is not a fault of a request.
 * It is one state that callers, the owner and the log learn once, in plain words.
 *
 * It also holds room back: a file of real bytes. On a full disk, it is released to the writes that must not
 * fail: a freeze and the signed head of a lock.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Connection } from '../connection.ts';
import { createNewFile, writeNewFile } from '../../files/new-files.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { every } from '../../lib/concurrency/every.ts';
import { kindOfShortage } from '../../lib/concurrency/shortages.ts';
import type { OnFault } from '../../lib/faults.ts';
import { causeOf, namingFile, storageTexts, type StorageCause } from '../../files/storage-causes.ts';

export interface StorageTrouble {
  readonly cause: StorageCause;
  /** The file that could not be written. */
  readonly file: string;
  /** The state and the remedy, in sentences. */
  readonly problem: string;
  /** In milliseconds. */
  readonly since: number;
}

export interface StorageParts {
  /** The vault's. */
  readonly directory: string;
  /** The vault's own file. */
  readonly file: string;
  /** Commits something to the file that changes nothing in it. */
  readonly touch: () => void;
  readonly now: () => number;
  /** Called as the state changes, with undefined once the disk takes writes again. */
  readonly onChange: (trouble: StorageTrouble | undefined) => void;
  readonly onFault: OnFault;
}

/** The stage of a transaction when it failed. Its outcome is known only before its COMMIT. */
export type Stage = 'reading' | 'writing' | 'committing';

/** Bytes that are held back: a freeze rejects what waits for votes, which may be many rows. */
const reserved = 1024 * 1024;
/** Bytes that a probe writes. */
const probed = 64 * 1024;
/** Milliseconds between checks while the disk refuses writes, or room could not be held back. */
const lookEvery = 5_000;

/** Commits the first page of a file as it is. */
export function touchFile(connection: Pick<Connection, 'exec' | 'pragma'>): void {
  connection.exec(`PRAGMA user_version = ${String(connection.pragma('user_version'))}`);
}

export const reserveIn = (directory: string): string => join(directory, 'vault.reserve');

/**
 * Writes a file in a directory to the disk, and removes it.
 * @returns why it cannot be written; undefined where it can, or could not be asked.
 */
export function probeDirectory(directory: string): StorageCause | undefined {
  const file = join(directory, `probe-${randomBytes(8).toString('hex')}`);
  try {
    writeBytes(file, probed);
    rmSync(file);
    return undefined;
  } catch (error) {
    // The disk is not asked where a process can open no more files.
    return kindOfShortage(error) === undefined ? (causeOf(error) ?? 'failing') : undefined;
  }
}

/**
 * SQLite has one code for most of what a disk refuses: the directory is tried, and then a file of the length.
 * @param file The database that could not be written.
 * @returns undefined where neither tells more than the error.
 */
function probeFile(file: string, directory = dirname(file)): StorageCause | undefined {
  return probeDirectory(directory) ?? (mayGrow(file, directory) ? undefined : 'too-large');
}

/** @returns false where the system or the disk permits no file that is longer than the database or its log by what a write takes. */
export function mayGrow(file: string, directory = dirname(file)): boolean {
  const lengths = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
  const probe = join(directory, `probe-${randomBytes(8).toString('hex')}`);
  try {
    const descriptor = createNewFile(probe);
    try {
      // A length without content uses no room.
      ftruncateSync(descriptor, Math.max(...lengths) + reserved);
    } finally {
      closeSync(descriptor);
      rmSync(probe);
    }
    return true;
  } catch (error) {
    return causeOf(error) !== 'too-large';
  }
}

/** Errors that may be of the disk and do not say so: SQLite's, and Node's of a directory that it could not make. */
const isVague = (error: unknown): boolean => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return /^SQLITE_(IOERR|CANTOPEN)/.test(code ?? '') || (code === 'ENOENT' && syscall === 'mkdir');
};

/** The same as `namingFile`, of a vault's database that could not be opened or made: what is vague is tried. */
export function namingDatabase(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !isVague(error)) return namingFile(error, file);
  let directory = dirname(file);
  while (!existsSync(directory) && dirname(directory) !== directory) directory = dirname(directory);
  return namingFile(error, file, probeFile(file, directory));
}

export class Storage {
  readonly #parts: StorageParts;
  #trouble: StorageTrouble | undefined;
  #isReserved = false;
  #lookedAt = -Infinity;
  #stopLooking: (() => void) | undefined;

  constructor(parts: StorageParts) {
    this.#parts = parts;
  }

  /** Holds room back, or says why the disk has none. */
  begin(): void {
    this.#reserve();
  }

  /** Undefined while the disk takes writes. */
  get trouble(): StorageTrouble | undefined {
    return this.#trouble;
  }

  /** True for an error of the disk. */
  isTrouble(error: unknown): boolean {
    return causeOf(error) !== undefined;
  }

  /** @returns what a caller hears in the place of an error; the error itself where the disk is not its cause. */
  refusalOf(error: unknown, stage: Stage): unknown {
    const said = causeOf(error);
    if (said === undefined) return error;
    // SQLite tells a full disk from all else, and has one code for most of the rest.
    const cause = said === 'full' ? said : (this.#trouble?.cause ?? probeFile(this.#parts.file) ?? said);
    this.#enter(cause);
    return new KeyhearthError('STORAGE_UNAVAILABLE', this.#message(cause, stage, said === 'full'));
  }

  /** A COMMIT succeeded. */
  committed(): void {
    // A small one may find room where a larger one does not: no more than one look a second.
    if (this.#trouble !== undefined && performance.now() - this.#lookedAt > 1000) this.#look();
  }

  /** Gives the room that was held back to what is written next. @returns false where there is none, or none is wanting. */
  giveUpReserve(): boolean {
    if (this.#trouble?.cause !== 'full' || !this.#isReserved) return false;
    rmSync(reserveIn(this.#parts.directory), { force: true });
    this.#isReserved = false;
    return true;
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  #message(cause: StorageCause, stage: Stage, isFull: boolean): string {
    const { file } = this.#parts;
    const { what, advice } = storageTexts[cause];
    if (stage === 'reading') return `${file} cannot be read: ${what}. ${advice}.`;
    // A full disk is noticed before the end of a transaction is written, and all else perhaps after.
    return stage === 'writing' || isFull
      ? `${file} cannot be written: ${what}. The request was not executed. ${advice}, and send it again.`
      : `${file} could not be written to the end: ${what}. The request may have been executed: the same request, sent again, tells. ${advice}.`;
  }

  #enter(cause: StorageCause): void {
    if (this.#trouble?.cause === cause) return;
    const { file, now, onChange } = this.#parts;
    const { what, advice } = storageTexts[cause];
    const problem = `${file} cannot be written: ${what}. Nothing is signed or changed until it can. ${advice}.`;
    this.#trouble = { cause, file, problem, since: this.#trouble?.since ?? now() };
    this.#lookLater();
    onChange(this.#trouble);
  }

  #lookLater(): void {
    this.#stopLooking ??= every(
      lookEvery,
      () => {
        this.#look();
      },
      this.#parts.onFault,
    );
  }

  /** Looks whether the disk takes writes again. One that was full has room once some can be held back. */
  #look(): void {
    this.#lookedAt = performance.now();
    if (this.#trouble === undefined) {
      this.#reserve();
    } else {
      const cause = this.#probe() ?? this.#touched() ?? (this.#hold() ? undefined : 'full');
      if (cause !== undefined) {
        this.#enter(cause);
        return;
      }
      this.#trouble = undefined;
      this.#parts.onChange(undefined);
    }
    if (this.#isReserved) this.close();
  }

  #probe(): StorageCause | undefined {
    return probeDirectory(this.#parts.directory);
  }

  #touched(): StorageCause | undefined {
    try {
      this.#parts.touch();
      return undefined;
    } catch (error) {
      return probeFile(this.#parts.file) ?? causeOf(error) ?? 'failing';
    }
  }

  #reserve(): void {
    if (this.#hold()) return;
    this.#lookLater();
    // There may be room for what is smaller.
    const cause = this.#probe();
    if (cause !== undefined) this.#enter(cause);
  }

  /** @returns whether room is held back. */
  #hold(): boolean {
    if (this.#isReserved) return true;
    const file = reserveIn(this.#parts.directory);
    try {
      if (statSync(file, { throwIfNoEntry: false })?.size !== reserved) {
        rmSync(file, { force: true });
        writeBytes(file, reserved);
      }
      this.#isReserved = true;
    } catch {
      // Whatever the cause is, the probe meets it too.
    }
    return this.#isReserved;
  }
}

/** Writes a file of bytes that no file system stores as fewer. Where that fails, nothing is left. */
const writeBytes = (file: string, bytes: number): void => {
  writeNewFile(file, randomBytes(bytes));
};
