/**
 * The class of these tests: a kept row that is older or newer than the file, at any point of any transaction. A request would be
 * decided by a key that was revoked, a user who was deleted, or a policy that was changed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SeededRandom } from '../lib/seeded-random.ts';
import { Connection } from './connection.ts';
import { leavesKept, unkeptTables } from './kept-rows.ts';
import { migrate } from './migrations.ts';
import { UnitOfWork } from './unit-of-work.ts';

let directory: string;
let file: string;
let connection: Connection;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-kept-'));
  file = join(directory, 'vault.db');
  connection = Connection.open(file);
  connection.exec(`
    CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE pets (id TEXT PRIMARY KEY, owner TEXT NOT NULL) STRICT;
    CREATE TRIGGER pets_name AFTER INSERT ON pets
      BEGIN UPDATE people SET name = name || ' of ' || NEW.id WHERE id = NEW.owner; END;
    CREATE TABLE activities (text TEXT NOT NULL) STRICT;
    INSERT INTO people VALUES ('a', 'Ann');
  `);
});

afterEach(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});

const byId = 'SELECT name FROM people WHERE id = ?';
const kept = (id = 'a'): string | undefined => connection.kept<{ name: string }>(byId, id)?.name;
const inFile = (id = 'a'): string | undefined => connection.get<{ name: string }>(byId, id)?.name;
const rename = (name: string, id = 'a'): number =>
  connection.run('UPDATE people SET name = ? WHERE id = ?', name, id);

/** The number of times that the file was asked for the row. */
function asked(work: () => void): number {
  const get = vi.spyOn(connection, 'get');
  work();
  const count = get.mock.calls.filter(([sql]) => sql === byId).length;
  get.mockRestore();
  return count;
}

test('a row is asked for once, and so is one that is not there', () => {
  expect(
    asked(() => {
      expect([kept(), kept(), kept()]).toEqual(['Ann', 'Ann', 'Ann']);
      expect([kept('b'), kept('b')]).toEqual([undefined, undefined]);
    }),
  ).toBe(2);
});

test('two values are not one value that looks like both', () => {
  const two = (id: string, name: string): object | undefined =>
    connection.kept('SELECT id FROM people WHERE id = ? AND name = ?', id, name);
  expect(two('a","', 'Ann')).toBeUndefined();
  expect(two('a', 'Ann')).toEqual({ id: 'a' });
  expect(two('a', '","Ann')).toBeUndefined();
});

test('the next look shows what this connection wrote, whichever way', () => {
  kept();
  rename('Bob');
  expect(kept()).toBe('Bob');
  connection.run("INSERT INTO pets VALUES ('rex', 'a')");
  expect(kept()).toBe('Bob of rex');
  connection.exec("UPDATE people SET name = 'Cid'");
  expect(kept()).toBe('Cid');
  connection.get("UPDATE people SET name = 'Dan' RETURNING name");
  expect(kept()).toBe('Dan');
  connection.all("REPLACE INTO people VALUES ('a', 'Eve') RETURNING id");
  expect(kept()).toBe('Eve');
  connection.run('WITH gone AS (SELECT ? AS id) DELETE FROM people WHERE id IN (SELECT id FROM gone)', 'a');
  expect(kept()).toBeUndefined();
  connection.run("INSERT INTO people VALUES ('a', 'Fay')");
  expect(kept()).toBe('Fay');
});

test('what a savepoint or a transaction undid is not shown after it, nor what it had replaced before its end', () => {
  kept();
  const undone = (work: (run: () => never) => void): void => {
    expect(() => {
      work(() => {
        rename('Bob');
        expect(kept()).toBe('Bob');
        throw new Error('undone');
      });
    }).toThrow('undone');
    expect(kept()).toBe('Ann');
  };
  undone((run) => connection.transaction(run));
  undone((run) => connection.savepoint(run));
  connection.transaction(() => {
    undone((run) => connection.savepoint(run));
    undone((run) => connection.savepoint(() => connection.savepoint(run)));
    rename('Cid');
    expect(() => connection.savepoint(() => expect.fail(kept()))).toThrow('Cid');
    expect(kept()).toBe('Cid');
  });
  expect(kept()).toBe('Cid');
});

