/** The declarations of `keyhearth keyslots`. */
import { Option, type Command } from 'commander';
import type { ChangeOptions, RotateOptions } from './keyslots.ts';
import { ownerSecretOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareKeyslots(program: Command): void {
  const keyslots = program
    .command('keyslots')
    .description('Manage what unlocks the vault: passwords, keychain and recovery phrase');
  const newPassword = (): readonly Option[] => [
    new Option('--new-password-file <file>', 'Read the new password from the first line of a file'),
    new Option('--new-password-fd <number>', 'Read the new password from a file descriptor'),
  ];
  const output = (): Option =>
    new Option('--output <file>', 'Write a new recovery phrase to a new file that only you can read');
  addSubcommand(keyslots, {
    name: 'list',
    description: 'List the keyslots, their kind and dates',
    run: async (config, { json }) => (await import('./keyslots.ts')).listKeyslots(config, json),
  });
  addSubcommand<ChangeOptions>(keyslots, {
    name: 'add <kind>',
    description: 'Add a keyslot',
    describes: { kind: 'Kind of the keyslot: password, keychain or recovery' },
    options: [...newPassword(), output(), ...ownerSecretOptions()],
    run: async (config, flags, [kind = '']) =>
      (await import('./keyslots.ts')).addKeyslot(config, kind, flags),
  });
  addSubcommand<ChangeOptions>(keyslots, {
    name: 'change <keyslot>',
    description: 'Replace a password or recovery phrase with a new one',
    options: [...newPassword(), output(), ...ownerSecretOptions()],
    run: async (config, flags, [keyslot = '']) =>
      (await import('./keyslots.ts')).changeKeyslot(config, keyslot, flags),
  });
  addSubcommand<ChangeOptions>(keyslots, {
    name: 'remove <keyslot>',
    description: 'Remove a keyslot',
    options: ownerSecretOptions(),
    run: async (config, flags, [keyslot = '']) =>
      (await import('./keyslots.ts')).removeKeyslot(config, keyslot, flags),
  });
  addSubcommand<RotateOptions>(keyslots, {
    name: 'rotate',
    description: 'Replace the master key; keeps the keychain and each keyslot whose secret you give',
    options: [
      new Option('--drop-others', 'Remove the keyslots whose secret you don’t give'),
      ...ownerSecretOptions(),
    ],
    run: async (config, flags) => (await import('./keyslots.ts')).rotate(config, flags),
  });
}
