/** `latchkey init`: makes a vault, its keyslots and the owner's first API key. */
import { randomBytes } from 'node:crypto';
import { fstatSync, rmSync, statSync } from 'node:fs';
import { isCancel, text } from '@clack/prompts';
import { ownerForm } from '../bridge.ts';
import type { Config } from '../config.ts';
import { mnemonicFromEntropy } from '../crypto/mnemonics.ts';
import { listKeyslots } from '../db/keyslots.ts';
import { forgetWordsNotShown } from '../db/settings.ts';
import { requireVault } from '../db/vault.ts';
import { forgetKeychainSlot } from '../keyslots/slots.ts';
import { keychainOf, openVault, type OpenVault } from '../vault.ts';
import { dataDirectory } from './control.ts';
import { newKeyPair, writeKeyFiles } from './key-files.ts';
import { CommandError, exitCodes, note, print, printForSure, reasonOf } from './output.ts';
import { askForPassword, canAsk } from './secrets.ts';
import { removeVault } from './vault-file.ts';

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
  const isAsked = !options.json && canAsk();
  if (!isAsked && isDiscarded(process.stdout.fd)) {
    throw new CommandError(
      exitCodes.usage,
      'the recovery phrase would be shown to nobody, as standard output goes to /dev/null: no vault was made. Give it a file, or a program that keeps it',
    );
  }
  const directory = dataDirectory(config);
  const vault = openVault(config);
  let unmake = (): void => undefined;
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
    const recoveryConfirmed = isAsked;
    if (recoveryConfirmed) await confirmPhrase(recoveryPhrase, 'no vault was made');
    const pair = newKeyPair();
    const files = writeKeyFiles(config.keysDirectory, options.keyName, pair);
    const newVault = {
      ...owner,
      useKeychain,
      ...(password === undefined ? {} : { password }),
      recoveryPhrase,
      recoveryConfirmed,
      ...(recoveryConfirmed ? {} : { wordsAreYetToBeShown: true as const }),
      apiKey: { name: options.keyName, publicKey: pair.publicKey },
    };
    // The key of a vault that was not made opens nothing, and would stand in the way of the next try.
    const removeKeys = (): void => {
      for (const file of [files.publicKeyFile, files.privateKeyFile]) rmSync(file, { force: true });
    };
    const { organizationId, userId } = await vault.setUp(newVault).catch((error: unknown) => {
      removeKeys();
      throw error;
    });
    const { keyslots } = await vault.bridge.status();
    const made = {
      organizationId,
      userId,
      dataDirectory: config.dataDirectory,
      keyslots,
      apiPublicKey: pair.publicKey,
      privateKeyFile: files.privateKeyFile,
      recoveryPhrase,
    };
    const text = [
      ...(recoveryConfirmed
        ? []
        : ['Recovery phrase (write it down; it is not shown again):', '', recoveryPhrase, '']),
      `Vault made in ${String(config.dataDirectory)}; it opens with: ${keyslots.join(', ')}.`,
      `Organization ${organizationId}, your user ${userId}.`,
      `API key "${options.keyName}": ${files.privateKeyFile}`,
      'Next: latchkey serve',
    ].join('\n');
    if (recoveryConfirmed) {
      print(options.json, made, text);
      return;
    }
    try {
      printForSure(options.json, made, text);
    } catch (error) {
      await forgetInKeychain(vault, config);
      unmake = (): void => {
        removeKeys();
        removeVault(directory);
      };
      throw new CommandError(
        exitCodes.failed,
        `the recovery phrase could not be shown, as standard output cannot be written (${reasonOf(error)}): no vault was made`,
      );
    }
    // Where this fails, the vault goes on saying that they were not: new words are never wrong.
    await vault.units.write(forgetWordsNotShown).catch(() => undefined);
  } finally {
    vault.close();
    unmake();
  }
}

/** Whether what a descriptor is given goes nowhere. */
function isDiscarded(descriptor: number): boolean {
  const nowhere = statSync('/dev/null', { throwIfNoEntry: false });
  const found = fstatSync(descriptor);
  return nowhere !== undefined && found.isCharacterDevice() && found.rdev === nowhere.rdev;
}

async function forgetInKeychain({ units }: OpenVault, config: Config): Promise<void> {
  const keychain = keychainOf(config);
  const { id, slots } = units.peek((tx) => ({ ...requireVault(tx), slots: listKeyslots(tx) }));
  for (const slot of slots) await forgetKeychainSlot(keychain, id, slot);
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
