/**
 * The path of the control channel. On Unix it is a socket in a directory that belongs to this user alone: the kernel keeps
 * every other user from connecting to it, and from putting a socket of their own there. On Windows it is a named pipe with a
 * name that cannot be guessed before it exists; libuv lets its creator alone write to it.
 */
import { hash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdtempSync, realpathSync, rmSync, rmdirSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ExplainedError } from '../lib/errors.ts';

/** Bytes of `sun_path` without the zero at its end: macOS has 103, Linux 107. A longer path would be cut in silence. */
const longestPath = 103;

const socketName = 'control.sock';
const ownDirectory = /^keyhearth-[A-Za-z0-9]{6}$/;

/** The path is not this user's alone, so the command sends nothing there. */
export class NotPrivateError extends ExplainedError {
  override readonly name = 'NotPrivateError';
}

const pipes = '\\\\.\\pipe\\';

const isPipe = (address: string): boolean => address.startsWith(pipes);

/** The effective user; undefined on Windows, where access lists say what modes say here. */
const me = (): number | undefined => process.geteuid?.();

/** @returns what keeps a directory or socket from being this user's alone; undefined where nothing does. */
function obstacle(path: string, kind: 'directory' | 'socket'): string | undefined {
  const found: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return `${path} does not exist`;
  if (kind === 'directory' ? !found.isDirectory() : !found.isSocket()) return `${path} is not a ${kind}`;
  const user = me();
  if (user !== undefined && found.uid !== user) {
    return `${path} belongs to user id ${String(found.uid)}, and this command runs as user id ${String(user)}`;
  }
  if ((found.mode & 0o077) === 0) return undefined;
  return `other users may use ${path}: its mode is ${(found.mode & 0o777).toString(8)}`;
}

/**
 * Checks a socket before anything connects to it.
 * @returns false where there is none.
 * @throws NotPrivateError naming what is wrong.
 */
export function checkSocket(address: string): boolean {
  if (isPipe(address)) return true;
  if (!existsSync(dirname(address))) return false;
  const problem = obstacle(dirname(address), 'directory');
  if (problem !== undefined) throw new NotPrivateError(problem);
  if (lstatSync(address, { throwIfNoEntry: false }) === undefined) return false;
  const wrong = obstacle(address, 'socket');
  if (wrong !== undefined) throw new NotPrivateError(wrong);
  return true;
}

export interface SocketPaths {
  /** The vault's, which this process holds. */
  readonly directory: string;
  /** Directories that may hold the socket's directory, if the vault's own path is not suitable. */
  readonly others: readonly string[];
}

/**
 * Proposes addresses for a socket, the best first. Some file systems have neither modes nor sockets, and some paths are too
 * long for one.
 */
export function* proposeSocketPaths({ directory, others }: SocketPaths): Generator<string, void, undefined> {
  if (process.platform === 'win32') {
    yield `${pipes}keyhearth-${randomBytes(32).toString('base64url')}`;
    return;
  }
  const own = realpathSync(directory);
  const beside = join(own, socketName);
  if (fits(beside) && obstacle(own, 'directory') === undefined) {
    // The vault is held by this process: what has the name is of one that was killed.
    rmSync(beside, { force: true });
    yield beside;
  }
  for (const other of others) {
    const made = makeDirectory(other);
    if (made !== undefined) yield join(made, socketName);
  }
}

/**
 * Proposes the address of a socket whose name other programs keep in their settings.
 * @returns undefined where the vault's directory cannot hold it.
 */
export function namedSocketPath(directory: string, name: string): string | undefined {
  if (process.platform === 'win32') {
    // The name differs by vault. Another user may have taken it: then this process cannot listen.
    return `${pipes}keyhearth-${hash('sha256', directory.toLowerCase()).slice(0, 16)}-${name}`;
  }
  const own = realpathSync(directory);
  const path = join(own, `${name}.sock`);
  if (!fits(path) || obstacle(own, 'directory') !== undefined) return undefined;
  rmSync(path, { force: true });
  return path;
}

const fits = (path: string): boolean => Buffer.byteLength(path) <= longestPath;

/** Makes a directory that no other process has: one that is there already is never taken. */
function makeDirectory(parent: string): string | undefined {
  let made: string;
  try {
    made = mkdtempSync(join(realpathSync(parent), 'keyhearth-'));
  } catch {
    return undefined;
  }
  if (fits(join(made, socketName)) && obstacle(made, 'directory') === undefined) return made;
  rmdirSync(made);
  return undefined;
}

/** Removes the directory that this process, or one that was killed, created for a socket. */
export function removeMadeDirectory(address: string): void {
  const directory = dirname(address);
  if (isPipe(address) || basename(address) !== socketName || !ownDirectory.test(basename(directory))) return;
  if (obstacle(directory, 'directory') !== undefined) return;
  try {
    rmSync(address, { force: true });
    rmdirSync(directory);
  } catch {
    // Something else is in it: that is not for this process to remove.
  }
}
