/** The declarations of `keyhearth recovery`. */
import { Option, type Command } from 'commander';
import { recoveryFile, shareFile } from '../shared/options.ts';
import type { RecoveryOptions, SheetOptions } from './recovery.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareRecovery(program: Command): void {
  const recovery = program
    .command('recovery')
    .description('Check the recovery phrase and create printable sheets');
  addSubcommand<RecoveryOptions>(recovery, {
    name: 'check',
    discreet: true,
    description: 'Check that the recovery phrase, or its shares, open the vault',
    options: [recoveryFile(), shareFile()],
    run: async (config, flags) => (await import('./recovery.ts')).checkRecovery(config, flags),
  });
  addSubcommand<SheetOptions>(recovery, {
    name: 'sheet',
    discreet: true,
    description: 'Create a printable sheet of the recovery phrase, or of its shares',
    options: [
      new Option(
        '--output <file>',
        'Write the page to a new file that only you can read',
      ).makeOptionMandatory(),
      new Option('--shares <counts>', 'Split into shares, one page each, such as 2-of-3'),
      recoveryFile(),
      shareFile(),
    ],
    run: async (config, flags) => (await import('./recovery.ts')).writeSheet(config, flags),
  });
}
