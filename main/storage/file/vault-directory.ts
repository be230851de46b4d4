/** The vault's directory on disk: modes, the lock that keeps it to one process, and the note of who holds it. */
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import { replaceFile } from '../../files/new-files.ts';
import { takeLock, type VaultLock } from './vault-lock.ts';
import { ExplainedError } from '../../lib/errors.ts';

export { createPrivateFile, isLocked } from './vault-lock.ts';

/** The content of `endpoint.json`: the process that holds the vault. */
export interface Endpoint {
  readonly pid: number;
  /** Null until the service listens. */
  readonly port: number | null;
  /** The address of the control channel; null where there is none. */
  readonly socket: string | null;
  /** A secret of this run: over the control channel, service and command prove to each other that they know it. */
  readonly nonce: string;
}

/** The service's addresses, as `endpoint.json` has them. */
export type EndpointDetails = Pick<Endpoint, 'port' | 'socket'>;

/** Another process holds the vault. */
export class VaultInUseError extends ExplainedError {
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
  /** The note of an earlier process that could not remove it. */
  readonly left: Endpoint | undefined;
  readonly #lock: VaultLock;
  #endpoint: Endpoint;

  private constructor(path: string, lock: VaultLock) {
    this.path = path;
    this.#lock = lock;
    this.left = readEndpoint(path);
    const nonce = randomBytes(32).toString('base64url');
    this.#endpoint = { pid: process.pid, port: null, socket: null, nonce };
    this.#writeEndpoint();
  }

  /**
   * Makes the directory where it is missing (0700) and takes its lock.
   * @throws VaultInUseError when another process holds it.
   */
  static acquire(path: string): VaultDirectory {
    makeDirectory(path);
    chmodSync(path, 0o700);
    const lock = takeLock(path);
    if (lock === undefined) throw new VaultInUseError(path, readEndpoint(path));
    return new VaultDirectory(path, lock);
  }

  get database(): string {
    return join(this.path, 'vault.db');
  }

  get nonce(): string {
    return this.#endpoint.nonce;
  }

  /** Makes the service known to the same user's other processes. */
  publish(details: EndpointDetails): void {
    this.#endpoint = { ...this.#endpoint, ...details };
    this.#writeEndpoint();
  }

  release(): void {
    rmSync(endpointFile(this.path), { force: true });
    this.#lock.release();
  }

  #writeEndpoint(): void {
    replaceFile(endpointFile(this.path), `${JSON.stringify(this.#endpoint)}\n`);
  }
}

/**
 * @returns what the holder wrote; undefined where none did, where what is there is not readable, or where another user wrote it.
 */
export function readEndpoint(directory: string): Endpoint | undefined {
  try {
    const { pid, port, socket, nonce } = JSON.parse(
      readOwnFile(endpointFile(directory)),
    ) as Partial<Endpoint>;
    if (typeof pid !== 'number' || typeof nonce !== 'string') return undefined;
    return {
      pid,
      port: typeof port === 'number' ? port : null,
      socket: typeof socket === 'string' ? socket : null,
      nonce,
    };
  } catch {
    return undefined;
  }
}

/** @throws Error for a path that is not a regular file of this user. */
function readOwnFile(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    const user = process.geteuid?.();
    if (!found.isFile() || (user !== undefined && found.uid !== user))
      throw new ExplainedError('it is not this user’s');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const endpointFile = (directory: string): string => join(directory, 'endpoint.json');
