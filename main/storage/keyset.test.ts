import { afterEach, beforeEach, expect, test } from 'vitest';
import { Connection } from './connection.ts';
import { pagesByKey, rowsByKey } from './keyset.ts';

let connection: Connection;
beforeEach(() => {
  connection = Connection.open(':memory:');
  connection.exec('CREATE TABLE pairs (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID');
  connection.exec('CREATE TABLE items (id TEXT, is_kept INTEGER)');
});
afterEach(() => {
  connection.close();
});

const pairs = { columns: 'a, b', from: 'pairs', key: ['a', 'b'] };
const items = { columns: 'rowid AS rowid, id', from: 'items', key: ['rowid'] };

/** In an order that is none of the key's. */
function insertPairs(count: number): void {
  for (let each = count - 1; each >= 0; each--) {
    connection.run('INSERT INTO pairs VALUES (?, ?)', `g${String(each % 3)}`, each);
  }
}

test.each([0, 1, 2, 3, 4, 7, 9])('%i rows come once each, in the order of the key', (count) => {
  insertPairs(count);
  const expected = connection.all('SELECT a, b FROM pairs ORDER BY a, b');
  expect(expected).toHaveLength(count);
  expect([...rowsByKey(connection, { ...pairs, pageSize: 3 })]).toEqual(expected);
});

test('no page has more rows than it may, and none is empty', () => {
  insertPairs(7);
  const sizes = (pageSize: number): number[] =>
    [...pagesByKey(connection, { ...pairs, pageSize })].map(({ length }) => length);
  expect(sizes(3)).toEqual([3, 3, 1]);
  expect(sizes(7)).toEqual([7]);
  connection.run('DELETE FROM pairs');
  expect(sizes(3)).toEqual([]);
});

test('a condition holds on every page', () => {
  for (let each = 1; each <= 8; each++)
    connection.run('INSERT INTO items VALUES (?, ?)', String(each), each % 2);
  const odd = { ...items, where: 'is_kept = ?', values: [1], pageSize: 2 };
  expect([...rowsByKey<{ id: string }>(connection, odd)].map(({ id }) => id)).toEqual(['1', '3', '5', '7']);
});

test('rows may be written while they are read', () => {
  for (const id of ['a', 'b', 'c']) connection.run('INSERT INTO items VALUES (?, 0)', id);
  for (const { rowid } of rowsByKey<{ rowid: number }>(connection, { ...items, pageSize: 1 })) {
    connection.run('UPDATE items SET is_kept = 1 WHERE rowid = ?', rowid);
  }
  expect(connection.get('SELECT sum(is_kept) AS sum FROM items')).toEqual({ sum: 3 });
});
