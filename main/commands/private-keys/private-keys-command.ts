/** The declarations of `keyhearth private-keys`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreatePrivateKeyOptions } from './private-keys.ts';

export function declarePrivateKeys(program: Command): void {
  const keys = program.command('private-keys').description('Manage private keys outside wallets');
  addSubcommand<ApiOptions>(keys, {
    name: 'list',
    description: 'List the private keys',
    options: [apiKey()],
    run: async (config, flags) => (await import('./private-keys.ts')).listPrivateKeys(config, flags),
  });
  addSubcommand<ApiOptions>(keys, {
    name: 'show <private-key>',
    description: 'Show the public key and addresses of a private key',
    options: [apiKey()],
    run: async (config, flags, [wanted = '']) =>
      (await import('./private-keys.ts')).showPrivateKey(config, wanted, flags),
  });
  addSubcommand<CreatePrivateKeyOptions>(keys, {
    name: 'create',
    description: 'Generate a private key',
    options: [
      new Option('--name <name>', 'Name of the private key').makeOptionMandatory(),
      new Option('--curve <curve>', 'Curve: secp256k1, ed25519 or p256').makeOptionMandatory(),
      repeatable('--address-format <format>', 'Address format: ethereum, solana, bitcoin and so on'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./private-keys.ts')).createPrivateKey(config, flags),
  });
}
