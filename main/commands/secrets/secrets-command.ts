/** The declarations of `keyhearth secret` and `keyhearth run`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, sourceOptions, withoutAsking, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { ExportOptions } from '../wallets/hand-out.ts';
import type { RunOptions } from './run.ts';
import type { SetSecretOptions } from './secrets.ts';

export function declareSecret(program: Command): void {
  const secret = program
    .command('secret')
    .alias('secrets')
    .description('Keep passwords and tokens of programs in the vault');
  addSubcommand<SetSecretOptions>(secret, {
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
    run: async (config, flags, [name = '']) => (await import('./secrets.ts')).setSecret(config, name, flags),
  });
  addSubcommand<ExportOptions>(secret, {
    name: 'get <secret>',
    description: 'Write the value of a secret to a pipe, a file or the terminal',
    options: [
      new Option('--output <file>', 'Write the value to a new file that only you can read'),
      new Option('--yes', 'Show the value without confirmation'),
      apiKey(),
    ],
    run: async (config, flags, [wanted = '']) =>
      (await import('./secrets.ts')).getSecret(config, wanted, flags),
  });
  addSubcommand<ApiOptions>(secret, {
    name: 'list',
    description: 'List the secrets, without their values',
    options: [apiKey()],
    run: async (config, flags) => (await import('./secrets.ts')).listSecrets(config, flags),
  });
  addSubcommand<ApiOptions & { readonly yes?: boolean }>(secret, {
    name: 'rm <secrets...>',
    description: 'Delete secrets',
    options: [withoutAsking(), apiKey()],
    run: async (config, flags, wanted) => (await import('./secrets.ts')).removeSecrets(config, wanted, flags),
  });
}

export function declareRun(program: Command): void {
  addSubcommand<RunOptions>(program, {
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
    run: async (config, flags, command) => (await import('./run.ts')).run(config, command, flags),
  });
}