test('what another connection wrote is seen by the next look, the next read and the next transaction', async () => {
  const units = new UnitOfWork(connection);
  const other = Connection.open(file);
  try {
    other.pragma('busy_timeout = 0');
    const write = (name: string): number => other.run('UPDATE people SET name = ?', name);
    kept();
    write('Bob');
    expect(kept()).toBe('Bob');
    write('Cid');
    expect(units.read(() => kept())).toBe('Cid');
    write('Dan');
    expect(await units.write(() => [kept(), kept()])).toEqual(['Dan', 'Dan']);
    write('Eve');
    expect(connection.view(() => kept())).toBe('Eve');
    // A view is one state of the file; what is kept of it ends with it.
    connection.view(() => {
      kept();
      write('Fay');
      expect(kept()).toBe('Eve');
    });
    expect(kept()).toBe('Fay');
    // Nothing changes inside of a transaction, whose lock keeps others from writing.
    connection.transaction(() => {
      kept();
      expect(() => write('Gil')).toThrow(/locked/);
    });
  } finally {
    other.close();
  }
});

test('a read that others write beside is run again, and shows or throws only what is true after it', () => {
  const units = new UnitOfWork(connection);
  const other = Connection.open(file);
  try {
    const write = (name: string): number => other.run('UPDATE people SET name = ?', name);
    const onFirstRun = (work: () => void): (() => void) => {
      let runs = 0;
      return () => {
        if ((runs += 1) === 1) work();
      };
    };
    units.read(() => kept());
    write('Bob');
    const seen: unknown[] = [];
    units.read(() => seen.push(kept()));
    expect(seen).toEqual(['Ann', 'Bob']);
    const writes = onFirstRun(() => write('Cid'));
    const pair = units.read(() => {
      const before = kept();
      writes();
      return [before, inFile()];
    });
    expect(pair).toEqual(['Cid', 'Cid']);
    write('Dan');
    const refusesCid = (): string | undefined => {
      if (kept() === 'Cid') throw new Error('refused');
      return kept();
    };
    expect(units.read(refusesCid)).toBe('Dan');
    write('Cid');
    expect(() => units.read(refusesCid)).toThrow('refused');
  } finally {
    other.close();
  }
});

test('a read looks once for what others wrote', () => {
  const units = new UnitOfWork(connection);
  units.read(() => kept());
  const get = vi.spyOn(connection, 'get');
  units.read(() => [kept(), kept()]);
  expect(get.mock.calls).toEqual([['PRAGMA data_version']]);
  get.mockRestore();
});

test('another file in the place of this one has rows of its own', () => {
  kept();
  connection.reopen(file, () => {
    const other = Connection.open(file);
    other.run("UPDATE people SET name = 'Bob'");
    other.close();
  });
  expect(kept()).toBe('Bob');

  const memory = Connection.open(':memory:');
  memory.exec("CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT); INSERT INTO people VALUES ('a', 'Ann')");
  const before = memory.serialize();
  memory.run("UPDATE people SET name = 'Bob'");
  expect(memory.kept(byId, 'a')).toEqual({ name: 'Bob' });
  memory.restore(before);
  expect(memory.kept(byId, 'a')).toEqual({ name: 'Ann' });
  memory.close();
});

test('a kept row cannot be changed by who is shown it', () => {
  const row = connection.kept<{ name: string }>(byId, 'a');
  expect(() => {
    if (row) row.name = 'Bob';
  }).toThrow(TypeError);
  expect(kept()).toBe('Ann');
});

test('a list is asked for once, until anything may have changed it', () => {
  const other = Connection.open(file);
  try {
    const all = (name = 'Ann'): readonly { readonly id: string }[] =>
      connection.keptAll<{ id: string }>('SELECT id FROM people WHERE name = ? ORDER BY id', name);
    const spy = vi.spyOn(connection, 'all');
    expect([all(), all(), all('Bob'), all('Bob')]).toEqual([[{ id: 'a' }], [{ id: 'a' }], [], []]);
    expect(spy).toHaveBeenCalledTimes(2);
    connection.run("INSERT INTO people VALUES ('b', 'Ann')");
    expect(all()).toEqual([{ id: 'a' }, { id: 'b' }]);
    other.run("DELETE FROM people WHERE id = 'a'");
    expect(all()).toEqual([{ id: 'b' }]);
    expect(() =>
      connection.transaction(() => expect.fail(String(rename('Cid', 'b') + all('Cid').length))),
    ).toThrow('2');
    expect([all(), all('Cid')]).toEqual([[{ id: 'b' }], []]);
    expect(() => (all() as { id: string }[]).push({ id: 'c' })).toThrow(TypeError);
    expect(() => connection.keptAll('SELECT text FROM activities')).toThrow('not kept');
  } finally {
    other.close();
  }
});

