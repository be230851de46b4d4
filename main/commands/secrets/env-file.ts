/**
 * Reads a file of variables, as `.env` files are: `NAME=value` on each line, quotes around a value where it needs them,
 * comments after `#`. Nothing is put in for `$NAME`. What cannot be read is an error, and not left out.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { reasonOf } from '../../lib/text/reasons.ts';
import { readFileBytes, textOf } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

export interface Variable {
  readonly name: string;
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

const mostBytes = 1_000_000;

/** @throws CommandError where it cannot be read, or others could have written it. */
export function readEnvFile(file: string): readonly Variable[] {
  const option = `--env ${file}`;
  try {
    const descriptor = openSync(file, 'r');
    try {
      checkOwn(option, fstatSync(descriptor));
      return parseEnv(option, textOf(readFileBytes(descriptor, option, mostBytes), option));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(exitCodes.usage, `${option} cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * The file names what the command runs with, `PATH` and `LD_PRELOAD` too: another user who may write it would have the
 * secrets. It is looked at once it is open, wherever links lead to.
 */
function checkOwn(option: string, { uid, gid, mode, size }: ReturnType<typeof fstatSync>): void {
  const refuse = (problem: string): never => {
    throw new CommandError(exitCodes.usage, `${option} is not used: ${problem}`);
  };
  if (size > mostBytes) refuse(`expected at most ${String(mostBytes)} bytes, got ${String(size)}`);
  if (process.getuid === undefined) return;
  if (uid !== 0 && uid !== process.getuid()) refuse('it belongs to another user');
  if ((Number(mode) & 0o002) !== 0) refuse('every user of this computer may write it: expected chmod o-w');
  if ((Number(mode) & 0o020) !== 0 && !isOwnGroup(Number(gid))) {
    refuse('other users of its group may write it: expected chmod g-w');
  }
}

/** Many systems give each user a group of their own, and let it write new files. */
function isOwnGroup(gid: number): boolean {
  try {
    const [group, passwd] = ['/etc/group', '/etc/passwd'].map((file) => readFileSync(file, 'utf8'));
    return isPrivateGroup(gid, { username: userInfo().username, group, passwd });
  } catch {
    // The system lists no users, or not this one.
    return false;
  }
}

interface Accounts {
  readonly username: string;
  /** The text of `/etc/group`. */
  readonly group?: string | undefined;
  /** The text of `/etc/passwd`. */
  readonly passwd?: string | undefined;
}

/** True for a group of the user's name that no other user is in. */
export function isPrivateGroup(gid: number, { username, group = '', passwd = '' }: Accounts): boolean {
  const linesOf = (text: string): string[][] => text.split('\n').map((line) => line.split(':'));
  const found = linesOf(group).find(([, , id]) => id === String(gid));
  if (found === undefined) return false;
  const [name, , , members = ''] = found;
  const users = [
    ...members.split(',').filter((member) => member !== ''),
    ...linesOf(passwd).flatMap(([user = '', , , id]) => (id === String(gid) ? [user] : [])),
  ];
  return name === username && users.every((user) => user === username);
}

const blank = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const start = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][A-Za-z0-9_]*)[^\S\n]*=[^\S\n]*/y;
const quotedText = /'([^']*)'|"((?:[^"\\]|\\[^])*)"/y;
const openQuote = /['"]/y;
const bareText = /[^\n]*/y;
const rest = /[^\S\n]*(?:(?<=\s)#[^\n]*)?(?:\n|$)/y;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function unescaped(text: string): string {
  return text.replace(/\\([^])/g, (_, character: string) => escapes[character] ?? character);
}

/** @param option For errors. @throws CommandError naming the line. */
export function parseEnv(option: string, text: string): readonly Variable[] {
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const variables: Variable[] = [];
  let at = 0;
  const lineOf = (place: number): number => source.slice(0, place).split('\n').length;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(source);
    if (found !== null) at = form.lastIndex;
    return found;
  };
  const refuse = (problem: string): never => {
    throw new CommandError(exitCodes.usage, `invalid ${option}, line ${String(lineOf(at))}: ${problem}`);
  };
  while (at < source.length) {
    if (take(blank) !== null) continue;
    const line = lineOf(at);
    const name = take(start)?.[1] ?? refuse('expected NAME=value');
    const inQuotes = take(quotedText);
    if (inQuotes === null && take(openQuote) !== null) refuse(`the value of ${name} has no closing quote`);
    const value =
      inQuotes === null ? bare(take(bareText)?.[0] ?? '') : (inQuotes[1] ?? unescaped(inQuotes[2] ?? ''));
    if (inQuotes === null && value.includes('#')) {
      refuse(`the value of ${name} has a # that may or may not begin a comment: quote the value`);
    }
    if (take(rest) === null) refuse(`expected nothing but a comment after the quoted value of ${name}`);
    const earlier = variables.find((variable) => variable.name === name);
    if (earlier !== undefined) {
      throw new CommandError(
        exitCodes.usage,
        `invalid ${option}, line ${String(line)}: ${name} is on line ${String(earlier.line)} already`,
      );
    }
    if (value.includes('\0')) refuse(`the value of ${name} has a NUL`);
    variables.push({ name, value, line });
  }
  return variables;
}

/** Without the comment behind it. */
const bare = (text: string): string => text.replace(/(?:^|\s)#.*$/, '').trim();
