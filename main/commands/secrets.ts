/** Where a command takes a password from: a file, a file descriptor, a systemd credential or the keyboard; never argv. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCancel, password as askPassword } from '@clack/prompts';
import { CommandError, exitCodes } from './output.ts';

export interface PasswordOptions {
  readonly passwordFile?: string;
  readonly passwordFd?: string;
}

const credentialName = 'latchkey-password';

/**
 * @param credentialsDirectory Where systemd puts a service's credentials, if it does.
 * @returns undefined where none of the sources was named.
 */
export function readPassword(
  options: PasswordOptions,
  credentialsDirectory: string | undefined,
): string | undefined {
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
  if (credentialsDirectory === undefined) return undefined;
  try {
    return firstLine(join(credentialsDirectory, credentialName), `the systemd credential ${credentialName}`);
  } catch {
    return undefined;
  }
}

/** @throws CommandError where the file cannot be read. */
export function readPhrase(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandError(
      exitCodes.usage,
      `--recovery-file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Whether somebody is there to be asked. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

export async function askForPassword(message: string): Promise<string> {
  const answer = await askPassword({ message });
  if (isCancel(answer)) throw new CommandError(exitCodes.failed, 'cancelled: nothing was changed');
  return answer;
}

function firstLine(source: string | number, name: string): string {
  let text: string;
  try {
    text = readFileSync(source, 'utf8');
  } catch (error) {
    throw new CommandError(
      exitCodes.usage,
      `${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  if (line === '')
    throw new CommandError(exitCodes.usage, `${name} is empty: expected the password in its first line`);
  return line;
}
