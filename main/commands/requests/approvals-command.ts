/** The declarations of `keyhearth approvals`. */
import { Option, type Command } from 'commander';
import type { VoteOptions } from './approvals.ts';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type VoteFlags = Omit<VoteOptions, 'json' | 'yes'> & { readonly yes?: true };

export function declareApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('what waits for approvals: read it, and vote on it with an API key');
  addSubcommand<{ readonly apiKey: string }>(approvals, {
    name: 'list',
    description: 'list what waits, newest first, and whether it needs your vote',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listApprovals } = await import('./approvals.ts');
      await listApprovals(config, { ...flags, json });
    },
  });
  addSubcommand<{ readonly apiKey: string }>(approvals, {
    name: 'show <activity>',
    description:
      'tell what an activity does, who voted, and which policies asked for it; and its result once it is done',
    options: [apiKey()],
    run: async (config, flags, json, [activity = '']) => {
      const { showApproval } = await import('./approvals.ts');
      await showApproval(config, activity, { ...flags, json });
    },
  });
  for (const [how, description] of [
    ['approve', 'tell what an activity does, and approve of it: it is done as soon as enough have'],
    ['reject', 'tell what an activity does, and reject it for good'],
  ] as const) {
    addSubcommand<VoteFlags>(approvals, {
      name: `${how} <activity>`,
      description: `${description}; named by its id or fingerprint, or by how one of them begins`,
      options: [new Option('--yes', 'vote on a terminal without asking'), apiKey()],
      run: async (config, flags, json, [activity = '']) => {
        const { vote } = await import('./approvals.ts');
        await vote(config, how, activity, { ...flags, yes: flags.yes === true, json });
      },
    });
  }
}
