import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Connection } from './connection.ts';
import { migrate, NewerVaultError, schemaVersion } from './migrations.ts';

const migrated = (): Connection => {
  const connection = Connection.open(':memory:');
  migrate(connection);
  return connection;
};

const schemaOf = (connection: Connection): unknown[] =>
  connection.all('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name');

describe('migrate', () => {
  test('brings a new file to the newest version, and does nothing the second time', () => {
    const connection = migrated();
    expect(connection.pragma('user_version')).toBe(schemaVersion);
    expect(schemaVersion).toBeGreaterThan(0);
    const schema = schemaOf(connection);
    migrate(connection);
    expect(schemaOf(connection)).toEqual(schema);
  });

  test('makes STRICT tables alone', () => {
    const tables = migrated().all<{ name: string; strict: number }>(
      "SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  test('refuses a file of a newer version by name, and leaves it as it is', () => {
    const connection = Connection.open(':memory:');
    connection.pragma(`user_version = ${String(schemaVersion + 1)}`);
    expect(() => {
      migrate(connection);
    }).toThrow(NewerVaultError);
    expect(() => {
      migrate(connection);
    }).toThrow(
      `The vault file has schema version ${String(schemaVersion + 1)}; this Keyhearth knows versions up to ${String(schemaVersion)}. ` +
        'Open it with the newer Keyhearth that last used it.',
    );
    expect(schemaOf(connection)).toEqual([]);
  });

  test('leaves the file as it was where a step fails', () => {
    const connection = Connection.open(':memory:');
    migrate(connection, 13);
    // A step after the next one creates a table of this name.
    connection.exec('CREATE TABLE session_profiles (x)');
    const schema = schemaOf(connection);
    expect(() => {
      migrate(connection);
    }).toThrow('already exists');
    expect(schemaOf(connection)).toEqual(schema);
    expect(connection.pragma('user_version')).toBe(13);
  });

  test('keeps what is in a file of the first version', () => {
    const connection = migrated();
    // The schema of the first version: a vault from that version must still open.
    connection.exec(
      `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'Home', 1, 0, 0)`,
    );
    migrate(connection);
    expect(connection.get('SELECT name FROM organizations')).toEqual({ name: 'Home' });
  });
});

describe('the activity log', () => {
  const withRow = (): Connection => {
    const connection = migrated();
    connection.exec(
      `INSERT INTO activities VALUES (1, 'id', 1, 'o', 't', 's', 'f', 0, '{}', NULL, NULL, '[]', 0, 0, x'00', x'01')`,
    );
    return connection;
  };

  test.each([
    "UPDATE activities SET result = '{}'",
    'DELETE FROM activities',
    "REPLACE INTO activities VALUES (1, 'id', 1, 'o', 't', 's', 'f', 0, 'changed', NULL, NULL, '[]', 0, 0, x'00', x'01')",
  ])('is append-only: %s', (sql) => {
    const connection = withRow();
    expect(() => {
      connection.exec(sql);
    }).toThrow(/the activity log is append-only|UNIQUE constraint failed/);
    expect(connection.get('SELECT intent, result FROM activities')).toEqual({ intent: '{}', result: null });
  });

  test.each([
    [
      "an activity's revision",
      `(2, 'id', 1, 'o', 't', 's', 'g', 0, '{}', NULL, NULL, '[]', 0, 0, x'00', x'01')`,
    ],
    [
      'a fingerprint in an organization',
      `(2, 'other', 1, 'o', 't', 's', 'f', 0, '{}', NULL, NULL, '[]', 0, 0, x'00', x'01')`,
    ],
  ])('has %s once', (_what, values) => {
    const connection = withRow();
    expect(() => {
      connection.exec(`INSERT INTO activities VALUES ${values}`);
    }).toThrow(/UNIQUE constraint failed/);
  });
});

describe('a connection', () => {
  test('is durable at COMMIT, and checks foreign keys', () => {
    const directory = mkdtempSync(join(tmpdir(), 'keyhearth-connection-'));
    const connection = Connection.open(join(directory, 'file.db'));
    try {
      expect(connection.pragma('journal_mode')).toBe('wal');
      // 2 is FULL.
      expect(connection.pragma('synchronous')).toBe(2);
      expect(connection.pragma('foreign_keys')).toBe(1);
      expect(connection.pragma('trusted_schema')).toBe(0);
    } finally {
      connection.close();
      rmSync(directory, { recursive: true });
    }
  });

  test('for reading cannot write, and makes no file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'keyhearth-connection-'));
    const file = join(directory, 'file.db');
    try {
      expect(() => Connection.openReadOnly(file)).toThrow();
      const writer = Connection.open(file);
      migrate(writer);
      const reader = Connection.openReadOnly(file);
      expect(() => reader.run('DELETE FROM users')).toThrow(/readonly/);
      reader.close();
      writer.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('of a vault in memory goes back to what it was', () => {
    const connection = migrated();
    const bytes = connection.serialize();
    connection.exec(
      `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'Home', 1, 0, 0)`,
    );
    connection.restore(bytes);
    expect(connection.all('SELECT * FROM organizations')).toEqual([]);
    expect(connection.pragma('foreign_keys')).toBe(1);
    expect(connection.pragma('user_version')).toBe(schemaVersion);
  });
});
