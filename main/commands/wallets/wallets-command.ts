/** The declarations of `keyhearth wallets`. */
import { Option, type Command } from 'commander';
import { account, apiKey, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { LabelOptions } from './labels.ts';
import type { AddAccountsOptions, CreateWalletOptions } from './new-wallets.ts';

export function declareWallets(program: Command): void {
  const wallets = program.command('wallets').description('Manage wallets and their accounts');
  addSubcommand<ApiOptions>(wallets, {
    name: 'list',
    description: 'List the wallets',
    options: [apiKey()],
    run: async (config, flags) => (await import('./wallets.ts')).listWallets(config, flags),
  });
  addSubcommand<ApiOptions>(wallets, {
    name: 'show <wallet>',
    description: 'Show a wallet and its accounts',
    options: [apiKey()],
    run: async (config, flags, [wallet = '']) =>
      (await import('./wallets.ts')).showWallet(config, wallet, flags),
  });
  addSubcommand<CreateWalletOptions>(wallets, {
    name: 'create',
    description: 'Create a wallet with a new seed phrase',
    options: [
      new Option('--name <name>', 'Name of the wallet').makeOptionMandatory(),
      account(),
      new Option('--words <number>', 'Number of words of the seed phrase')
        .choices(['12', '15', '18', '21', '24'])
        .default('12'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./new-wallets.ts')).createWallet(config, flags),
  });
  addSubcommand<AddAccountsOptions>(wallets, {
    name: 'add <wallet>',
    description: 'Add accounts to a wallet',
    options: [account(), apiKey()],
    run: async (config, flags, [wallet = '']) =>
      (await import('./new-wallets.ts')).addAccounts(config, wallet, flags),
  });
  addSubcommand<LabelOptions>(wallets, {
    name: 'label <wallet>',
    description: 'Tag a wallet, or put it into the archive and back; an archived wallet signs as before',
    options: [
      new Option('--tag <name...>', 'Tags of the wallet, in the place of those it has'),
      new Option('--no-tags', 'Take all tags away').conflicts('tag'),
      new Option('--archive', 'Put the wallet into the archive').conflicts('unarchive'),
      new Option('--unarchive', 'Take the wallet out of the archive'),
      apiKey(),
    ],
    run: async (config, flags, [wallet = '']) =>
      (await import('./labels.ts')).labelWallet(config, wallet, flags),
  });
}
