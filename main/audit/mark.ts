/**
 * The mark: the number of the newest row of the log, in a small file beside the vault's. It is written after each COMMIT and
 * before its answers are given, without a sync. So it survives the end of a process, however that comes; after a power loss it may
 * be older, and is never newer than what was answered. A vault's file whose log ends before its mark has lost activities that were
 * answered: its write-ahead log was damaged, removed, or taken for another's.
 *
 * It holds for one file, by the number that the file system gives it: a copy, a restored file, or one of another vault has none.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { logEnd } from '../storage/tables/activities.ts';
import type { Reader } from '../storage/connection.ts';
import { requireVault, type VaultRow } from '../storage/tables/vault.ts';
import { damagedLogOf } from '../storage/file/write-ahead-log.ts';
import type { OnFault } from '../lib/faults.ts';
import { logWarning } from '../lib/log.ts';
import { reasonOfCode } from '../lib/text/reasons.ts';
import { rolledBack } from './rollback-anchor.ts';

/** One write of less than a sector: what is read is what was written once. */
const length = 160;

export class LogMark {
  readonly #database: string;
  readonly #onFault: OnFault;
  #descriptor: number | undefined;
  /** The vault and the file that the mark names. */
  #subject: string | undefined;
  #hasFailed = false;

  /** @param database The path of the vault's file, which is there. */
  constructor(database: string, onFault: OnFault) {
    this.#database = database;
    this.#onFault = onFault;
  }

  /**
   * Notes the newest row of the log. Does not throw: says once that a mark cannot be written, and each later row tries it
   * again.
   */
  note(tx: Reader, sequence: number): void {
    try {
      this.#subject ??= subjectOf(requireVault(tx), this.#database);
      this.#descriptor ??= openSync(
        markOf(this.#database),
        constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
        0o600,
      );
      writeSync(this.#descriptor, recordOf(this.#subject, sequence), 0, 'latin1');
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#report(error);
      this.#hasFailed = true;
    }
  }

  /**
   * Holds the log against the mark.
   * @throws KeyhearthError VAULT_ROLLED_BACK, with the rows that are gone
   */
  check(tx: Reader): void {
    // First: a process that serves the vault may add rows, and mark them, between the two.
    const marked = this.#read(subjectOf(requireVault(tx), this.#database));
    const end = logEnd(tx).sequence;
    const damaged = damagedLogOf(this.#database);
    const isDamaged = existsSync(damaged);
    if (marked === undefined ? !isDamaged : marked <= end) return;
    const gone =
      marked === undefined
        ? 'activities may be gone that were answered'
        : `its log ends at entry ${end}, and entry ${marked} was answered here: ${marked - end === 1 ? `entry ${marked} is` : `entries ${end + 1} to ${marked} are`} gone`;
    const why = isDamaged
      ? `Its write-ahead log was damaged; it is kept as it was in ${damaged}`
      : 'Its write-ahead log was damaged, removed or replaced, or an older state of the file was put back';
    throw rolledBack(`the vault's file lacks what it had: ${gone}. ${why}`);
  }

  /** Takes the log as it is. */
  accept(tx: Reader): void {
    rmSync(damagedLogOf(this.#database), { force: true });
    this.note(tx, logEnd(tx).sequence);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#subject = undefined;
  }

  #report(error: unknown): void {
    const code = reasonOfCode(error) === undefined ? undefined : (error as NodeJS.ErrnoException).code;
    if (code === undefined) this.#onFault(error);
    else
      logWarning(
        `${markOf(this.#database)} cannot be written (${code}): until it can, a file of the vault from before may pass for this one.`,
      );
  }

  /** @returns the row that was marked; undefined where there is no mark, of this vault and this file, that can be read. */
  #read(subject: string): number | undefined {
    const text = readMark(this.#database);
    const sequence = Number(text.slice(subject.length).split(' ')[1]);
    return text === recordOf(subject, sequence) ? sequence : undefined;
  }
}

/** True if this very file held a vault. If it is empty now, the vault is lost. */
export function isMarked(database: string): boolean {
  return existsSync(database) && readMark(database).startsWith(`latchkey mark ${fileNumber(database)} `);
}

function readMark(database: string): string {
  try {
    return readWhole(markOf(database));
  } catch {
    return '';
  }
}

const markOf = (database: string): string => database.replace(/\.db$/, '.mark');

/** @throws Error where there is no plain file. */
function readWhole(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) return '';
    const bytes = Buffer.alloc(length);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function subjectOf({ id }: VaultRow, database: string): string {
  return `latchkey mark ${fileNumber(database)} ${id}`;
}

/** With the time of its making, since numbers of deleted files are given again. */
function fileNumber(file: string): string {
  const { ino, birthtimeNs } = statSync(file, { bigint: true });
  return `${String(ino)}.${String(birthtimeNs)}`;
}

function recordOf(subject: string, sequence: number): string {
  const text = `${subject} ${sequence} `;
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${text}${sum}`.padEnd(length - 1) + '\n';
}
