/** The declarations of `keyhearth settings`. */
import { Argument, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { settingNames, type SettingName } from './setting-names.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('Show and change settings: auto-lock, port, network and limits');
  const setting = (): Argument => new Argument('<name>', 'Name of the setting').choices(settingNames);
  addSubcommand(settings, {
    name: 'list',
    description: 'List all settings',
    run: async (config, { json }) => (await import('./settings.ts')).listSettings(config, json),
  });
  addSubcommand(settings, {
    name: 'get',
    description: 'Show a setting',
    operands: [setting()],
    run: async (config, { json }, [name]) =>
      (await import('./settings.ts')).getSetting(config, name as SettingName, json),
  });
  addSubcommand<SecretOptions>(settings, {
    name: 'set',
    description: 'Change a setting',
    operands: [setting(), new Argument('<value>', 'New value: on, off, a number, never, usual or ask')],
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, [name, value = '']) =>
      (await import('./settings.ts')).setSetting(config, name as SettingName, value, flags),
  });
}