test('writes to tables that are not kept leave the others as they are; such tables are not asked this way', () => {
  kept();
  expect(
    asked(() => {
      connection.transaction(() => {
        connection.run("INSERT INTO activities VALUES ('x')");
        expect(kept()).toBe('Ann');
      });
      connection.run('DELETE FROM activities WHERE text = ?', 'x');
      expect(kept()).toBe('Ann');
    }),
  ).toBe(0);
  expect(() => connection.kept('SELECT text FROM activities WHERE text = ?', 'x')).toThrow('not kept');
  for (const sql of [
    'INSERT INTO activities_more VALUES (1)',
    'UPDATE people SET name = (SELECT text FROM activities)',
    'DELETE FROM people WHERE id IN (SELECT text FROM activities)',
    'REPLACE INTO activities VALUES (1)',
    'DROP TABLE activities',
  ])
    expect(leavesKept(sql), sql).toBe(false);
});

test('a write to a table that is not kept changes no other, in the schema of a vault', () => {
  const vault = Connection.open(':memory:');
  migrate(vault);
  const ofUnkept = (name: string): boolean => unkeptTables.some((table) => table === name);
  const triggers = vault.all<{ table: string; sql: string }>(
    "SELECT tbl_name AS 'table', sql FROM sqlite_schema WHERE type = 'trigger'",
  );
  expect(triggers.length).toBeGreaterThan(10);
  for (const { table, sql } of triggers) {
    if (ofUnkept(table)) expect(sql).toMatch(/BEGIN\s+SELECT RAISE\(ABORT, '[^']*'\);\s+END$/);
  }
  const references = vault.all<{ child: string; table: string; on_delete: string; on_update: string }>(
    `SELECT s.name AS child, f."table", f.on_delete, f.on_update
     FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS f WHERE s.type = 'table'`,
  );
  expect(references.length).toBeGreaterThan(10);
  for (const { child, table, ...actions } of references) {
    if (!ofUnkept(child) && ofUnkept(table)) {
      expect(actions).toEqual({ on_delete: 'NO ACTION', on_update: 'NO ACTION' });
    }
  }
  vault.close();
});

test('a kept row is the row of the file after any order of writes, undoings and transactions', () => {
  const other = Connection.open(file);
  const random = new SeededRandom('kept rows').generate;
  const below = (most: number): number => (random('order', 1)[0] ?? 0) % most;
  const id = (): string => ['a', 'b', 'c'][below(3)] ?? '';
  const same = (): void => {
    for (const each of ['a', 'b', 'c']) expect(kept(each)).toBe(inFile(each));
  };
  let step = 0;
  const write = (into: Connection): void => {
    step += 1;
    const of = id();
    const kinds = [
      () => into.run('DELETE FROM people WHERE id = ?', of),
      () => into.run('REPLACE INTO pets VALUES (?, ?)', `pet ${String(step)}`, of),
      () => into.run("INSERT INTO activities VALUES ('x')"),
      () => into.run('REPLACE INTO people VALUES (?, ?)', of, `name ${String(step)}`),
    ];
    kinds[below(kinds.length)]?.();
  };
  const some = (depth: number): void => {
    for (let times = below(4); times >= 0; times -= 1) {
      if (depth < 3 && below(3) === 0) {
        try {
          connection.savepoint(() => {
            some(depth + 1);
            if (below(2) === 0) throw new RangeError('undone');
          });
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
        }
      } else if (below(4) > 0) write(connection);
      same();
    }
  };
  for (let turn = 0; turn < 150; turn += 1) {
    if (below(3) === 0) write(other);
    same();
    try {
      connection.transaction(() => {
        same();
        some(0);
        if (below(4) === 0) throw new RangeError('undone');
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    same();
  }
  other.close();
}, 120_000);
