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
    description:
      'write the whole vault, encrypted, into one file; without a name into the directory of the schedule',
    options: [
      new Option('--force', 'replace an older backup of that name'),
      noKeychain(),
      ...secretOptions(),
    ],
    run: async (config, { force, ...flags }, json, [file]) => {
      const { backUp } = await import('./backup.ts');
      await backUp(config, file, { ...flags, force: force === true, json });
    },
  });
  addSubcommand<SecretOptions>(backup, {
    name: 'verify <file>',
    description: 'try a backup as a restore would, in memory: open, derive and compare everything',
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { verifyBackup } = await import('./backup.ts');
      await verifyBackup(config, file, { ...flags, json });
    },
  });
  addSubcommand(backup, {
    name: 'status',
    description: 'say which backups there are, how old they are, and when the next is due',
    run: async (config, _options, json) => {
      const { backupStatus } = await import('./backup.ts');
      await backupStatus(config, json);
    },
  });
  addSubcommand<SecretOptions & { readonly hours: string }>(backup, {
    name: 'schedule <directory>',
    description:
      'make backups into a directory while the service runs, keeping 7, 4 weekly and 12 monthly; or off',
    options: [
      new Option('--hours <number>', 'hours from one backup to the next').default('24'),
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
    description: 'make the vault of a backup anew, where there is none',
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { restoreBackup } = await import('./restore.ts');
      await restoreBackup(config, file, { ...flags, json });
    },
  });
}
