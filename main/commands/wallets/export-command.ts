/** The declarations of `keyhearth export`. */
import { Option, type Command } from 'commander';
import type { KeyForm } from './export.ts';
import type { ExportOptions } from './hand-out.ts';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type ExportKeyFlags = ExportOptions & { readonly format: KeyForm };

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
  addSubcommand<ExportOptions>(exports, {
    name: 'wallet <wallet>',
    description: 'Export the seed phrase of a wallet',
    options: destination(),
    run: async (config, flags, [wallet = '']) =>
      (await import('./export.ts')).exportWallet(config, wallet, flags),
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'private-key <private-key>',
    description: 'Export a private key',
    options: [format(), ...destination()],
    run: async (config, flags, [privateKey = '']) =>
      (await import('./export.ts')).exportPrivateKey(config, privateKey, flags.format, flags),
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'account <address>',
    description: 'Export the private key of a wallet account',
    describes: { address: 'Address of the account' },
    options: [format(), ...destination()],
    run: async (config, flags, [address = '']) =>
      (await import('./export.ts')).exportAccount(config, address, flags.format, flags),
  });
}
