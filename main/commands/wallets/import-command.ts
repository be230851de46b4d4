/** The declarations of `keyhearth import`. */
import { Option, type Command } from 'commander';
import type { ImportPrivateKeyOptions } from '../private-keys/import.ts';
import type { ImportWalletOptions } from './import.ts';
import type { ImportSshKeyOptions } from '../ssh/import-key.ts';
import { account, apiKey, repeatable, sourceOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareImport(program: Command): void {
  const imports = program
    .command('import')
    .description('Import a wallet or a private key into the running vault')
    .allowUnknownOption()
    .allowExcessArguments();
  // A person who forgets the kind may have written the secret instead.
  imports.action(() => imports.help({ error: true }));
  addSubcommand<ImportWalletOptions>(imports, {
    name: 'wallet',
    discreet: true,
    description: 'Import a wallet from its seed phrase; by default from standard input',
    options: [
      new Option('--name <name>', 'Name of the wallet').makeOptionMandatory(),
      account(),
      ...sourceOptions('mnemonic', 'seed phrase'),
      ...sourceOptions('passphrase', 'BIP-39 passphrase'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./import.ts')).importWallet(config, flags),
  });
  addSubcommand<ImportPrivateKeyOptions>(imports, {
    name: 'private-key',
    discreet: true,
    description: 'Import a private key in hex or Solana’s formats; by default from standard input',
    options: [
      new Option('--name <name>', 'Name of the private key').makeOptionMandatory(),
      new Option('--curve <curve>', 'Curve: secp256k1, ed25519 or p256').makeOptionMandatory(),
      repeatable('--address-format <format>', 'Address format: ethereum, solana, bitcoin and so on'),
      ...sourceOptions('key', 'private key'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('../private-keys/import.ts')).importPrivateKey(config, flags),
  });
  addSubcommand<ImportSshKeyOptions>(imports, {
    name: 'ssh-key',
    discreet: true,
    description: 'Import a private key of OpenSSH on Ed25519 or P-256; by default from standard input',
    options: [
      new Option('--name <name>', 'Name of the private key').makeOptionMandatory(),
      ...sourceOptions('key', 'key file'),
      ...sourceOptions('passphrase', 'passphrase of the key file'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('../ssh/import-key.ts')).importSshKey(config, flags),
  });
}
