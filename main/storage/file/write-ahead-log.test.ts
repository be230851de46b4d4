/**
 * Damage in a write-ahead log: any byte of any frame of a transaction after which another was written shows; what a power loss
 * leaves, and what a transaction leaves that was rolled back, do not look like it. The logs are SQLite's own.
 */
import { randomInt } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { damagedLogOf, findLogDamage, LeftLog } from './write-ahead-log.ts';

const frameLength = 24 + 4096;
let directory: string;
let database: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-log-'));
  database = join(directory, 'vault.db');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Transactions of some pages each. @returns the log while it is in use, and where each transaction ends, in frames. */
function writeLog(transactions: number, before?: (sqlite: Sqlite.Database) => void) {
  const sqlite = new Sqlite(database);
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('wal_autocheckpoint = 0');
  sqlite.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)');
  before?.(sqlite);
  const insert = sqlite.prepare('INSERT INTO rows (text) VALUES (?)');
  const read = (): Buffer => readFileSync(`${database}-wal`);
  for (let count = 0; count < transactions; count++) {
    sqlite.transaction(() => {
      for (let row = 0; row < 3; row++) insert.run(`${String(count)} `.repeat(800));
    })();
  }
  const bytes = read();
  sqlite.close();
  return { bytes, commits: commitsOf(bytes) };
}

/** The frames that end transactions, of the log's present use. */
function commitsOf(bytes: Buffer): number[] {
  const commits: number[] = [];
  for (let frame = 1; 32 + frame * frameLength <= bytes.length; frame++) {
    const at = 32 + (frame - 1) * frameLength;
    const isCurrent = bytes.compare(bytes, 16, 24, at + 8, at + 16) === 0;
    if (isCurrent && bytes.readUInt32BE(at + 4) !== 0) commits.push(frame);
  }
  return commits;
}

const flipped = (bytes: Buffer, at: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ (1 + randomInt(255));
  return changed;
};

describe('damage', () => {
  test('is found wherever it is in a transaction that another follows', () => {
    const { bytes, commits } = writeLog(8);
    expect(findLogDamage(bytes)).toBeUndefined();
    const [before = 0, last = 0] = commits.slice(-2);
    for (let trial = 0; trial < 300; trial++) {
      const frame = 1 + randomInt(before);
      const found = findLogDamage(flipped(bytes, 32 + (frame - 1) * frameLength + randomInt(frameLength)));
      // The header of the last frame but one transaction's end may be what tells that it is an end.
      if (found === undefined && frame === before) continue;
      expect(found?.frame).toBe(frame);
      expect(found?.transactions).toBeGreaterThanOrEqual(1);
    }
    expect(last).toBeGreaterThan(before);
  });

  // Some values give the header another page size or byte order, under which no frame would hold.
  test('of the header is found whichever byte has whichever other value', () => {
    const { bytes } = writeLog(2);
    const missed: string[] = [];
    for (let at = 0; at < 32; at++) {
      for (let mask = 1; mask < 256; mask++) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ mask;
        if (findLogDamage(changed)?.frame !== 0) missed.push(`byte ${String(at)} as ${String(changed[at])}`);
      }
    }
    expect(missed).toEqual([]);
  });

  test('of a page of the last transaction but one differs from a power loss by its frame’s header', () => {
    const { bytes, commits } = writeLog(4);
    const [before = 0] = commits.slice(-2);
    const at = 32 + (before - 1) * frameLength + 24;
    expect(findLogDamage(flipped(bytes, at + randomInt(4096)))).toEqual({ frame: before, transactions: 2 });
  });

  test('is kept as it was, since SQLite writes over it', () => {
    const { bytes } = writeLog(4);
    const damaged = flipped(bytes, 32 + 100);
    writeFileSync(`${database}-wal`, damaged);
    using log = LeftLog.open(database);
    expect(log?.keepDamage(0)).toMatchObject({ frame: 1 });
    expect(readFileSync(damagedLogOf(database)).equals(damaged)).toBe(true);
  });
});

