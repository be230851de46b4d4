import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import { Connection, type Writer } from './connection.ts';
import { UnitOfWork } from './unit-of-work.ts';

let connection: Connection;
let units: UnitOfWork;
/** The statements that began and ended transactions, in order. */
let statements: string[];
/** The time, which stands still unless a test moves it: how fast a machine is decides nothing here. */
let ms: number;

beforeEach(() => {
  connection = Connection.open(':memory:');
  connection.exec('CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT');
  units = new UnitOfWork(connection);
  statements = [];
  ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const run = connection.run.bind(connection);
  vi.spyOn(connection, 'run').mockImplementation((sql, ...values) => {
    if (/^(BEGIN|COMMIT|ROLLBACK(?! TO))/.test(sql)) statements.push(sql);
    return run(sql, ...values);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const note =
  (text: string) =>
  (tx: Writer): string => {
    tx.run('INSERT INTO notes (text) VALUES (?)', text);
    return text;
  };

const notes = (): string[] =>
  connection.all<{ text: string }>('SELECT text FROM notes ORDER BY rowid').map(({ text }) => text);

test('writes of one turn share one COMMIT, run in order, and answer what they returned', async () => {
  const answers = Promise.all(['a', 'b', 'c'].map((text) => units.write(note(text))));
  expect(notes()).toEqual([]);
  expect(await answers).toEqual(['a', 'b', 'c']);
  expect(notes()).toEqual(['a', 'b', 'c']);
  expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

test('writes of different turns have a COMMIT each', async () => {
  await units.write(note('a'));
  await units.write(note('b'));
  expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'BEGIN IMMEDIATE', 'COMMIT']);
});

test('no write is answered before the COMMIT', async () => {
  const order: string[] = [];
  const commit = connection.transaction.bind(connection);
  vi.spyOn(connection, 'transaction').mockImplementation((work) => {
    const value = commit(work);
    order.push('committed');
    return value;
  });
  await Promise.all(
    ['a', 'b'].map(async (text) => {
      await units.write(note(text));
      order.push(`answered ${text}`);
    }),
  );
  expect(order).toEqual(['committed', 'answered a', 'answered b']);
});

test('a write that throws is undone alone, with all that it wrote', async () => {
  const broken = units.write((tx) => {
    note('b')(tx);
    throw new Error('broken');
  });
  const others = Promise.all([units.write(note('a')), units.write(note('c'))]);
  await expect(broken).rejects.toThrow('broken');
  expect(await others).toEqual(['a', 'c']);
  expect(notes()).toEqual(['a', 'c']);
  expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

test('a write that breaks a rule of the schema is undone alone too', async () => {
  const results = await Promise.allSettled(['a', 'a', 'b'].map((text) => units.write(note(text))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(notes()).toEqual(['a', 'b']);
});

test('a later write of the group sees what an earlier one wrote, and not what was undone', async () => {
  const seen: string[][] = [];
  const look = (): Promise<void> =>
    units.write((tx) => {
      seen.push(tx.all<{ text: string }>('SELECT text FROM notes').map(({ text }) => text));
    });
  const undone = units.write((tx) => {
    note('undone')(tx);
    throw new Error('broken');
  });
  await Promise.all([units.write(note('a')), undone.catch(() => undefined), look()]);
  expect(seen).toEqual([['a']]);
});

test('savepoints within a write keep what was written before them', async () => {
  await units.write((tx) => {
    note('before')(tx);
    expect(() =>
      tx.savepoint(() => {
        note('inside')(tx);
        throw new Error('inside');
      }),
    ).toThrow('inside');
    note('after')(tx);
  });
  expect(notes()).toEqual(['before', 'after']);
});

describe('when COMMIT fails', () => {
  beforeEach(() => {
    connection.exec(
      `CREATE TABLE children (parent TEXT REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED)`,
    );
  });

  const orphan = (tx: Writer): void => {
    tx.run(`INSERT INTO children (parent) VALUES ('nobody')`);
  };

  test('every write of the group is rejected and undone', async () => {
    const results = await Promise.allSettled([
      units.write(note('a')),
      units.write(orphan),
      units.write(note('b')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    for (const result of results) {
      expect((result as PromiseRejectedResult).reason).toMatchObject({
        code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
      });
    }
    expect(notes()).toEqual([]);
    expect(connection.inTransaction).toBe(false);
  });

  test('a write that had failed before keeps its own reason', async () => {
    const results = await Promise.allSettled([
      units.write(() => {
        throw new Error('its own');
      }),
      units.write(orphan),
    ]);
    expect(results.map((result) => String((result as PromiseRejectedResult).reason))).toEqual([
      'Error: its own',
      expect.stringContaining('FOREIGN KEY') as string,
    ]);
  });

  test('the next group goes through', async () => {
    await expect(units.write(orphan)).rejects.toThrow('FOREIGN KEY');
    await units.write(note('a'));
    expect(notes()).toEqual(['a']);
  });
});

test('when the engine gives up the transaction, nothing of the group is answered as done', async () => {
  const results = await Promise.allSettled([
    units.write(note('a')),
    // SQLite does the same by itself on a full disk.
    units.write(() => {
      connection.run('ROLLBACK');
      throw new Error('disk full');
    }),
    units.write(note('b')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(notes()).toEqual([]);
  await units.write(note('c'));
  expect(notes()).toEqual(['c']);
});

test('flush commits what waits at once, and has nothing to do twice', async () => {
  const written = units.write(note('a'));
  units.flush();
  expect(notes()).toEqual(['a']);
  units.flush();
  await written;
  expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
});

test('a read sees what was committed before it', async () => {
  const written = units.write(note('a'));
  const count = (): number | undefined =>
    units.read((tx) => tx.get<{ count: number }>('SELECT count(*) AS count FROM notes'))?.count;
  expect(count()).toBe(0);
  await written;
  expect(count()).toBe(1);
});

describe('replace', () => {
  test('writes at once and alone, after what waits', async () => {
    const waiting = units.write(note('a'));
    expect(units.replace(note('b'))).toBe('b');
    expect(notes()).toEqual(['a', 'b']);
    expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'BEGIN IMMEDIATE', 'COMMIT']);
    expect(await waiting).toBe('a');
    expect(await units.write(note('c'))).toBe('c');
  });

  test('an error undoes its own write, and rejects no other', async () => {
    const waiting = units.write(note('a'));
    expect(() =>
      units.replace((tx) => {
        note('b')(tx);
        throw new Error('broken');
      }),
    ).toThrow('broken');
    expect(await waiting).toBe('a');
    expect(notes()).toEqual(['a']);
  });

  test('leaves no error of SQLite’s to who reads what need not hold, where the disk is its cause', () => {
    const refused = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMMAP' });
    const other = new Error('not the disk’s');
    const heard = new KeyhearthError('STORAGE_UNAVAILABLE', 'the disk failed');
    const refusalOf = (error: unknown) => (error === refused ? heard : error);
    const disk = { refusalOf, isTrouble: () => true, committed: () => undefined, giveUpReserve: () => false };
    const onDisk = new UnitOfWork(connection, undefined, disk);
    const reading = (error: Error) => () =>
      onDisk.readUnverified(() => {
        throw error;
      });
    expect(reading(refused)).toThrow(heard);
    expect(reading(other)).toThrow(other);
  });

  test('is done once it is committed: a log that cannot be emptied is emptied after a later COMMIT', async () => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    const emptyLog = vi.spyOn(connection, 'emptyLog').mockImplementation(() => {
      throw full;
    });
    const refusalOf = vi.fn(() => new Error('what a caller hears'));
    const disk = { refusalOf, isTrouble: () => true, committed: () => undefined, giveUpReserve: () => false };
    const onDisk = new UnitOfWork(connection, undefined, disk);
    expect(onDisk.replace(note('a'))).toBe('a');
    expect(refusalOf).toHaveBeenCalledExactlyOnceWith(full, 'committing');
    expect(await onDisk.write(note('b'))).toBe('b');
    emptyLog.mockReset();
    await onDisk.write(note('c'));
    expect(emptyLog).toHaveBeenCalledOnce();
    await onDisk.write(note('d'));
    expect(emptyLog).toHaveBeenCalledOnce();
    expect(notes()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('leaves nothing of what it replaced in the file or in its log', () => {
    const directory = mkdtempSync(join(tmpdir(), 'keyhearth-unit-of-work-'));
    const file = join(directory, 'a.db');
    const onDisk = Connection.open(file);
    try {
      onDisk.exec('CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT');
      const work = new UnitOfWork(onDisk);
      work.replace((tx) => tx.run("INSERT INTO notes (text) VALUES ('an old secret')"));
      expect(readFileSync(file, 'latin1')).toContain('an old secret');
      work.replace((tx) => tx.run("UPDATE notes SET text = 'a new secret'"));
      for (const each of [file, `${file}-wal`])
        expect(readFileSync(each, 'latin1')).not.toContain('an old secret');
      expect(readFileSync(file, 'latin1')).toContain('a new secret');
      // A reader keeps the log from being emptied, and delays no write.
      const reader = new Sqlite(file, { readonly: true });
      try {
        reader.exec('BEGIN; SELECT * FROM notes');
        const started = Date.now();
        work.replace((tx) => tx.run("UPDATE notes SET text = 'a third secret'"));
        // It would be the busy timeout: five seconds.
        expect(Date.now() - started).toBeLessThan(4_500);
      } finally {
        reader.close();
      }
      expect(onDisk.pragma('busy_timeout')).toBe(5000);
    } finally {
      onDisk.close();
      rmSync(directory, { recursive: true });
    }
  });
});

describe('what is owed', () => {
  const disk = {
    refusalOf: () => new KeyhearthError('STORAGE_UNAVAILABLE', 'the disk is full'),
    isTrouble: () => true,
    committed: () => undefined,
    giveUpReserve: () => false,
  };
  const full = { is: false };
  const owed = (tx: Writer): void => {
    if (full.is) throw new Error('full');
    tx.run("INSERT INTO notes (text) VALUES ('owed')");
  };

  test('is done at once, and once', async () => {
    const onDisk = new UnitOfWork(connection, undefined, disk);
    onDisk.owe(owed);
    expect(notes()).toEqual(['owed']);
    await onDisk.write(note('a'));
    expect(notes()).toEqual(['owed', 'a']);
  });

  test('comes before all else in the next transaction that is committed, where the disk did not take it', async () => {
    const onDisk = new UnitOfWork(connection, undefined, disk);
    full.is = true;
    onDisk.owe(owed);
    await expect(onDisk.write(note('a'))).rejects.toThrow('the disk is full');
    expect(notes()).toEqual([]);
    full.is = false;
    await Promise.all([onDisk.write(note('b')), onDisk.write(note('c'))]);
    expect(notes()).toEqual(['owed', 'b', 'c']);
    await onDisk.write(note('d'));
    expect(notes()).toEqual(['owed', 'b', 'c', 'd']);
  });

  test('may be given up, and is where another error than the disk’s meets it', async () => {
    const onDisk = new UnitOfWork(connection, undefined, disk);
    full.is = true;
    onDisk.owe(owed)();
    expect(() => units.owe(owed)).toThrow('full');
    full.is = false;
    await Promise.all([onDisk.write(note('a')), units.write(note('b'))]);
    expect(notes().toSorted()).toEqual(['a', 'b']);
  });
});

describe('while requests are under way that may come to a write', () => {
  let isMoreComing: boolean;
  const gathering = (): UnitOfWork =>
    new UnitOfWork(connection, undefined, undefined, { isMoreComing: () => isMoreComing });

  beforeEach(() => {
    isMoreComing = true;
  });

  test('a transaction is held for them, and then not one turn longer', async () => {
    const held = gathering();
    const first = held.write(note('a'));
    await nextTurn();
    await nextTurn();
    const second = held.write(note('b'));
    expect(notes()).toEqual([]);
    isMoreComing = false;
    await nextTurn();
    expect(notes()).toEqual(['a', 'b']);
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  });

  test('it is held for some milliseconds at most', async () => {
    const write = gathering().write(note('a'));
    await nextTurn();
    ms += 8;
    expect(await write).toBe('a');
  });

  test('it is not held once it is full, nor for what must be written now', async () => {
    const held = gathering();
    const writes = Array.from({ length: 64 }, (_, index) => held.write(note(String(index))));
    expect(await Promise.all(writes)).toHaveLength(64);
    expect(held.first(note('now'))).toBe('now');
    void held.write(note('b'));
    held.flush();
    expect(notes()).toContain('b');
  });
});

describe('a turn', () => {
  /** Takes some milliseconds, in a write. */
  const slow =
    (text: string) =>
    (tx: Writer): string => {
      ms += 5;
      return note(text)(tx);
    };

  test('ends a transaction after some milliseconds: what waits is written in the next, in order', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => String(index));
    const writes = texts.map((text) => units.write(slow(text)));
    const seen: number[] = [];
    while (notes().length < texts.length) {
      await nextTurn();
      seen.push(notes().length);
    }
    expect(await Promise.all(writes)).toEqual(texts);
    expect(notes()).toEqual(texts);
    const steps = seen.map((count, index) => count - (seen[index - 1] ?? 0));
    expect(Math.max(...steps)).toBeLessThanOrEqual(3);
    expect(statements.filter((each) => each === 'COMMIT').length).toBeGreaterThanOrEqual(4);
  });

  test('goes first to what must not wait, in a transaction of its own', async () => {
    const waiting = ['a', 'b'].map((text) => units.write(note(text)));
    expect(units.first(note('first'))).toBe('first');
    expect(notes()).toEqual(['first']);
    expect(() => units.first(note('first'))).toThrow(/UNIQUE/);
    await Promise.all(waiting);
    expect(notes()).toEqual(['first', 'a', 'b']);
  });

  test('writes all that waits where that is asked for', () => {
    const texts = Array.from({ length: 8 }, (_, index) => String(index));
    for (const text of texts) void units.write(slow(text));
    units.flush();
    expect(notes()).toEqual(texts);
  });

  test('tells how long each write took, and that enough wait', async () => {
    const times: number[] = [];
    const meter = (ms: number): void => {
      times.push(ms);
    };
    const writes = [units.write(slow('slow'), { meter }), units.write(note('fast'), { meter })];
    expect(units.isBusy).toBe(false);
    const more = Array.from({ length: 64 }, (_, index) => units.write(note(String(index))));
    expect(units.isBusy).toBe(true);
    await Promise.all([...writes, ...more]);
    expect(units.isBusy).toBe(false);
    expect(times).toHaveLength(2);
    expect(times[0]).toBeGreaterThanOrEqual(5);
  });
});
