/** `keyhearth import wallet`: brings a wallet's mnemonic into the running vault, encrypted to it. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { checkMnemonic } from '../../crypto/keys/mnemonics.ts';
import { ofNewWallet, placeAccounts, readAccount, usageOf } from './account-options.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { encryptFor, importBundleAnswer } from './sealed-import.ts';
import { namedSource, readPassphrase, readText, standardInput, type Source } from './secret-sources.ts';
import { accountTable } from './wallets.ts';

export interface ImportWalletOptions extends ApiOptions {
  readonly name: string;
  readonly account: readonly string[];
  readonly mnemonicFile?: string;
  readonly mnemonicFd?: string;
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
}

const initImportWallet = activityKind({
  type: 'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
  result: importBundleAnswer,
});

const importWalletActivity = activityKind({
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  result: z.object({ walletId: z.string(), addresses: z.array(z.string()) }),
  options: { 'parameters.walletName': '--name' },
  isOfUseLater: true,
});

export async function importWallet(config: Config, options: ImportWalletOptions): Promise<void> {
  const accounts = await placeAccounts(options.account.map(readAccount), ofNewWallet);
  const words = namedSource('--mnemonic', options.mnemonicFile, options.mnemonicFd) ?? standardInput();
  const passphrase = namedSource('--passphrase', options.passphraseFile, options.passphraseFd);
  if (typeof words.from === 'number' && words.from === passphrase?.from) {
    throw new CommandError(
      exitCodes.usage,
      `${words.name} cannot give both seed phrase and passphrase: give one of them as a file`,
    );
  }
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const secret = await readPhrase(words, passphrase);
  const { userId, encryptedBundle } = await encryptFor(
    api,
    async (parameters) => (await api.submit(initImportWallet, parameters)).importBundle,
    secret,
  );
  const { walletId, addresses } = await api.submit(importWalletActivity, {
    userId,
    walletName: options.name,
    encryptedBundle,
    accounts,
  });
  const made = accounts.map(({ curve, path, addressFormat }, index) => ({
    curve,
    path,
    addressFormat,
    address: addresses[index] ?? '',
  }));
  print(options.json, { walletId, walletName: options.name, accounts: made }, [
    `Imported wallet ${JSON.stringify(options.name)}: ${walletId}`,
    ...(made.length === 0 ? [] : [accountTable(made)]),
  ]);
}

/**
 * Reads a wallet's mnemonic and its passphrase, if one is given.
 * @returns them as an import takes them.
 */
async function readPhrase(words: Source, passphraseFrom: Source | undefined): Promise<Uint8Array> {
  const mnemonic = await readText(words, 'seed phrase', (text) => {
    const severalLines = text.trim().includes('\n');
    usageOf(
      () => {
        checkMnemonic(text, `seed phrase from ${words.name}`);
      },
      severalLines ? '; a passphrase is given with --passphrase-file or --passphrase-fd' : '',
    );
    return text.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  });
  if (passphraseFrom === undefined) return new Uint8Array(Buffer.from(mnemonic));
  const passphrase = await readPassphrase(passphraseFrom);
  return new Uint8Array(Buffer.from(`${mnemonic}\n--PASS--\n${passphrase}`));
}
