/** The declarations of `keyhearth sessions`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { NewProfile } from './session-profiles.ts';

export function declareSessions(program: Command): void {
  const sessions = program.command('sessions').description('List and revoke sessions');
  const userOption = (text: string): Option => new Option('--user <user>', text);
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'list',
    description: 'List the active sessions',
    options: [userOption('Only sessions of this user')],
    run: async (config, { user }, json) => {
      const { listSessions } = await import('./sessions.ts');
      await listSessions(config, user, json);
    },
  });
  addSubcommand<{ readonly apiKey: string }>(sessions, {
    name: 'profiles',
    description: 'List the session profiles',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listProfiles } = await import('./session-profiles.ts');
      await listProfiles(config, { ...flags, json });
    },
  });
  addSubcommand<NewProfile & { readonly apiKey: string }>(sessions, {
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
    run: async (config, flags, json, [name = '']) => {
      const { createProfile } = await import('./session-profiles.ts');
      await createProfile(config, name, { ...flags, json });
    },
  });
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'revoke [ids...]',
    description: 'Revoke sessions',
    describes: { ids: 'Sessions: ID or start of the ID' },
    options: [userOption('Revoke all sessions of this user')],
    run: async (config, flags, json, ids) => {
      const { revokeSessions } = await import('./sessions.ts');
      await revokeSessions(config, ids, { ...flags, json });
    },
  });
}
