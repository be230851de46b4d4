/** The declarations of `keyhearth sessions`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';

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
