/** The declarations of `keyhearth ssh`, `keyhearth git` and `keyhearth takeover`. */
import { Option, type Command } from 'commander';
import { apiKey, ownerOptions, secretOptions, sourceOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { GitSetupOptions } from './git-setup.ts';
import type { KeysOptions } from './keys.ts';
import type { SetupOptions } from './setup.ts';
import type { TakeoverOptions } from './takeover.ts';

const programOption = (): Option => new Option('--program <name>', 'Paired program; default: the only one');
const yes = (): Option => new Option('--yes', 'Write without confirmation');

interface ProgramOptions {
  readonly program?: string;
}

export function declareSsh(program: Command): void {
  const ssh = program.command('ssh').description('Use keys of the vault with SSH');
  addSubcommand<ProgramOptions>(ssh, {
    name: 'agent',
    description: 'Print the line that points a shell at the agent',
    options: [programOption()],
    run: async (config, { program, json }) => (await import('./keys.ts')).showAgent(config, program, json),
  });
  addSubcommand<KeysOptions>(ssh, {
    name: 'keys',
    description: 'List the keys of the agent as authorized_keys has them, or change which it offers',
    options: [
      programOption(),
      new Option('--add <private-key>', 'Offer a private key: ID, start of the ID, or name'),
      new Option('--remove <private-key>', 'Stop offering a private key'),
      ...ownerOptions(),
    ],
    run: async (config, flags) => (await import('./keys.ts')).changeKeys(config, flags),
  });
  addSubcommand<SetupOptions>(ssh, {
    name: 'setup',
    description: 'Show the entry for ~/.ssh/config, then write it',
    options: [
      programOption(),
      new Option('--host <pattern>', 'Hosts to use the agent for').default('*'),
      yes(),
    ],
    run: async (config, flags) => (await import('./setup.ts')).setUpSsh(config, flags),
  });
  addSubcommand(ssh, {
    name: 'status',
    description: 'Show whether the door is on, and its programs',
    run: async (config, { json }) => (await import('../doors/doors.ts')).listDoors(config, json, 'ssh'),
  });
  addSubcommand<{ readonly socket: string }>(ssh, {
    name: 'sign <arguments...>',
    description: 'Sign for git; keyhearth-ssh-sign runs this',
    describes: { arguments: 'Arguments that git gives ssh-keygen, after --' },
    options: [new Option('--socket <path>', 'Socket of the program').makeOptionMandatory()],
    run: async (_config, { socket }, given) => (await import('./sign-for-git.ts')).signForGit(socket, given),
  });
}

export function declareGit(program: Command): void {
  const git = program.command('git').description('Sign commits and tags with keys of the vault');
  addSubcommand<GitSetupOptions>(git, {
    name: 'setup',
    description: 'Show the settings for git, then write them',
    options: [
      programOption(),
      new Option('--global', 'Write for all repositories of this user; default: the one of this directory'),
      new Option('--key <name>', 'Name of the key to sign with; default: the only one'),
      new Option('--email <email>', 'Email address to verify as; default: that of git'),
      yes(),
    ],
    run: async (config, flags) => (await import('./git-setup.ts')).setUpGit(config, flags),
  });
}

export function declareTakeover(program: Command): void {
  addSubcommand<TakeoverOptions>(program, {
    name: 'takeover',
    description: 'Import the key files of ~/.ssh, and delete them once a backup is tested',
    options: [
      new Option('--directory <directory>', 'Directory of the key files; default: ~/.ssh'),
      ...sourceOptions('passphrase', 'passphrase of the key files'),
      new Option('--yes', 'Import without confirmation, and delete nothing'),
      new Option('--delete', 'Create and test a backup, then delete the imported files without confirmation'),
      new Option('--backup <file>', 'File of the backup; default: a new name in the backup directory'),
      apiKey(),
      ...secretOptions(),
    ],
    run: async (config, flags) => (await import('./takeover.ts')).takeOver(config, flags),
  });
}
