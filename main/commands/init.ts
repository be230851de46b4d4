/** `latchkey init`: makes a vault, its keyslots and the owner's first API key. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { isCancel, text } from '@clack/prompts';
import { ownerForm } from '../bridge.ts';
import type { Config } from '../config.ts';
import { mnemonicFromEntropy } from '../crypto/mnemonics.ts';
import { keychainOf, openVault, type OpenVault } from '../vault.ts';
import { newKeyPair, writeKeyFiles } from './key-files.ts';
import { CommandError, exitCodes, note, print } from './output.ts';
import { askForPassword, canAsk } from './secrets.ts';

export interface InitOptions {
  readonly organization: string;
  readonly user: string;
  readonly email?: string;
  readonly keyName: string;
  readonly password?: string;
  readonly json: boolean;
}

const shortestPassword = 8;

export async function init(config: Config, options: InitOptions): Promise<void> {
  const owner = checkOwner(options);
  const vault = openVault(config);
  try {
    if ((await vault.bridge.status()).state !== 'none') {
      throw new CommandError(
        exitCodes.failed,
        `there is a vault in ${String(config.dataDirectory)} already: it is not overwritten`,
      );
    }
    const useKeychain = config.useKeychain && (await keychainWorks(config));
    const password = await choosePassword(options, useKeychain);
    const entropy = randomBytes(32);
    const recoveryPhrase = mnemonicFromEntropy(entropy);
    entropy.fill(0);
    const recoveryConfirmed = !options.json && canAsk();
    if (recoveryConfirmed) await confirmPhrase(recoveryPhrase, 'no vault was made');
    const pair = newKeyPair();
    const files = writeKeyFiles(config.keysDirectory, options.keyName, pair);
    const newVault = {
      ...owner,
      useKeychain,
      ...(password === undefined ? {} : { password }),
      recoveryPhrase,
      recoveryConfirmed,
      apiKey: { name: options.keyName, publicKey: pair.publicKey },
    };
    const { organizationId, userId } = await vault.setUp(newVault).catch((error: unknown) => {
      // The key of a vault that was not made opens nothing, and would stand in the way of the next try.
      for (const file of [files.publicKeyFile, files.privateKeyFile]) rmSync(file);
      throw error;
    });
    const { keyslots } = await vault.bridge.status();
    print(
      options.json,
      {
        organizationId,
        userId,
        dataDirectory: config.dataDirectory,
        keyslots,
        apiPublicKey: pair.publicKey,
        privateKeyFile: files.privateKeyFile,
        recoveryPhrase,
      },
      [
        ...(recoveryConfirmed
          ? []
          : ['Recovery phrase (write it down; it is not shown again):', '', recoveryPhrase, '']),
        `Vault made in ${String(config.dataDirectory)}; it opens with: ${keyslots.join(', ')}.`,
        `Organization ${organizationId}, your user ${userId}.`,
        `API key "${options.keyName}": ${files.privateKeyFile}`,
        'Next: latchkey serve',
      ].join('\n'),
    );
  } finally {
    vault.close();
  }
}

type Owner = Pick<Parameters<OpenVault['setUp']>[0], 'organizationName' | 'userName' | 'userEmail'>;

/** @throws CommandError naming the option that does not fit. */
function checkOwner({ organization, user, email }: InitOptions): Owner {
  const check = (
    option: string,
    form: { safeParse: typeof ownerForm.userName.safeParse },
    value: string,
    expected: string,
  ): string => {
    const parsed = form.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}: expected ${expected}, got ${JSON.stringify(value)}`,
    );
  };
  const nameLength = '1 to 64 characters';
  return {
    organizationName: check('--organization', ownerForm.organizationName, organization, nameLength),
    userName: check('--user', ownerForm.userName, user, nameLength),
    ...(email === undefined
      ? {}
      : { userEmail: check('--email', ownerForm.userEmail, email, 'an email address') }),
  };
}

/** Says in one line why there is no keychain, where there is none. */
async function keychainWorks(config: Config): Promise<boolean> {
  const probe = await keychainOf(config).probe();
  if (!probe.available) note(`No keychain: ${probe.reason}`);
  return probe.available;
}

async function choosePassword(options: InitOptions, useKeychain: boolean): Promise<string | undefined> {
  const chosen =
    options.password ??
    (useKeychain || options.json || !canAsk() ? undefined : await askForPassword('A password for the vault'));
  if (chosen === undefined && !useKeychain) {
    throw new CommandError(
      exitCodes.usage,
      'a vault without a keychain needs a password: give one with --password-file or --password-fd',
    );
  }
  if (chosen !== undefined && chosen.length < shortestPassword) {
    throw new CommandError(
      exitCodes.usage,
      `the password is too short: expected at least ${String(shortestPassword)} characters`,
    );
  }
  return chosen;
}

/**
 * Shows the phrase and asks for three of its words.
 * @param undone What was not done where one is wrong.
 * @returns The positions that were asked for.
 */
export async function confirmPhrase(phrase: string, undone: string): Promise<readonly number[]> {
  const words = phrase.split(' ');
  note('Recovery phrase: these 24 words open the vault when everything else is lost. Write them down.\n');
  for (let row = 0; row < words.length; row += 4) {
    note(
      words
        .slice(row, row + 4)
        .map((word, index) => `${String(row + index + 1).padStart(4)}. ${word.padEnd(10)}`)
        .join(''),
    );
  }
  const positions = threePositions();
  for (const position of positions) {
    const answer = await text({ message: `Word ${String(position)}` });
    if (isCancel(answer)) throw new CommandError(exitCodes.failed, `cancelled: ${undone}`);
    if (answer.trim().toLowerCase() !== words[position - 1]) {
      throw new CommandError(
        exitCodes.failed,
        `word ${String(position)} is not the one of the phrase: ${undone}`,
      );
    }
  }
  return positions;
}

function threePositions(): number[] {
  const positions = new Set<number>();
  while (positions.size < 3) positions.add(((randomBytes(1)[0] ?? 0) % 24) + 1);
  return [...positions].sort((a, b) => a - b);
}
