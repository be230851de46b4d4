/** The declarations of `keyhearth sessions`. */
import { Option, type Command } from 'commander';
import { apiKey, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { NewProfile } from './session-profiles.ts';

export function declareSessions(program: Command): void {
  const sessions = program.command('sessions').description('List and revoke sessions');
  const userOption = (text: string): Option => new Option('--user <user>', text);
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'list',
    description: 'List the active sessions',
    options: [userOption('Only sessions of this user')],
    run: async (config, { user, json }) => (await import('./sessions.ts')).listSessions(config, user, json),
  });
  addSubcommand<ApiOptions>(sessions, {
    name: 'profiles',
    description: 'List the session profiles',
    options: [apiKey()],
    run: async (config, flags) => (await import('./session-profiles.ts')).listProfiles(config, flags),
  });
  addSubcommand<NewProfile & ApiOptions>(sessions, {
    name: 'create-profile <name>',
    description: 'Create a profile that limits its sessions and never changes',
    describes: { name: 'Name of the profile' },
    options: [
      new Option(
        '--scope <condition>',
        'Condition that each activity of a session must meet',
      ).makeOptionMandatory(),
      new Option('--expires <seconds>', 'Longest life of a session'),
      new Option('--notes <text>', 'Notes for people'),
      apiKey(),
    ],
    run: async (config, flags, [name = '']) =>
      (await import('./session-profiles.ts')).createProfile(config, name, flags),
  });
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'revoke [ids...]',
    description: 'Revoke sessions',
    describes: { ids: 'Sessions: ID or start of the ID' },
    options: [userOption('Revoke all sessions of this user')],
    run: async (config, flags, ids) => (await import('./sessions.ts')).revokeSessions(config, ids, flags),
  });
}
