/**
 * Checks that a file's schema is the one that the migrations create. A foreign trigger or view would run with
 * Keyhearth's own statements. Without an index, its uniqueness is lost.
 */
import { Connection, type Reader } from './connection.ts';
import { migrate, schemaVersion } from './migrations.ts';

/** Something that was changed outside Keyhearth. */
export interface RowFinding {
  readonly table: string;
  /** The row's primary key; null where the finding is about the table, or about rows that are gone. */
  readonly row: string | null;
  /** For a person to read. */
  readonly problem: string;
  /** SQLite cannot read it: no owner can accept that. */
  readonly damaged?: true;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

/** Additions by other programs that copy the file; no statement of Keyhearth's reads or writes them. */
const tolerated: readonly SchemaRow[] = [
  // Litestream notes in them where its copy stands.
  table('_litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'),
  table('_litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'),
];

/** @returns what differs from the schema of the file's own version, by name; nothing for a version not known here. */
export function checkSchema(tx: Reader): readonly RowFinding[] {
  const version = tx.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (version > schemaVersion) return [];
  const expected = new Map(schemaOf(version).map((row) => [row.name, row]));
  const findings: RowFinding[] = [];
  for (const row of readSchema(tx)) {
    const other = expected.get(row.name);
    expected.delete(row.name);
    if (other === undefined) {
      if (tolerated.some((known) => isSame(known, row))) continue;
      findings.push({
        table: row.tbl_name,
        row: null,
        problem: `the ${row.type} ${row.name} was added (DROP ${row.type.toUpperCase()} "${row.name}" removes it)`,
      });
    } else if (!isSame(other, row)) {
      findings.push({ table: row.tbl_name, row: null, problem: `the ${row.type} ${row.name} was changed` });
    }
  }
  for (const { type, name, tbl_name } of expected.values()) {
    findings.push({ table: tbl_name, row: null, problem: `the ${type} ${name} is missing` });
  }
  return findings;
}

/** The same for a file in use. It was brought up to this Keyhearth's version, so that another version is a change. */
export function checkSchemaInUse(tx: Reader): readonly RowFinding[] {
  const version = tx.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (version === schemaVersion) return checkSchema(tx);
  const problem = `its schema version was changed from ${String(schemaVersion)} to ${String(version)}`;
  return [{ table: 'the file', row: null, problem }];
}

const made = new Map<number, readonly SchemaRow[]>();

/** The schema of a version, by making it. */
function schemaOf(version: number): readonly SchemaRow[] {
  const known = made.get(version);
  if (known !== undefined) return known;
  const connection = Connection.open(':memory:');
  try {
    if (version > 0) migrate(connection, version);
    const schema = readSchema(connection);
    made.set(version, schema);
    return schema;
  } finally {
    connection.close();
  }
}

const readSchema = (tx: Reader): SchemaRow[] =>
  tx.all<SchemaRow>('SELECT type, name, tbl_name, sql FROM main.sqlite_schema ORDER BY name');

/** Compares statements without their line breaks. */
const isSame = (one: SchemaRow, other: SchemaRow): boolean =>
  one.type === other.type &&
  one.tbl_name === other.tbl_name &&
  one.sql?.replace(/\s+/g, ' ') === other.sql?.replace(/\s+/g, ' ');

function table(name: string, sql: string): SchemaRow {
  return { type: 'table', name, tbl_name: name, sql };
}
