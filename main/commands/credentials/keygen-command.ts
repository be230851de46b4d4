/** The declaration of `keyhearth keygen`. */
import { Option, type Command } from 'commander';
import { secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface KeygenFlags extends SecretOptions {
  readonly name: string;
  readonly register?: true;
  readonly user?: string;
  readonly apiKey?: string;
}

export function declareKeygen(program: Command): void {
  addSubcommand<KeygenFlags>(program, {
    name: 'keygen',
    description: 'make an API key pair, as NAME.public and NAME.private',
    options: [
      new Option('--name <name>', 'name of the key and its files').makeOptionMandatory(),
      new Option(
        '--user <user>',
        'register the key for a user of the running vault, by id or name',
      ).conflicts('register'),
      new Option('--register', 'register the key for the owner, who may do anything'),
      new Option('--api-key <name>', 'key that registers it; default: owner, or a secret of the vault'),
      ...secretOptions(),
    ],
    run: async (config, { register, ...flags }, json) => {
      const { keygen } = await import('./keygen.ts');
      await keygen(config, { ...flags, register: register === true, json });
    },
  });
}
