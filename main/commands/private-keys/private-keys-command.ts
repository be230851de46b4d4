/** The declarations of `keyhearth private-keys`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreatePrivateKeyOptions } from './private-keys.ts';

export function declarePrivateKeys(program: Command): void {
  const keys = program
    .command('private-keys')
    .description('private keys outside any wallet: import and export have commands of their own');
  addSubcommand<{ readonly apiKey: string }>(keys, {
    name: 'list',
    description: 'list the private keys',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listPrivateKeys } = await import('./private-keys.ts');
      await listPrivateKeys(config, { ...flags, json });
    },
  });
  addSubcommand<{ readonly apiKey: string }>(keys, {
    name: 'show <private-key>',
    description: 'show a key’s public half and addresses; named by id, how the id begins, or name',
    options: [apiKey()],
    run: async (config, flags, json, [wanted = '']) => {
      const { showPrivateKey } = await import('./private-keys.ts');
      await showPrivateKey(config, wanted, { ...flags, json });
    },
  });
  addSubcommand<Omit<CreatePrivateKeyOptions, 'json'>>(keys, {
    name: 'create',
    description: 'create a private key, which stays in the vault',
    options: [
      new Option('--name <name>', 'name of the new private key').makeOptionMandatory(),
      new Option('--curve <curve>', 'secp256k1, ed25519 or p256').makeOptionMandatory(),
      repeatable('--address-format <format>', 'ethereum, solana, bitcoin-mainnet-p2wpkh and so on'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { createPrivateKey } = await import('./private-keys.ts');
      await createPrivateKey(config, { ...flags, json });
    },
  });
}
