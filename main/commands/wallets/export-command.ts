/** The declarations of `keyhearth export`. */
import { Option, type Command } from 'commander';
import type { ExportOptions, KeyForm } from './export.ts';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type ExportFlags = Omit<ExportOptions, 'json' | 'yes'> & { readonly yes?: true };

type ExportKeyFlags = ExportFlags & { readonly format: KeyForm };

export function declareExport(program: Command): void {
  const exports = program
    .command('export')
    .description('take a wallet or a private key out of the running vault, encrypted on the way');
  const destination = (): readonly Option[] => [
    new Option('--output <file>', 'write the secret to a new file, for its owner alone'),
    new Option('--yes', 'show the secret on a terminal without asking'),
    apiKey(),
  ];
  const format = (): Option =>
    new Option('--format <form>', 'how the key is written; base58 and bytes are Solana’s')
      .choices(['hex', 'base58', 'bytes'] satisfies KeyForm[])
      .default('hex');
  addSubcommand<ExportFlags>(exports, {
    name: 'wallet <wallet>',
    description: 'export the mnemonic of a wallet, named by its id or name',
    options: destination(),
    run: async (config, flags, json, [wallet = '']) => {
      const { exportWallet } = await import('./export.ts');
      await exportWallet(config, wallet, { ...flags, yes: flags.yes === true, json });
    },
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'private-key <private-key>',
    description: 'export a private key, named by its id or name',
    options: [format(), ...destination()],
    run: async (config, flags, json, [privateKey = '']) => {
      const { exportPrivateKey } = await import('./export.ts');
      await exportPrivateKey(config, privateKey, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
  addSubcommand<ExportKeyFlags>(exports, {
    name: 'account <address>',
    description: 'export the private key of a wallet account',
    options: [format(), ...destination()],
    run: async (config, flags, json, [address = '']) => {
      const { exportAccount } = await import('./export.ts');
      await exportAccount(config, address, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
}
