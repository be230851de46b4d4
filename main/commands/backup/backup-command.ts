/** The declarations of `keyhearth backup` and `keyhearth restore`. */
import { Option, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface BackupFlags extends SecretOptions {
  readonly force?: true;
}

export function declareBackup(program: Command): void {
  const backup = addSubcommand<BackupFlags>(program, {
    name: 'backup [file]',
    description: 'Create an encrypted backup of the whole vault; by default in the scheduled directory',
    describes: { file: 'New backup file; default: a dated name in the scheduled directory' },
    options: [new Option('--force', 'Overwrite an existing backup'), noKeychain(), ...secretOptions()],
    run: async (config, { force, ...flags }, json, [file]) => {
      const { backUp } = await import('./backup.ts');
      await backUp(config, file, { ...flags, force: force === true, json });
    },
  });
  addSubcommand<SecretOptions>(backup, {
    name: 'verify <file>',
    description: 'Test that a backup restores, in memory; the vault stays as it is',
    describes: { file: 'Backup file' },
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { verifyBackup } = await import('./backup.ts');
      await verifyBackup(config, file, { ...flags, json });
    },
  });
  addSubcommand(backup, {
    name: 'status',
    description: 'List the backups, their age and the next due date',
    run: async (config, _options, json) => {
      const { backupStatus } = await import('./backup.ts');
      await backupStatus(config, json);
    },
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
    run: async (config, { hours, ...flags }, json, [directory = '']) => {
      const { scheduleBackups } = await import('./backup.ts');
      await scheduleBackups(config, directory, { ...flags, hours, json });
    },
  });
  addSubcommand<SecretOptions>(program, {
    name: 'restore <file>',
    description: 'Restore a vault from a backup; never overwrites one',
    describes: { file: 'Backup file' },
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { restoreBackup } = await import('./restore.ts');
      await restoreBackup(config, file, { ...flags, json });
    },
  });
}