describe('beside what SQLite takes of the log', () => {
  /** The database with a log in use, as a process leaves both that is killed. */
  const leave = (before?: (sqlite: Sqlite.Database) => void): Buffer => {
    const sqlite = new Sqlite(join(directory, 'used.db'));
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('wal_autocheckpoint = 0');
    sqlite.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)');
    before?.(sqlite);
    const insert = sqlite.prepare('INSERT INTO rows (text) VALUES (?)');
    for (let count = 0; count < 6; count++) {
      sqlite.transaction(() => {
        for (let row = 0; row < 3; row++) insert.run(`${String(count)} `.repeat(800));
      })();
    }
    copyFileSync(join(directory, 'used.db'), join(directory, 'left.db'));
    const bytes = readFileSync(join(directory, 'used.db-wal'));
    sqlite.close();
    return bytes;
  };

  /** Opens the database with a log. @returns what is found, and how many bytes were read for it. */
  const look = (
    bytes: Buffer,
  ): { readonly found: ReturnType<typeof findLogDamage>; readonly read: number } => {
    copyFileSync(join(directory, 'left.db'), database);
    rmSync(`${database}-shm`, { force: true });
    writeFileSync(`${database}-wal`, bytes);
    using log = LeftLog.open(database);
    const sqlite = new Sqlite(database);
    try {
      const [{ log: taken = 0 } = {}] = sqlite.pragma('wal_checkpoint(NOOP)') as { log?: number }[];
      const before = bytesRead();
      return { found: log?.keepDamage(taken), read: bytesRead() - before };
    } finally {
      sqlite.close();
    }
  };

  const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

  test('the same is found as in all of it, whichever byte is damaged', () => {
    const bytes = leave();
    expect(look(bytes).found).toBeUndefined();
    let damaged = 0;
    for (let trial = 0; trial < 150; trial++) {
      const changed = flipped(bytes, trial < 32 ? trial : randomInt(bytes.length));
      const found = findLogDamage(changed);
      expect(look(changed).found).toEqual(found);
      if (found) damaged++;
      const torn = bytes.subarray(0, randomInt(bytes.length));
      expect(look(torn).found).toEqual(findLogDamage(torn));
    }
    expect(damaged).toBeGreaterThan(60);
  });

  test.runIf(process.platform === 'linux')(
    'bounded reads: hardly anything of a whole log, and headers of what an earlier use left',
    () => {
      const large = (sqlite: Sqlite.Database): void => {
        const insert = sqlite.prepare('INSERT INTO rows (text) VALUES (?)');
        for (let row = 0; row < 2000; row++) insert.run('y'.repeat(3000));
      };
      const whole = leave(large);
      expect(whole.length).toBeGreaterThan(8_000_000);
      const first = look(whole);
      expect(first.found).toBeUndefined();
      expect(first.read).toBeLessThan(2000);

      rmSync(join(directory, 'used.db'));
      const reused = leave((sqlite) => {
        large(sqlite);
        sqlite.pragma('wal_checkpoint(RESTART)');
      });
      const second = look(reused);
      expect(second.found).toBeUndefined();
      expect(second.read).toBeLessThan(2000 + (24 * reused.length) / frameLength);
    },
  );
});

describe('not damage', () => {
  test('the last transaction, written in part in any order', () => {
    const { bytes, commits } = writeLog(5);
    const [before = 0, last = 0] = commits.slice(-2);
    for (let trial = 0; trial < 200; trial++) {
      const torn = Buffer.from(bytes);
      // A power loss: sectors of frames that were not synced are there or not.
      for (let frame = before + 1; frame <= last; frame++) {
        const at = 32 + (frame - 1) * frameLength;
        for (let offset = 0; offset < frameLength; offset += 512) {
          if (randomInt(2) === 0) torn.fill(0, at + offset, Math.min(at + offset + 512, at + frameLength));
        }
      }
      expect(findLogDamage(torn)).toBeUndefined();
      expect(
        findLogDamage(bytes.subarray(0, randomInt(32 + before * frameLength, bytes.length))),
      ).toBeUndefined();
    }
  });

  test('what a transaction left that was rolled back after it had been written to the log', () => {
    const { bytes, commits } = writeLog(2, (sqlite) => {
      sqlite.pragma('cache_size = 5');
      sqlite.exec('BEGIN');
      const insert = sqlite.prepare('INSERT INTO rows (text) VALUES (?)');
      for (let row = 0; row < 400; row++) insert.run('x'.repeat(3000));
      sqlite.exec('ROLLBACK');
    });
    const frames = Math.floor((bytes.length - 32) / frameLength);
    expect(frames).toBeGreaterThan(100 + (commits.at(-1) ?? 0));
    expect(findLogDamage(bytes)).toBeUndefined();
  });

  test('what an earlier use of the file left behind', () => {
    const { bytes } = writeLog(3, (sqlite) => {
      const insert = sqlite.prepare('INSERT INTO rows (text) VALUES (?)');
      for (let row = 0; row < 50; row++) insert.run('y'.repeat(3000));
      sqlite.pragma('wal_checkpoint(RESTART)');
    });
    expect(findLogDamage(bytes)).toBeUndefined();
  });

  test.each([0, 1, 31, 32, 33, 5000])('a log of %i bytes', (length) => {
    expect(findLogDamage(new Uint8Array(length))).toBeUndefined();
  });
});
