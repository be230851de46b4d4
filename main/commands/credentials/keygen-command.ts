/** The declaration of `keyhearth keygen`. */
import { Option, type Command } from 'commander';
import { apiKeyOption, secretOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { KeygenOptions } from './keygen.ts';

export function declareKeygen(program: Command): void {
  addSubcommand<KeygenOptions>(program, {
    name: 'keygen',
    description: 'Generate an API key pair, NAME.public and NAME.private',
    options: [
      new Option('--name <name>', 'Name of the API key and its files').makeOptionMandatory(),
      new Option('--user <user>', 'Register the key for a user: ID, start of the ID, or name').conflicts(
        'register',
      ),
      new Option('--register', 'Register the key for the owner, who has every permission'),
      apiKeyOption('API key to register with; default: owner, or a secret of the vault'),
      ...secretOptions(),
    ],
    run: async (config, flags) => (await import('./keygen.ts')).keygen(config, flags),
  });
}
