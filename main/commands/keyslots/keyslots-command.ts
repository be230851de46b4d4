/** The declarations of `keyhearth keyslots`. */
import { Option, type Command } from 'commander';
import type { ChangeOptions, RotateOptions } from './keyslots.ts';
import { ownerSecretOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type KeyslotFlags = Omit<ChangeOptions, 'json'>;

export function declareKeyslots(program: Command): void {
  const keyslots = program.command('keyslots').description('what opens the vault: list it, and change it');
  const newPassword = (): readonly Option[] => [
    new Option('--new-password-file <file>', 'read the new password from the first line of a file'),
    new Option('--new-password-fd <number>', 'read the new password from a file descriptor'),
  ];
  const output = (): Option =>
    new Option('--output <file>', 'write a new recovery phrase to this new file, for its owner alone');
  addSubcommand(keyslots, {
    name: 'list',
    description: 'show the keyslots: of which kind, made when, checked when',
    run: async (config, _options, json) => {
      const { listKeyslots } = await import('./keyslots.ts');
      await listKeyslots(config, json);
    },
  });
  addSubcommand<KeyslotFlags>(keyslots, {
    name: 'add <kind>',
    description: 'add a password, the keychain of this computer, or a recovery phrase (recovery)',
    options: [...newPassword(), output(), ...ownerSecretOptions()],
    run: async (config, flags, json, [kind = '']) => {
      const { addKeyslot } = await import('./keyslots.ts');
      await addKeyslot(config, kind, { ...flags, json });
    },
  });
  addSubcommand<KeyslotFlags>(keyslots, {
    name: 'change <keyslot>',
    description: 'put a new password or recovery phrase in the place of one, named by its id or kind',
    options: [...newPassword(), output(), ...ownerSecretOptions()],
    run: async (config, flags, json, [keyslot = '']) => {
      const { changeKeyslot } = await import('./keyslots.ts');
      await changeKeyslot(config, keyslot, { ...flags, json });
    },
  });
  addSubcommand<KeyslotFlags>(keyslots, {
    name: 'remove <keyslot>',
    description: 'remove a keyslot, named by its id or kind',
    options: ownerSecretOptions(),
    run: async (config, flags, json, [keyslot = '']) => {
      const { removeKeyslot } = await import('./keyslots.ts');
      await removeKeyslot(config, keyslot, { ...flags, json });
    },
  });
  addSubcommand<Omit<RotateOptions, 'json' | 'dropOthers'> & { readonly dropOthers?: true }>(keyslots, {
    name: 'rotate',
    description: 'replace the master key; keyslots stay whose secrets are given, and the keychain’s',
    options: [new Option('--drop-others', 'let the other keyslots go'), ...ownerSecretOptions()],
    run: async (config, flags, json) => {
      const { rotate } = await import('./keyslots.ts');
      await rotate(config, { ...flags, dropOthers: flags.dropOthers === true, json });
    },
  });
}
