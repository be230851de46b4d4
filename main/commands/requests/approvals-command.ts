/** The declarations of `keyhearth approvals`. */
import { Option, type Command } from 'commander';
import { spans } from './spans.ts';
import type { VoteOptions } from './approvals.ts';
import { apiKey, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('Review activities that need approval, and vote');
  addSubcommand<ApiOptions>(approvals, {
    name: 'list',
    description: 'List activities that need approval, newest first',
    options: [apiKey()],
    run: async (config, flags) => (await import('./approvals.ts')).listApprovals(config, flags),
  });
  addSubcommand<ApiOptions & { readonly preview?: boolean }>(approvals, {
    name: 'show <activity>',
    description: 'Show an activity, its votes, the policies that require them, and its result',
    describes: { activity: 'ID or fingerprint, or start of one' },
    options: [
      new Option(
        '--preview',
        'Also ask the node what the Ethereum transaction would do; nothing of it is verified',
      ),
      apiKey(),
    ],
    run: async (config, flags, [activity = '']) =>
      (await import('./approvals.ts')).showApproval(config, activity, flags),
  });
  for (const [how, description] of [
    ['approve', 'Show an activity and approve it'],
    ['reject', 'Show an activity and reject it permanently'],
  ] as const) {
    addSubcommand<VoteOptions>(approvals, {
      name: `${how} <activity>`,
      description,
      describes: { activity: 'ID or fingerprint, or start of one' },
      options: [
        ...(how === 'approve'
          ? [
              new Option(
                '--for <time>',
                'Also allow the like without asking, ten minutes or until midnight, at most until a lock',
              ).choices(Object.keys(spans)),
            ]
          : []),
        new Option('--yes', 'Vote without confirmation'),
        apiKey(),
      ],
      run: async (config, flags, [activity = '']) =>
        (await import('./approvals.ts')).vote(config, how, activity, flags),
    });
  }
}
