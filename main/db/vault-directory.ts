/**
 * The vault's directory on disk: modes, the lock that keeps it to one process, and the note of who holds it.
 *
 * The lock is an SQLite transaction held on a file of its own: the operating system drops it with the process, however
 * that ends, so there is no stale lock to judge.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/** What `endpoint.json` says of the process that holds the vault. */
export interface Endpoint {
  readonly pid: number;
  /** Null until the service listens. */
  readonly port: number | null;
  /** A secret of this run, for the same user's `latchkey` command to prove itself with. */
  readonly nonce: string;
}

/** Another process holds the vault. */
export class VaultInUseError extends Error {
  override readonly name = 'VaultInUseError';
  readonly holder: Endpoint | undefined;

  constructor(directory: string, holder: Endpoint | undefined) {
    const who =
      holder === undefined
        ? 'another process'
        : `process ${String(holder.pid)}${holder.port === null ? '' : `, which serves port ${String(holder.port)}`}`;
    super(`The vault in ${directory} is in use by ${who}. Stop it first, or use it as it is.`);
    this.holder = holder;
  }
}

export class VaultDirectory {
  readonly path: string;
  readonly #lock: Sqlite.Database;
  #endpoint: Endpoint;

  private constructor(path: string, lock: Sqlite.Database) {
    this.path = path;
    this.#lock = lock;
    this.#endpoint = { pid: process.pid, port: null, nonce: randomBytes(32).toString('base64url') };
    this.#writeEndpoint();
  }

  /**
   * Makes the directory where it is missing (0700) and takes its lock.
   * @throws VaultInUseError when another process holds it.
   */
  static acquire(path: string): VaultDirectory {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    // SQLite gives a journal the mode of its file.
    const lockFile = join(path, 'lock');
    createPrivateFile(lockFile);
    chmodSync(lockFile, 0o600);
    const lock = new Sqlite(lockFile, { timeout: 0 });
    try {
      lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
        throw new VaultInUseError(path, readEndpoint(path));
      }
      throw error;
    }
    return new VaultDirectory(path, lock);
  }

  get database(): string {
    return join(this.path, 'vault.db');
  }

  get nonce(): string {
    return this.#endpoint.nonce;
  }

  /** Makes the port known to the same user's other processes. */
  announce(port: number): void {
    this.#endpoint = { ...this.#endpoint, port };
    this.#writeEndpoint();
  }

  release(): void {
    rmSync(endpointFile(this.path), { force: true });
    this.#lock.close();
  }

  #writeEndpoint(): void {
    const file = endpointFile(this.path);
    const draft = `${file}.${String(process.pid)}`;
    writeFileSync(draft, `${JSON.stringify(this.#endpoint)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  }
}

/** @returns what the holder wrote, or undefined where none did or what is there is not readable. */
export function readEndpoint(directory: string): Endpoint | undefined {
  const file = endpointFile(directory);
  if (!existsSync(file)) return undefined;
  try {
    const { pid, port, nonce } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Endpoint>;
    if (typeof pid !== 'number' || typeof nonce !== 'string') return undefined;
    return { pid, port: typeof port === 'number' ? port : null, nonce };
  } catch {
    return undefined;
  }
}

/** Makes a file, where it is missing, readable by its owner alone before anything is in it. */
export function createPrivateFile(file: string): void {
  writeFileSync(file, '', { mode: 0o600, flag: 'a' });
}

const endpointFile = (directory: string): string => join(directory, 'endpoint.json');
