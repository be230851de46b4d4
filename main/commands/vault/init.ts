/** `keyhearth init`: makes a vault, its keyslots and the owner's first API key. */
import { randomBytes } from 'node:crypto';
import { fstatSync, statSync } from 'node:fs';
import { ownerForm } from '../../rpc/calls.ts';
import type { Config } from '../../app/config.ts';
import { mnemonicFromEntropy } from '../../crypto/keys/mnemonics.ts';
import { listKeyslots } from '../../storage/tables/keyslots.ts';
import { forgetWordsNotShown } from '../../storage/tables/settings.ts';
import { getVault, requireVault } from '../../storage/tables/vault.ts';
import { forgetKeychainSlot } from '../../keys/keyslots/slots.ts';
import { openVault, type OpenVault } from '../../app/compose.ts';
import { keychainOf } from '../../app/keychain.ts';
import { dataDirectory } from './control.ts';
import { offerFormerVault } from './former-vault.ts';
import { deleteKeyFiles, newKeyPair, writeKeyFiles, type KeyFiles } from '../credentials/key-files.ts';
import { CommandError, exitCodes, note, print, printForSure } from '../shared/output.ts';
import { beforeEnding } from '../shared/signals.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { confirmPhrase } from '../keyslots/confirm-phrase.ts';
import { unlockMethods } from '../shared/proof.ts';
import { askForNewPassword, canAsk, problemOfPassword } from '../shared/secrets.ts';
import { removeVault } from '../shared/vault-file.ts';
import { defined } from '../../lib/defined.ts';

export interface InitOptions {
  readonly organization: string;
  readonly user: string;
  readonly email?: string;
  readonly keyName: string;
  readonly password?: string;
  readonly json: boolean;
}

export async function init(config: Config, options: InitOptions): Promise<void> {
  const owner = checkOwner(options);
  const isAsked = !options.json && canAsk();
  if (!isAsked && isDiscarded(process.stdout.fd)) {
    throw new CommandError(
      exitCodes.usage,
      'no vault was created: standard output is /dev/null, so the recovery phrase would be lost. Redirect it to a file, or to a program that keeps it',
    );
  }
  if ((await offerFormerVault(config, options.json)) === 'moved') {
    throw new CommandError(
      exitCodes.failed,
      'no new vault was created: your earlier vault is here now. Next: keyhearth serve',
    );
  }
  const directory = dataDirectory(config);
  const vault = openVault(config);
  let unmake = (): void => undefined;
  try {
    if ((await vault.rpc.status()).state !== 'none') {
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
    if (recoveryConfirmed) await confirmPhrase(recoveryPhrase, 'no vault was created');
    const pair = newKeyPair();
    const written: KeyFiles[] = [];
    // A key of a vault that was not made opens nothing, and would stand in the way of the next try.
    const removeKeys = (): void => {
      for (const each of written) deleteKeyFiles(each);
    };
    using _ = beforeEnding(() => {
      if (vault.units.readUnverified(getVault) === undefined) removeKeys();
    });
    const files = writeKeyFiles(
      config.keysDirectory,
      options.keyName,
      pair,
      '. If it is of a run that was killed before it made the vault, it opens nothing',
    );
    written.push(files);
    const newVault = {
      ...owner,
      useKeychain,
      ...defined({ password }),
      recoveryPhrase,
      recoveryConfirmed,
      ...(recoveryConfirmed ? {} : { wordsAreYetToBeShown: true as const }),
      apiKey: { name: options.keyName, publicKey: pair.publicKey },
    };
    const { organizationId, userId } = await vault.setUp(newVault).catch((error: unknown) => {
      removeKeys();
      throw error;
    });
    const { keyslots } = await vault.rpc.status();
    const result = {
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
        : ['Recovery phrase (write it down; it is shown only once):', '', recoveryPhrase, '']),
      `Created a vault in ${String(config.dataDirectory)}.`,
      `Unlocks with ${unlockMethods(keyslots)}.`,
      `Organization ${organizationId}, user ${userId}.`,
      `API key "${options.keyName}": ${files.privateKeyFile}`,
      'Next: keyhearth serve',
    ].join('\n');
    if (recoveryConfirmed) {
      print(options.json, result, text);
      return;
    }
    try {
      printForSure(options.json, result, text);
    } catch (error) {
      await forgetInKeychain(vault, config);
      unmake = (): void => {
        removeKeys();
        removeVault(directory);
      };
      throw new CommandError(
        exitCodes.failed,
        `no vault was created: the recovery phrase could not be shown, because writing to standard output failed (${reasonOf(error)})`,
      );
    }
    // If this fails, the vault still says that the words were not shown: generating new ones is always safe.
    await vault.units.write(forgetWordsNotShown).catch(() => undefined);
  } finally {
    vault.close();
    unmake();
  }
}

/** True if output to a descriptor is discarded. */
function isDiscarded(descriptor: number): boolean {
  const nowhere = statSync('/dev/null', { throwIfNoEntry: false });
  const found = fstatSync(descriptor);
  return nowhere !== undefined && found.isCharacterDevice() && found.rdev === nowhere.rdev;
}

async function forgetInKeychain({ units }: OpenVault, config: Config): Promise<void> {
  const keychain = keychainOf(config);
  const { id, slots } = units.readUnverified((tx) => ({ ...requireVault(tx), slots: listKeyslots(tx) }));
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
    options.password ?? (useKeychain || options.json || !canAsk() ? undefined : await askForNewPassword());
  if (chosen === undefined && !useKeychain) {
    throw new CommandError(
      exitCodes.usage,
      'missing password: a vault without a keychain needs one. Give --password-file or --password-fd',
    );
  }
  const problem = chosen === undefined ? undefined : problemOfPassword(chosen);
  if (problem !== undefined) {
    throw new CommandError(exitCodes.usage, `invalid password: ${problem}`);
  }
  return chosen;
}
