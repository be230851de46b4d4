/** `keyhearth wallets create` and `add`: new wallets, and new accounts of a wallet. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { wordCounts } from '../../crypto/keys/mnemonics.ts';
import { ofNewWallet, placeAccounts, readAccount, type AccountChoice } from './account-options.ts';
import { VaultApi, activityKind, type Api } from '../shared/api.ts';
import type { Account } from './default-accounts.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { accountTable } from './wallets.ts';
import type { ApiOptions } from '../shared/options.ts';

export interface AddAccountsOptions extends ApiOptions {
  readonly account: readonly string[];
}

export interface CreateWalletOptions extends AddAccountsOptions {
  readonly name: string;
  /** Of its mnemonic. */
  readonly words: string;
}

const createWalletActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  result: z.object({ walletId: z.string(), addresses: z.array(z.string()) }),
  options: { 'parameters.walletName': '--name', 'parameters.accounts': '--account' },
  isOfUseLater: true,
});

const addAccountsActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  result: z.object({ addresses: z.array(z.string()) }),
  options: { 'parameters.accounts': '--account' },
  isOfUseLater: true,
});

export async function createWallet(config: Config, options: CreateWalletOptions): Promise<void> {
  const accounts = await placeAccounts(options.account.map(readAccount), ofNewWallet);
  const api = await VaultApi.connect(config, options.apiKey);
  const { walletId, addresses } = await api.submit(createWalletActivity, {
    walletName: options.name,
    accounts,
    mnemonicLength: wordCounts.find((length) => String(length) === options.words),
  });
  const made = withAddresses(accounts, addresses);
  print(options.json, { walletId, walletName: options.name, accounts: made }, [
    `Created wallet ${JSON.stringify(options.name)}: ${walletId}`,
    made.length === 0
      ? `Add an account with: keyhearth wallets add ${walletId} --account ethereum`
      : accountTable(made),
    'The seed phrase exists only in the vault and its backups. To export it: keyhearth export wallet',
  ]);
}

/** @param wanted The wallet's id or name. */
export async function addAccounts(
  config: Config,
  wanted: string,
  options: AddAccountsOptions,
): Promise<void> {
  const choices = options.account.map(readAccount);
  if (choices.length === 0) {
    throw new CommandError(
      exitCodes.usage,
      "missing --account: give a chain such as ethereum, or CURVE:PATH:FORMAT such as secp256k1:m/44'/60'/0'/0/1:ethereum",
    );
  }
  const api = await VaultApi.connect(config, options.apiKey);
  const { walletId, walletName } = await listings.wallet.find(api, wanted);
  const { accounts, addresses } = await addPlaced(api, walletId, choices);
  const made = withAddresses(accounts, addresses);
  print(options.json, { walletId, walletName, accounts: made }, accountTable(made));
}

const freePath = z.object({ index: z.number() });

/** As many others may take an index in the moment between the question for it and the request. */
const mostTries = 20;

/** Adds accounts at free indexes. Where another client takes one of them first, the next ones are asked for. */
export async function addPlaced(
  api: Api,
  walletId: string,
  choices: readonly AccountChoice[],
): Promise<{ readonly accounts: readonly Account[]; readonly addresses: readonly string[] }> {
  const place = (): Promise<readonly Account[]> =>
    placeAccounts(choices, async ({ curve, addressFormat, pattern: path }, from) => {
      const parameters = { walletId, curve, addressFormat, path, ...(from === 0 ? {} : { from }) };
      return (await api.query('get_free_wallet_path', freePath, parameters)).index;
    });
  let accounts = await place();
  for (let tries = 1; ; tries++) {
    try {
      return {
        accounts,
        addresses: (await api.submit(addAccountsActivity, { walletId, accounts })).addresses,
      };
    } catch (error) {
      if (!isTaken(error) || tries === mostTries) throw error;
      const before = accounts;
      accounts = await place();
      // The occupied account was named explicitly: another index is not an answer.
      if (accounts.every(({ path }, index) => path === before[index]?.path)) throw error;
    }
  }
}

/** The code of gRPC: the API refuses a path that exists with REQUEST_INVALID, as it does other input. */
const alreadyExists = 6;

const isTaken = (error: unknown): boolean =>
  error instanceof CommandError && 'code' in error.details && error.details.code === alreadyExists;

const withAddresses = (
  accounts: readonly Account[],
  addresses: readonly string[],
): readonly (Omit<Account, 'pathFormat'> & { readonly address: string })[] =>
  accounts.map(({ curve, path, addressFormat }, index) => ({
    curve,
    path,
    addressFormat,
    address: addresses[index] ?? '',
  }));
