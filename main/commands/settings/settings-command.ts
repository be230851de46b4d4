/** The declarations of `keyhearth settings`. */
import { Argument, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { settingNames, type SettingName } from './setting-names.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('how the vault behaves on this computer: when it locks, its port, what may leave it');
  const setting = (): Argument => new Argument('<name>', 'a setting').choices(settingNames);
  addSubcommand(settings, {
    name: 'list',
    description: 'show all settings',
    run: async (config, _options, json) => {
      const { listSettings } = await import('./settings.ts');
      await listSettings(config, json);
    },
  });
  addSubcommand(settings, {
    name: 'get',
    description: 'show a setting',
    operands: [setting()],
    run: async (config, _options, json, [name]) => {
      const { getSetting } = await import('./settings.ts');
      await getSetting(config, name as SettingName, json);
    },
  });
  addSubcommand<SecretOptions>(settings, {
    name: 'set',
    description: 'change a setting of the vault that runs unlocked, or of its file with what opens it',
    operands: [setting(), new Argument('<value>', 'on, off, a number, never, usual or ask')],
    options: [noKeychain(), ...secretOptions()],
    run: async (config, flags, json, [name, value = '']) => {
      const { setSetting } = await import('./settings.ts');
      await setSetting(config, name as SettingName, value, { ...flags, json });
    },
  });
}
