/**
 * Checks that the open files of a database are those at their paths. A file that was deleted, moved away or
 * replaced still accepts writes without an error, and they are lost with the process.
 */
import { statSync, type BigIntStats } from 'node:fs';
import { writeAheadLogOf } from './write-ahead-log.ts';

type FileNumber = Pick<BigIntStats, 'dev' | 'ino'>;

export class FileIdentity {
  readonly #database: string;
  readonly #log: string;
  readonly #databaseNumber: FileNumber | undefined;
  /** The log is created with the first transaction, and stays for as long as the connection does. */
  #logNumber: FileNumber | undefined;

  /** @param database The path of a database that was opened just now. */
  constructor(database: string) {
    this.#database = database;
    this.#log = writeAheadLogOf(database);
    this.#databaseNumber = numberOf(database);
  }

  misplaced(): string | undefined {
    const log = numberOf(this.#log);
    this.#logNumber ??= log;
    return (
      problemOf(this.#database, this.#databaseNumber, numberOf(this.#database)) ??
      problemOf(this.#log, this.#logNumber, log)
    );
  }
}

const numberOf = (file: string): FileNumber | undefined =>
  statSync(file, { bigint: true, throwIfNoEntry: false });

function problemOf(
  file: string,
  open: FileNumber | undefined,
  found: FileNumber | undefined,
): string | undefined {
  if (open === undefined || (open.dev === found?.dev && open.ino === found.ino)) return undefined;
  return found === undefined
    ? `${file} was deleted or moved away while Keyhearth used it: put it back, or stop Keyhearth and restore a backup`
    : `another file was put in the place of ${file} while Keyhearth used it: put the first one back, or stop Keyhearth and start it again to use the other`;
}
