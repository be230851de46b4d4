/** The disk of `faulty-disk.c`, for a command that a test starts: what it was asked is read here, and its faults are switched. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const kinds = { write: 1, truncate: 2, sync: 3, rename: 4, unlink: 5, create: 6, read: 7 } as const;
export type DiskCall = keyof typeof kinds;
const nameOf = new Map(Object.entries(kinds).map(([name, kind]) => [kind as number, name as DiskCall]));

/** One operation as the program had it done. */
export interface DiskOperation {
  readonly call: DiskCall;
  readonly path: string;
  /** The position of the write, or the size that a file was cut to. */
  readonly offset: number;
  /** The written bytes, or the path that a file was renamed to. */
  readonly data: Buffer;
  /** The end of its record: once the record was this long, the operation was done. */
  readonly end: number;
}

export type DiskFault = 'EIO' | 'ENOSPC' | 'EROFS' | 'EDQUOT';

const headLength = 16;

export class FaultyDisk {
  /** The environment of a command. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #record: string;
  readonly #switch: string;

  /**
   * @param home A directory of the test's own, outside of the one that is watched.
   * @param directory Whose files pass through.
   */
  constructor(home: string, directory: string) {
    const library = join(home, 'faulty-disk.so');
    const source = join(import.meta.dirname, 'faulty-disk.c');
    try {
      execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'], {
        stdio: 'pipe',
      });
    } catch (error) {
      throw new Error('this test needs a C compiler: install the package gcc, with libc6-dev', {
        cause: error,
      });
    }
    this.#record = join(home, 'disk-record');
    this.#switch = join(home, 'disk-switch');
    writeFileSync(this.#record, '');
    writeFileSync(this.#switch, Buffer.alloc(headLength));
    this.environment = {
      LD_PRELOAD: library,
      FAULTY_DISK_DIRECTORY: directory,
      FAULTY_DISK_RECORD: this.#record,
      FAULTY_DISK_SWITCH: this.#switch,
    };
  }

  /** The current length of the record: earlier operations are in it. */
  get recorded(): number {
    return statSync(this.#record).size;
  }

  operations(): DiskOperation[] {
    const record = readFileSync(this.#record);
    const operations: DiskOperation[] = [];
    for (let at = 0; at < record.length;) {
      const call = nameOf.get(record.readUInt8(at));
      if (call === undefined) throw new Error(`the disk's record is unreadable at ${String(at)}`);
      const pathEnd = at + headLength + record.readUInt16LE(at + 2);
      const end = pathEnd + record.readUInt32LE(at + 4);
      operations.push({
        call,
        path: record.toString('utf8', at + headLength, pathEnd),
        offset: Number(record.readBigUInt64LE(at + 8)),
        data: record.subarray(pathEnd, end),
        end,
      });
      at = end;
    }
    return operations;
  }

  /** Has calls of these kinds fail, after some have passed. */
  fail(calls: readonly DiskCall[], fault: DiskFault, pass = 0): void {
    const mask = calls.reduce((bits, call) => bits | (1 << kinds[call]), 0);
    this.#set([mask, constants.errno[fault], pass, 0]);
  }

  /** @returns how many calls have failed since `fail`. */
  heal(): number {
    const fd = openSync(this.#switch, 'r');
    const state = Buffer.alloc(headLength);
    try {
      readSync(fd, state, 0, headLength, 0);
    } finally {
      closeSync(fd);
    }
    this.#set([0, 0, 0, 0]);
    return state.readUInt32LE(12);
  }

  #set(words: readonly number[]): void {
    const fd = openSync(this.#switch, 'r+');
    try {
      writeSync(fd, Buffer.from(Uint32Array.from(words).buffer), 0, headLength, 0);
    } finally {
      closeSync(fd);
    }
  }
}
