/** An index that says less, or more, than the table that it is of: a program that writes the file can make one. */
import type Sqlite from 'better-sqlite3';

/**
 * Fills an index as another statement would, and leaves its own statement in the schema.
 * @param statement `CREATE INDEX` of an index by the same name.
 */
export function misleadIndex(sqlite: Sqlite.Database, index: string, statement: string): void {
  const own = sqlite.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(index);
  setStatement(sqlite, index, statement);
  sqlite.exec(`REINDEX ${index}`);
  setStatement(sqlite, index, String(own));
}

function setStatement(sqlite: Sqlite.Database, index: string, statement: string): void {
  sqlite.unsafeMode(true);
  sqlite.pragma('writable_schema = ON');
  sqlite.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(statement, index);
  sqlite.pragma('writable_schema = RESET');
  sqlite.unsafeMode(false);
}
