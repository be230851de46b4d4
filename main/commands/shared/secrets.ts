/** Reads a password from a file, a file descriptor, a systemd credential or the keyboard; never from argv. */
import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProveWith } from '../../../preload/contract.ts';
import { copyOfBytes, countCharacters } from '../../crypto/secret-text.ts';
import { notUtf8, readFileBytes, readTextFile } from './file-text.ts';
import { CommandError, exitCodes, isWrongSecret, note } from './output.ts';
import { askForHidden } from './prompts.ts';
import { defined } from '../../lib/defined.ts';

export interface PasswordOptions {
  readonly passwordFile?: string;
  readonly passwordFd?: string;
}

const credentialName = 'keyhearth-password';

/** As `readPasswordBytes`, for a command that ends with what it does. */
export function readPassword(
  options: PasswordOptions,
  credentialsDirectory: string | undefined,
): string | undefined {
  const bytes = readPasswordBytes(options, credentialsDirectory);
  return bytes && Buffer.from(bytes.buffer).toString('utf8');
}

/**
 * @param credentialsDirectory Where systemd puts a service's credentials, if it does.
 * @returns UTF-8, which the caller erases after use; undefined where none of the sources was named.
 */
export function readPasswordBytes(
  options: PasswordOptions,
  credentialsDirectory: string | undefined,
): Uint8Array<ArrayBuffer> | undefined {
  if (options.passwordFile !== undefined)
    return firstLine(options.passwordFile, `--password-file ${options.passwordFile}`);
  if (options.passwordFd !== undefined) {
    if (!/^[0-9]+$/.test(options.passwordFd)) {
      throw new CommandError(
        exitCodes.usage,
        `invalid --password-fd ${JSON.stringify(options.passwordFd)}: expected a number`,
      );
    }
    return firstLine(Number(options.passwordFd), `--password-fd ${options.passwordFd}`);
  }
  const credential = credentialsDirectory && join(credentialsDirectory, credentialName);
  if (credential === undefined || !existsSync(credential)) return undefined;
  return firstLine(credential, `the systemd credential ${credentialName}`);
}

/** @param option The option that names it. @returns what a file says, without the white space around it. */
export function readSecretFile(option: string, file: string): string {
  const text = readTextFile(file, `${option} ${file}`).trim();
  if (text === '') throw new CommandError(exitCodes.usage, `${option} ${file} is empty`);
  return text;
}

/** Each file may hold a share alone, or a whole sheet with one on it. */
export async function readShares(files: readonly string[]): Promise<string[]> {
  const { findShare } = await import('../../keys/keyslots/shares.ts');
  return files.map((file) => findShare(readSecretFile('--share-file', file)));
}

/** True if there is a terminal for a prompt. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

export const askForPassword = (message: string): Promise<string> => ask(message);

export const askForPasswordOfVault = async (): Promise<ProveWith & { readonly with: 'password' }> => ({
  with: 'password',
  password: await ask('Password of the vault'),
});

function ask(message: string, problem?: (typed: string) => string | undefined): Promise<string> {
  const validate = problem && ((typed: string | undefined) => problem(typed ?? ''));
  return askForHidden({ message, clearOnError: true, ...defined({ validate }) }, 'nothing was changed');
}

const shortestPassword = 8;
const longestPassword = 1024;

/** @returns what is wrong with a new password; undefined where nothing is. */
export function problemOfPassword(password: string): string | undefined {
  const count = countCharacters(new TextEncoder().encode(password));
  if (count >= shortestPassword && count <= longestPassword) return undefined;
  return `expected ${String(shortestPassword)} to ${String(longestPassword)} characters, got ${String(count)}`;
}

/** Asks for a new password twice, until both are the same and it may be one. */
export async function askForNewPassword(): Promise<string> {
  for (;;) {
    const typed = await ask('New password for the vault', problemOfPassword);
    if (typed === (await ask('The same password again'))) return typed;
    note('The two passwords differ. Type it twice once more; Ctrl-C ends without a change.');
  }
}

/**
 * Uses a secret that was given, or one that is asked for: again and again where it opens nothing.
 * @param given Undefined to ask.
 */
export async function tryUntilRight<Secret, Result>(
  given: Secret | undefined,
  askForIt: () => Promise<Secret>,
  use: (secret: Secret) => Promise<Result>,
): Promise<Result> {
  if (given !== undefined) return use(given);
  for (;;) {
    const secret = await askForIt();
    try {
      return await use(secret);
    } catch (error) {
      if (!isWrongSecret(error)) throw error;
      note(`${error.message} Try again; Ctrl-C ends without a change.`);
    }
  }
}

/** Of a file whose first line is a password, with what may follow it. */
const mostBytesOfSecret = 1024 * 1024;

function firstLine(source: string | number, name: string): Uint8Array<ArrayBuffer> {
  const content = readFileBytes(source, name, mostBytesOfSecret);
  const end = content.indexOf('\n');
  const line = content.subarray(0, end === -1 ? content.length : end);
  const password = copyOfBytes(line.at(-1) === carriageReturn && end !== -1 ? line.subarray(0, -1) : line);
  content.fill(0);
  if (password.length === 0)
    throw new CommandError(exitCodes.usage, `${name} is empty: expected the password in its first line`);
  // Read leniently, different passwords would become one.
  if (isUtf8(password)) return password;
  password.fill(0);
  throw new CommandError(exitCodes.usage, notUtf8(name));
}

const carriageReturn = 0x0d;

/** @returns the recovery phrase, as a command sends it. */
export async function joinShares(shares: readonly string[]): Promise<string> {
  const { phraseFromShares } = await import('../../keys/keyslots/shares.ts');
  return Buffer.from(await phraseFromShares(shares)).toString('utf8');
}
