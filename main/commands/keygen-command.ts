/** The declaration of `latchkey keygen`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from './subcommand.ts';

interface KeygenFlags {
  readonly name: string;
  readonly register?: true;
}

export function declareKeygen(program: Command): void {
  addSubcommand<KeygenFlags>(program, {
    name: 'keygen',
    description: 'make an API key pair, as NAME.public and NAME.private',
    options: [
      new Option('--name <name>', 'name of the key and its files').makeOptionMandatory(),
      new Option('--register', 'register the key for the owner in the running vault'),
    ],
    run: async (config, { name, register }, json) => {
      const { keygen } = await import('./keygen.ts');
      await keygen(config, { name, register: register === true, json });
    },
  });
}
