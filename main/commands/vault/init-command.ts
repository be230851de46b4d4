/** The declaration of `keyhearth init`. */
import { Option, type Command } from 'commander';
import { noKeychain, passwordFd, passwordFile } from '../shared/options.ts';
import type { PasswordOptions } from '../shared/secrets.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface InitFlags extends PasswordOptions {
  readonly organization: string;
  readonly user: string;
  readonly email?: string;
  readonly keyName: string;
}

export function declareInit(program: Command): void {
  addSubcommand<InitFlags>(program, {
    name: 'init',
    description: 'Create a vault with its owner and their first API key',
    options: [
      new Option('--organization <name>', 'Name of the organization').default('My organization'),
      new Option('--user <name>', 'Name of the owner').default('Owner'),
      new Option('--email <address>', 'Email address of the owner'),
      new Option('--key-name <name>', 'Name of the owner’s API key and its files').default('owner'),
      noKeychain(),
      passwordFile(),
      passwordFd(),
    ],
    run: async (config, { organization, user, email, keyName, json, ...flags }) => {
      const { init } = await import('./init.ts');
      const { readPassword } = await import('../shared/secrets.ts');
      const password = readPassword(flags, config.credentialsDirectory);
      await init(config, {
        organization,
        user,
        keyName,
        json,
        ...defined({ email, password }),
      });
    },
  });
}
