/** The declarations of `keyhearth export`. */
import { Option, type Command } from 'commander';
import type { KeyForm } from './export.ts';
import type { ExportOptions } from './hand-out.ts';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type ExportFlags = Omit<ExportOptions, 'json' | 'yes'> & { readonly yes?: true };

type ExportKeyFlags = ExportFlags & { readonly format: KeyForm };

export function declareExport(program: Command): void {
  const exports = program
    .command('export')
    .description('Export a wallet or a private key from the running vault');
  const destination = (): readonly Option[] => [
    new Option('--output <file>', 'Write the secret to a new file that only you can read'),
    new Option('--yes', 'Show the secret without confirmation'),
    apiKey(),
  ];
  const format = (): Option =>
    new Option('--format <form>', 'Encoding of the key; base58 and bytes are for Solana')
      .choices(['hex', 'base58', 'bytes'] satisfies KeyForm[])
      .default('hex');
  addSubcommand<ExportFlags>(exports, {
    name: 'wallet <wallet>',
    description: 'Export the seed phrase of a wallet',
    options: destination(),
    run: async (config, flags, json, [wallet = '']) => {
      const { exportWallet } = await import('./export.ts');
      await exportWallet(config, wallet, { ...flags, yes: flags.yes === true, json });
    },
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'private-key <private-key>',
    description: 'Export a private key',
    options: [format(), ...destination()],
    run: async (config, flags, json, [privateKey = '']) => {
      const { exportPrivateKey } = await import('./export.ts');
      await exportPrivateKey(config, privateKey, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'account <address>',
    description: 'Export the private key of a wallet account',
    describes: { address: 'Address of the account' },
    options: [format(), ...destination()],
    run: async (config, flags, json, [address = '']) => {
      const { exportAccount } = await import('./export.ts');
      await exportAccount(config, address, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
}
