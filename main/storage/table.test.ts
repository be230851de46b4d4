import { expect, expectTypeOf, test } from 'vitest';
import { Connection } from './connection.ts';
import { blob, number, table, text, type RowOf } from './table.ts';

const keys = table('keys', {
  id: text,
  publicKey: blob,
  kind: text.of<'one' | 'other'>().orNull,
  expiresAt: number.orNull,
});
type KeyRow = RowOf<typeof keys>;

test('a row that is inserted is read back, whatever the order of the table’s columns', () => {
  const connection = Connection.open(':memory:');
  try {
    connection.exec(
      'CREATE TABLE keys (expires_at INTEGER, kind TEXT, public_key BLOB, id TEXT PRIMARY KEY, mac BLOB)',
    );
    const row: KeyRow = { id: 'a', publicKey: Buffer.from([1]), kind: 'one', expiresAt: null };
    // Additional members of a caller's object are not written.
    keys.insert(connection, { ...row, mac: 'x' } as KeyRow);
    expect(connection.all(`SELECT ${keys.columns} FROM keys`)).toEqual([row]);
    expect(connection.get('SELECT mac FROM keys')).toEqual({ mac: null });
  } finally {
    connection.close();
  }
});

test('a row has the types of its columns', () => {
  expectTypeOf<KeyRow>().toEqualTypeOf<{
    readonly id: string;
    readonly publicKey: Uint8Array;
    readonly kind: 'one' | 'other' | null;
    readonly expiresAt: number | null;
  }>();
  expect(keys.columns).toBe('id, public_key AS publicKey, kind, expires_at AS expiresAt');
});
