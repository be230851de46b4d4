/** The declarations of `keyhearth sessions`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareSessions(program: Command): void {
  const sessions = program.command('sessions').description('say who is signed in, and end it');
  const userOption = (text: string): Option => new Option('--user <user>', text);
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'list',
    description: 'list the sessions that have not ended',
    options: [userOption('of one user alone')],
    run: async (config, { user }, json) => {
      const { listSessions } = await import('./sessions.ts');
      await listSessions(config, user, json);
    },
  });
  addSubcommand<{ readonly user?: string }>(sessions, {
    name: 'revoke [ids...]',
    description: 'end sessions before their time',
    options: [userOption('all sessions of a user')],
    run: async (config, flags, json, ids) => {
      const { revokeSessions } = await import('./sessions.ts');
      await revokeSessions(config, ids, { ...flags, json });
    },
  });
}
