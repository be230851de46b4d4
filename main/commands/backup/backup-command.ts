/** The declarations of `keyhearth backup` and `keyhearth restore`. */
import { Option, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { BackUpOptions } from './backup.ts';

export function declareBackup(program: Command): void {
  const backup = addSubcommand<BackUpOptions>(program, {
    name: 'backup [file]',
    description: 'Create an encrypted backup of the whole vault; by default in the scheduled directory',
    describes: { file: 'New backup file; default: a dated name in the scheduled directory' },
    options: [new Option('--force', 'Overwrite an existing backup'), noKeychain(), ...secretOptions()],
    run: async (config, flags, [file]) => (await import('./backup.ts')).backUp(config, file, flags),
  });
  addSubcommand<SecretOptions>(backup, {
    name: 'verify <file>',
    description: 'Test that a backup restores, in memory; the vault stays as it is',
    describes: { file: 'Backup file' },
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, [file = '']) =>
      (await import('./backup.ts')).verifyBackup(config, file, flags),
  });
  addSubcommand(backup, {
    name: 'status',
    description: 'List the backups, their age and the next due date',
    run: async (config, { json }) => (await import('./backup.ts')).backupStatus(config, json),
  });
  addSubcommand<SecretOptions & { readonly hours: string }>(backup, {
    name: 'schedule <directory>',
    description: 'Create backups on a schedule while the vault runs; keeps 7 daily, 4 weekly and 12 monthly',
    describes: { directory: 'Directory for the backups, or off' },
    options: [
      new Option('--hours <number>', 'Hours between two backups').default('24'),
      noKeychain(),
      ...secretOptions(),
    ],
    run: async (config, flags, [directory = '']) =>
      (await import('./backup.ts')).scheduleBackups(config, directory, flags),
  });
  addSubcommand<SecretOptions>(program, {
    name: 'restore <file>',
    description: 'Restore a vault from a backup; never overwrites one',
    describes: { file: 'Backup file' },
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, [file = '']) =>
      (await import('./restore.ts')).restoreBackup(config, file, flags),
  });
}
