/**
 * The reason of a failure, for a person. An error's message is shown if this project wrote it. An error of the system, SQLite,
 * the language or a library is shown by its code: its words may quote a secret, and mean nothing to the reader.
 */
import { ExplainedError } from '../errors.ts';
import { stackOf } from '../log.ts';

/** By the codes of the system, of its network and of TLS. */
const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission is denied',
  EPERM: 'the system does not permit it',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of its path is a file instead of a directory',
  EEXIST: 'a file of that name exists already',
  ENOTEMPTY: 'the directory is not empty',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'it is a link to itself',
  EXDEV: 'it is on another disk',
  EBADF: 'it is not open',
  EINVAL: 'the system refuses its name or its kind',
  EMFILE: 'too many files are open',
  ENOSPC: 'the disk is full',
  EFBIG: 'the file would be larger than the system or the disk permits',
  EROFS: 'the disk can only be read',
  EIO: 'the disk failed',
  ENXIO: 'the disk failed',
  ENODEV: 'the disk failed',
  ENOMEM: 'there is not enough memory',
  EADDRINUSE: 'another program uses the port',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ECONNABORTED: 'the connection was closed',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it did not answer in time',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name is not known',
  EHOSTUNREACH: 'the network has no route to it',
  ENETUNREACH: 'the network has no route to it',
  ERR_INVALID_ARG_VALUE: 'a file cannot have its name',
};

const codePatterns: readonly (readonly [RegExp, string])[] = [
  // Node has no names for EDQUOT and ESTALE: the numbers are those of Linux and macOS.
  [/^Unknown system error -(122|69)$/, 'the quota on the disk is used up'],
  [/^Unknown system error -(116|70)$/, 'the disk failed'],
  [/^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_)/, 'its TLS certificate is not valid'],
  [/^(ERR_SSL|EPROTO)/, 'it does not speak TLS'],
  [/^HPE_/, 'it does not speak HTTP'],
  [/^Z_/, 'its compression is damaged'],
  [/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/, 'it is damaged, or not a database'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another program uses it'],
  [/^SQLITE_FULL/, 'the disk is full'],
  [/^SQLITE_(READONLY|PERM)/, 'it can only be read'],
  [/^SQLITE_IOERR/, 'the disk failed'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened'],
  [/^SQLITE_/, 'the database refused it'],
];

/** By the calls of the system, where the code alone would name something else. */
const callReasons: Readonly<Record<string, string>> = {
  uv_cwd:
    'the working directory was deleted, and the path is from there: change to another, or give the whole path',
};

/** @returns why, as part of a sentence; undefined where the code of an error says nothing. */
export function reasonOfCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return undefined;
  const call = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  if (typeof call === 'string' && Object.hasOwn(callReasons, call)) return callReasons[call];
  return systemReasons[code] ?? codePatterns.find(([codes]) => codes.test(code))?.[1];
}

/** @returns the reason, as part of a sentence. For an unforeseen fault, its place in the code and none of its words. */
export function reasonOf(error: unknown): string {
  if (error instanceof ExplainedError) return error.message;
  return reasonOfCode(error) ?? `something went wrong inside Keyhearth (${whereabouts(error)})`;
}

/** Names the file that the system refused, where it refused one, and why. */
export function problemOf(error: unknown): string {
  const path =
    error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  const reason = reasonOfCode(error);
  return path === undefined || reason === undefined ? reasonOf(error) : `${path} cannot be used: ${reason}`;
}

/** The kind of an error, and the file and the line that threw it. */
function whereabouts(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown fault';
  const name = /^[A-Za-z]{1,40}$/.test(error.name) ? error.name : 'Error';
  const [, place] =
    /^\s+at .*?((?:main|preload|dist|node_modules)\/[^\s()]{1,160}:\d+)/m.exec(stackOf(error)) ?? [];
  return place === undefined ? name : `${name} at ${place}`;
}
