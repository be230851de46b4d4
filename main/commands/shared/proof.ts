/** The secrets that a command is given to open the vault, or a backup of it. */
import type { BackupSecret, KeyslotKind, ProveWith, VaultStatus } from '../../../preload/contract.ts';
import { anyOf } from './help.ts';
import { CommandError, exitCodes } from './output.ts';
import {
  askForPassword,
  canAsk,
  joinShares,
  readPassword,
  readSecretFile,
  readShares,
  tryUntilRight,
} from './secrets.ts';

export interface SecretOptions {
  readonly passwordFile?: string | readonly string[];
  readonly passwordFd?: string;
  readonly recoveryFile?: string;
  readonly shareFile?: readonly string[];
}

const unlockWords: Readonly<Record<KeyslotKind, string>> = {
  keychain: 'the keychain',
  password: 'a password',
  recovery: 'the recovery phrase',
};

/** @returns the ways to unlock, each once, as a sentence has them. */
export const unlockMethods = (keyslots: readonly KeyslotKind[]): string =>
  anyOf([...new Set(keyslots)].map((kind) => unlockWords[kind]));

/** The options that name a secret, as an error lists them. */
export const secretFlags = '--password-file, --password-fd, --recovery-file or --share-file';

/** Reads the secrets of the options, in the order in which they are tried. */
export async function readSecrets({
  passwordFile = [],
  passwordFd,
  recoveryFile,
  shareFile = [],
}: SecretOptions): Promise<ProveWith[]> {
  const passwords = [
    ...[passwordFile].flat().map((file) => readPassword({ passwordFile: file }, undefined)),
    ...(passwordFd === undefined ? [] : [readPassword({ passwordFd }, undefined)]),
  ];
  return [
    ...passwords.flatMap((password) =>
      password === undefined ? [] : [{ with: 'password' as const, password }],
    ),
    ...(recoveryFile === undefined
      ? []
      : [{ with: 'recovery' as const, phrase: readSecretFile('--recovery-file', recoveryFile) }]),
    ...(shareFile.length === 0 ? [] : [{ with: 'shares' as const, shares: await readShares(shareFile) }]),
  ];
}

/** Uses the secret that the options name, or what is typed at a terminal until it is right. */
export async function withSecret<Result>(
  options: SecretOptions,
  { keyslots }: VaultStatus,
  use: (secret: ProveWith) => Promise<Result>,
): Promise<Result> {
  const [given] = await readSecrets(options);
  if (given === undefined && !canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `expected a secret that opens the vault now: give ${secretFlags}`,
    );
  }
  const askForIt = async (): Promise<ProveWith> =>
    keyslots.includes('password')
      ? { with: 'password', password: await askForPassword('Password of the vault, as it is now') }
      : { with: 'recovery', phrase: await askForPassword('Recovery phrase of the vault') };
  return tryUntilRight(given, askForIt, use);
}

/** The first of what the options name, shares put together. @returns undefined where they name nothing. */
export async function readSecret(options: SecretOptions): Promise<BackupSecret | undefined> {
  const [secret] = await readSecrets(options);
  return secret?.with === 'shares' ? { with: 'recovery', phrase: await joinShares(secret.shares) } : secret;
}
