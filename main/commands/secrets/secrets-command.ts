/** The declarations of `keyhearth secret` and `keyhearth run`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, sourceOptions, withoutAsking } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { ExportOptions } from '../wallets/hand-out.ts';
import type { RunOptions } from './run.ts';
import type { SetSecretOptions } from './secrets.ts';

interface ApiFlags {
  readonly apiKey: string;
}

export function declareSecret(program: Command): void {
  const secret = program
    .command('secret')
    .alias('secrets')
    .description('Keep passwords and tokens of programs in the vault');
  addSubcommand<Omit<SetSecretOptions, 'json' | 'replace'> & { readonly replace?: true }>(secret, {
    name: 'set <name>',
    description: 'Store a secret; its value comes from standard input, a file or a prompt',
    describes: { name: 'Name of the secret' },
    discreet: true,
    options: [
      ...sourceOptions('value', 'value'),
      repeatable('--property <key=value>', 'Property that policies can read'),
      new Option('--replace', 'Replace the value of the secret of that name'),
      apiKey(),
    ],
    run: async (config, flags, json, [name = '']) => {
      const { setSecret } = await import('./secrets.ts');
      await setSecret(config, name, { ...flags, replace: flags.replace === true, json });
    },
  });
  addSubcommand<Omit<ExportOptions, 'json' | 'yes'> & { readonly yes?: true }>(secret, {
    name: 'get <secret>',
    description: 'Write the value of a secret to a pipe, a file or the terminal',
    options: [
      new Option('--output <file>', 'Write the value to a new file that only you can read'),
      new Option('--yes', 'Show the value without confirmation'),
      apiKey(),
    ],
    run: async (config, flags, json, [wanted = '']) => {
      const { getSecret } = await import('./secrets.ts');
      await getSecret(config, wanted, { ...flags, yes: flags.yes === true, json });
    },
  });
  addSubcommand<ApiFlags>(secret, {
    name: 'list',
    description: 'List the secrets, without their values',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listSecrets } = await import('./secrets.ts');
      await listSecrets(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly yes?: true }>(secret, {
    name: 'rm <secrets...>',
    description: 'Delete secrets',
    options: [withoutAsking(), apiKey()],
    run: async (config, flags, json, wanted) => {
      const { removeSecrets } = await import('./secrets.ts');
      await removeSecrets(config, wanted, { ...flags, yes: flags.yes === true, json });
    },
  });
}

export function declareRun(program: Command): void {
  addSubcommand<Omit<RunOptions, 'mask'> & { readonly mask: boolean }>(program, {
    name: 'run <command...>',
    description: 'Run a command with secrets in its environment, and mask them in its output',
    describes: { command: 'Command to run, after --' },
    options: [
      new Option(
        '--env <file>',
        'File of variables, NAME=value; keyhearth://SECRET becomes the value of a secret',
      ).makeOptionMandatory(),
      new Option('--no-mask', 'Leave the output alone; the command writes to the terminal itself'),
      apiKey(),
    ],
    run: async (config, flags, _json, command) => {
      const { run } = await import('./run.ts');
      await run(config, command, flags);
    },
  });
}
