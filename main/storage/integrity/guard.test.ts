import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { KeyhearthError } from '../../lib/errors.ts';
import { Connection } from '../connection.ts';
import { checkRows, verifyQuickly } from './verify.ts';
import { RowGuard } from './guard.ts';
import type { Mac } from './row-mac.ts';
import { putSealedRowKey } from '../tables/integrity.ts';
import { migrate } from '../migrations.ts';
import { UnitOfWork } from '../unit-of-work.ts';

class Keys {
  unlocked = true;
  key = 'a key';

  readonly mac: Mac = (data) => {
    if (!this.unlocked) throw new KeyhearthError('VAULT_LOCKED', 'locked');
    return createHmac('sha256', this.key).update(data).digest();
  };

  lock(): void {
    this.unlocked = false;
  }
}

let keys: Keys;
let connection: Connection;
let guard: RowGuard;
let units: UnitOfWork;

beforeEach(async () => {
  keys = new Keys();
  connection = Connection.open(':memory:');
  migrate(connection);
  guard = new RowGuard(connection, keys);
  guard.begin();
  units = new UnitOfWork(connection, guard);
  await units.write((tx) => {
    putSealedRowKey(tx, new Uint8Array(1));
    tx.run(
      `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'O', 1, 0, 0)`,
    );
    for (const id of ['a', 'b']) {
      tx.run(
        `INSERT INTO users (id, organization_id, name, root, created_at, updated_at) VALUES (?, 'o', ?, 0, 0, 0)`,
        id,
        id,
      );
      tx.run(`INSERT INTO user_tags (user_id, tag_id) VALUES (?, 't')`, id);
    }
  });
  return () => {
    guard.stop();
    connection.close();
  };
});

const findings = () => checkRows(connection, keys.mac);

test.each([
  ['an update', `UPDATE users SET email = 'x'`],
  ['an update that triggers of the file follow', `UPDATE users SET name = name || 'x'`],
  ['an update of a key', `UPDATE tags SET id = 'y'`],
  ['an update of nothing', `UPDATE users SET name = name WHERE id = 'nobody'`],
  ['a deletion that cascades', `DELETE FROM users WHERE id = 'a'`],
  ['the deletion of all', 'DELETE FROM user_tags'],
  [
    'a replacement',
    `REPLACE INTO users (id, organization_id, name, root, created_at, updated_at) VALUES ('a', 'o', 'new', 1, 0, 0)`,
  ],
  [
    'an insertion that is not needed',
    `INSERT OR IGNORE INTO users (id, organization_id, name, root, created_at, updated_at) VALUES ('a', 'o', 'new', 1, 0, 0)`,
  ],
  [
    'an insertion that becomes an update',
    `INSERT INTO user_tags (user_id, tag_id) VALUES ('a', 't') ON CONFLICT DO UPDATE SET tag_id = 'u'`,
  ],
  ['a blob, and its end', `UPDATE users SET phone_number = NULL; UPDATE users SET phone_number = '0'`],
])('%s is authenticated with its transaction', async (_what, sql) => {
  await units.write(() => {
    connection.exec(sql);
  });
  expect(findings()).toEqual([]);
});

describe('what is undone', () => {
  test('by a savepoint, a statement that fails half way, or a transaction, leaves sums as they were', async () => {
    await units.write((tx) => {
      const undone = (): void => {
        tx.savepoint(() => {
          tx.run(`DELETE FROM users WHERE id = 'a'`);
          throw new Error('undo');
        });
      };
      expect(undone).toThrow('undo');
      // The second row's name is taken.
      expect(() => tx.run(`UPDATE users SET name = 'same'`)).toThrow('UNIQUE');
      tx.run(`UPDATE users SET email = 'kept' WHERE id = 'a'`);
    });
    expect(findings()).toEqual([]);
    const failed = units.write((tx) => {
      tx.run('PRAGMA defer_foreign_keys = ON');
      tx.run(`INSERT INTO user_tags (user_id, tag_id) VALUES ('nobody', 't')`);
    });
    await expect(failed).rejects.toThrow('FOREIGN KEY');
    expect(findings()).toEqual([]);
    await units.write((tx) => tx.run(`UPDATE users SET email = 'again'`));
    expect(findings()).toEqual([]);
  });

  test('writes no seal: the file is as it was', async () => {
    const seal = (): unknown => connection.get('SELECT sums FROM integrity');
    const before = seal();
    await expect(
      units.write((tx) => {
        tx.run(`UPDATE users SET email = 'x'`);
        throw new Error('undo');
      }),
    ).rejects.toThrow('undo');
    expect(seal()).toEqual(before);
  });
});

test('a locked vault writes no row that is authenticated', async () => {
  keys.unlocked = false;
  await expect(units.write((tx) => tx.run(`UPDATE users SET email = 'x'`))).rejects.toMatchObject({
    code: 'VAULT_LOCKED',
  });
  // Tables that are not authenticated stay writable.
  await units.write((tx) =>
    tx.run(
      `INSERT INTO backups (id, file, made_at, log_rows, log_head, size) VALUES ('b', 'f', 0, 0, '', 0)`,
    ),
  );
  keys.unlocked = true;
  expect(findings()).toEqual([]);
});

test('rows hold for the key that wrote them alone', () => {
  keys.key = 'another key';
  expect(findings()).toContainEqual({
    table: 'integrity',
    row: '1',
    problem: 'it is missing or was changed: which rows of other tables are gone is not known',
  });
  expect(findings().filter(({ table }) => table === 'users')).toHaveLength(2);
});

test('adopted under another key, all rows are as they were', () => {
  keys.key = 'another key';
  guard.adopt((tx) => {
    putSealedRowKey(tx, new Uint8Array(2));
  });
  expect(verifyQuickly(connection, keys.mac)).toEqual([]);
});

test('a column that a later version adds is authenticated once it is not null', () => {
  connection.exec('ALTER TABLE users ADD COLUMN later TEXT');
  expect(findings()).toEqual([]);
  connection.exec(`UPDATE users SET later = 'x' WHERE id = 'a'`);
  expect(findings()).toEqual([{ table: 'users', row: 'a', problem: 'it was changed or added' }]);
});

test('sums stay right over many rows, and their carries', async () => {
  for (let round = 0; round < 3; round++) {
    await units.write((tx) => {
      for (let index = 0; index < 700; index++) {
        tx.run(
          'INSERT INTO user_snapshots (hash, user) VALUES (?, ?)',
          `${String(round)} ${String(index)}`,
          '{}',
        );
      }
      tx.run(`DELETE FROM user_snapshots WHERE hash LIKE '% 1%'`);
    });
    expect(findings()).toEqual([]);
  }
});
