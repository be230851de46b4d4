/** The declarations of `keyhearth wallets`. */
import { Option, type Command } from 'commander';
import { account, apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddAccountsOptions, CreateWalletOptions } from './wallets.ts';

export function declareWallets(program: Command): void {
  const wallets = program
    .command('wallets')
    .description('wallets and their accounts: import and export have commands of their own');
  addSubcommand<{ readonly apiKey: string }>(wallets, {
    name: 'list',
    description: 'list the wallets',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listWallets } = await import('./wallets.ts');
      await listWallets(config, { ...flags, json });
    },
  });
  addSubcommand<{ readonly apiKey: string }>(wallets, {
    name: 'show <wallet>',
    description: 'list the accounts of a wallet, named by its id or name',
    options: [apiKey()],
    run: async (config, flags, json, [wallet = '']) => {
      const { showWallet } = await import('./wallets.ts');
      await showWallet(config, wallet, { ...flags, json });
    },
  });
  addSubcommand<Omit<CreateWalletOptions, 'json'>>(wallets, {
    name: 'create',
    description: 'make a wallet with a new mnemonic, which stays in the vault',
    options: [
      new Option('--name <name>', 'name of the new wallet').makeOptionMandatory(),
      account(),
      new Option('--words <number>', 'how long its mnemonic is')
        .choices(['12', '15', '18', '21', '24'])
        .default('12'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { createWallet } = await import('./wallets.ts');
      await createWallet(config, { ...flags, json });
    },
  });
  addSubcommand<Omit<AddAccountsOptions, 'json'>>(wallets, {
    name: 'add <wallet>',
    description: 'add accounts to a wallet, named by its id or name',
    options: [account(), apiKey()],
    run: async (config, flags, json, [wallet = '']) => {
      const { addAccounts } = await import('./wallets.ts');
      await addAccounts(config, wallet, { ...flags, json });
    },
  });
}
