/**
 * A bounded log file that blocks no caller: a private file of this user, with a fixed number of older ones
 * beside it. Writes are asynchronous, and lines that wait for a hanging disk are bounded too. A disk that
 * refuses lines loses them. The log says so once and tries again later.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  write,
  writeSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { ExplainedError } from '../lib/errors.ts';

export const logFileName = 'keyhearth.log';

/** The newest first. */
export const logFileNames = [logFileName, ...[1, 2, 3].map((age) => `${logFileName}.${String(age)}`)];

export const logFileLimits = {
  /** Bytes after which a new file begins. */
  file: 1024 * 1024,
  /** Characters that wait for the disk. */
  waiting: 256 * 1024,
  /** Milliseconds until a file that failed is tried again. */
  pause: 60_000,
} as const;

// A FIFO does not block, and links are not followed. Windows has neither flag.
const guarded = (constants.O_NOFOLLOW as number | undefined) ?? 0;
const unwaiting = (constants.O_NONBLOCK as number | undefined) ?? 0;

export class LogFile implements Disposable {
  readonly #directory: string;
  readonly #onTrouble: (error: unknown) => void;
  #descriptor: number | undefined;
  #waiting: string[] = [];
  #length = 0;
  #lost = 0;
  #isWriting = false;
  #isOver = false;
  /** True if the last that was written may be a part of a line. */
  #isHalf = false;
  #troubleAt = -Infinity;

  /**
   * @param directory The vault's. It may not be there yet.
   * @param onTrouble Told why lines are lost, once until a line is written again.
   */
  constructor(directory: string, onTrouble: (error: unknown) => void) {
    this.#directory = directory;
    this.#onTrouble = onTrouble;
  }

  /** @param line With its end. */
  write(line: string): void {
    if (this.#length + line.length > logFileLimits.waiting || this.#isPausing()) {
      this.#lost++;
      return;
    }
    this.#waiting.push(line);
    this.#length += line.length;
    if (!this.#isWriting) this.#begin();
  }

  /** Writes what waits before the process ends. What is being written then is with the system already. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const lines = this.#take();
    try {
      writeSync(this.#ready(), lines);
    } catch {
      // There is no later.
    }
  }

  [Symbol.dispose](): void {
    this.flush();
    this.#isOver = true;
    this.#close();
  }

  #begin(): void {
    const entries = this.#waiting.length + this.#lost;
    const lines = Buffer.from(this.#take());
    try {
      const descriptor = this.#ready();
      this.#isWriting = true;
      this.#writeAll(descriptor, lines, (error) => {
        this.#isWriting = false;
        if (error) this.#failed(error, entries);
        else this.#troubleAt = -Infinity;
        if (this.#isOver) this.#close();
        else if (this.#waiting.length > 0 && !this.#isPausing()) this.#begin();
      });
    } catch (error) {
      this.#failed(error, entries);
    }
  }

  /** A disk that is nearly full takes a part, and refuses the rest. */
  #writeAll(descriptor: number, bytes: Uint8Array, finish: (error: Error | null) => void): void {
    write(descriptor, bytes, (error, written) => {
      if (error) finish(error);
      else if (written < bytes.length) {
        this.#isHalf = true;
        this.#writeAll(descriptor, bytes.subarray(written), finish);
      } else {
        this.#isHalf = false;
        finish(null);
      }
    });
  }

  #take(): string {
    const before = this.#isHalf ? '\n' : '';
    const lost = this.#lost === 0 ? '' : `${before}(${String(this.#lost)} entries are missing here)\n`;
    const lines = `${lost}${this.#waiting.join('')}`;
    this.#waiting = [];
    this.#length = 0;
    this.#lost = 0;
    return lines;
  }

  #isPausing(): boolean {
    return performance.now() - this.#troubleAt < logFileLimits.pause;
  }

  #failed(error: unknown, entries: number): void {
    const isNew = this.#troubleAt === -Infinity;
    this.#troubleAt = performance.now();
    this.#lost += entries;
    this.#close();
    if (isNew) this.#onTrouble(error);
  }

  #close(): void {
    // The system frees a number at once, and may give it to another file: a write under way needs it still.
    if (this.#descriptor === undefined || this.#isWriting) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** @returns a file with room. */
  #ready(): number {
    const found = this.#descriptor === undefined ? undefined : fstatSync(this.#descriptor);
    if (found?.nlink === 1 && found.size < logFileLimits.file && this.#descriptor !== undefined)
      return this.#descriptor;
    this.#close();
    this.#descriptor = openPrivately(this.#path(0));
    const { size, ino } = fstatSync(this.#descriptor);
    if (size >= logFileLimits.file) {
      this.#close();
      this.#rotate(ino);
      this.#descriptor = openPrivately(this.#path(0));
    }
    return this.#descriptor;
  }

  /** @param inode Of the full file: another process may have put a new one in its place. */
  #rotate(inode: number): void {
    if (lstatSync(this.#path(0)).ino !== inode) return;
    for (let age = logFileNames.length - 1; age > 0; age--) {
      rmSync(this.#path(age), { force: true });
      if (lstatSync(this.#path(age - 1), { throwIfNoEntry: false })) {
        renameSync(this.#path(age - 1), this.#path(age));
      }
    }
  }

  #path(age: number): string {
    return join(this.#directory, logFileNames[age] ?? '');
  }
}

/** @throws Error if the path is not a file of this user, or the file has another name too. */
function openPrivately(file: string): number {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | guarded | unwaiting;
  const descriptor = openOrRefuse(file, flags);
  try {
    const found = fstatSync(descriptor);
    if (!isOwn(found)) throw notOwn(file);
    if ((found.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openOrRefuse(file: string, flags: number): number {
  try {
    return openSync(file, flags, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code !== undefined && otherKinds.has(code) ? notOwn(file) : error;
  }
}

/** Error codes for a link, a FIFO and a directory. */
const otherKinds: ReadonlySet<string> = new Set(['ELOOP', 'ENXIO', 'EISDIR']);

const notOwn = (file: string): Error =>
  new ExplainedError(`${file} is not this user’s own file: move it away`);

const isOwn = (found: Stats): boolean =>
  found.isFile() && found.nlink === 1 && (process.geteuid?.() ?? found.uid) === found.uid;

/** @returns the end of the newest log file, in whole lines; undefined where there is none that can be read. */
export function readLogEnd(directory: string, most = 32 * 1024): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(join(directory, logFileName), constants.O_RDONLY | guarded | unwaiting);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(descriptor);
    if (!isOwn(found)) return undefined;
    const from = Math.max(0, found.size - most);
    const bytes = Buffer.alloc(Math.min(found.size, most));
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(descriptor);
  }
}
