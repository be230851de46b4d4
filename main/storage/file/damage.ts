/** Files that SQLite cannot read. */
import Sqlite from 'better-sqlite3';
import { KeyhearthError } from '../../lib/errors.ts';

type SqliteError = InstanceType<typeof Sqlite.SqliteError>;

/** SQLite met a page of the file that it cannot make sense of. */
export class DamagedFileError extends KeyhearthError {
  /** For a person to read, as part of a sentence. */
  readonly problem: string;

  /** @param file The file's path; undefined for a database in memory. */
  constructor(file: string | undefined, cause: SqliteError) {
    const problem = cause.code.startsWith('SQLITE_NOTADB')
      ? 'it is not an SQLite database'
      : 'SQLite cannot read a part of it';
    super(
      'VAULT_TAMPERED',
      `The vault's file${file === undefined ? '' : ` ${file}`} is damaged, and is not used: ${problem}. Restore a backup; \`keyhearth doctor\` names what is damaged.`,
      { cause },
    );
    this.problem = problem;
  }

  /** As what is found by a look at the file. */
  get finding(): {
    readonly table: string;
    readonly row: null;
    readonly problem: string;
    readonly damaged: true;
  } {
    return { table: 'the file', row: null, problem: this.problem, damaged: true };
  }
}

/** A page that does not hold, no database at all, or a file that ends too early. */
const damageCodes = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_SHORT_READ'];

export const isDamage = (error: unknown): error is SqliteError =>
  error instanceof Sqlite.SqliteError && damageCodes.some((code) => error.code.startsWith(code));

/** Reads what is worth showing, and shows something else where the file does not give it. */
export function readable<T, Otherwise>(read: () => T, otherwise: Otherwise): T | Otherwise {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedFileError) return otherwise;
    throw error;
  }
}
