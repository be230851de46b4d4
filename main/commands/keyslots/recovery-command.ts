/** The declarations of `keyhearth recovery`. */
import { Option, type Command } from 'commander';
import { recoveryFile, shareFile } from '../shared/options.ts';
import type { RecoveryOptions, SheetOptions } from './recovery.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareRecovery(program: Command): void {
  const recovery = program
    .command('recovery')
    .description('check the recovery phrase, and print it or shares of it');
  addSubcommand<Omit<RecoveryOptions, 'json'>>(recovery, {
    name: 'check',
    discreet: true,
    description: 'say whether the recovery phrase, or shares of it, open the vault',
    options: [recoveryFile(), shareFile()],
    run: async (config, flags, json) => {
      const { checkRecovery } = await import('./recovery.ts');
      await checkRecovery(config, { ...flags, json });
    },
  });
  addSubcommand<Omit<SheetOptions, 'json'>>(recovery, {
    name: 'sheet',
    discreet: true,
    description: 'write the recovery phrase, or shares of it, as a page to be printed',
    options: [
      new Option('--output <file>', 'the new page, for its owner alone').makeOptionMandatory(),
      new Option('--shares <counts>', 'a page for each share instead: how many are needed, like 2-of-3'),
      recoveryFile(),
      shareFile(),
    ],
    run: async (config, flags, json) => {
      const { writeSheet } = await import('./recovery.ts');
      await writeSheet(config, { ...flags, json });
    },
  });
}
