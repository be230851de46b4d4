/** The declarations of `keyhearth policies`. */
import { Option, type Command } from 'commander';
import { apiKey, withoutAsking, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreatePolicyOptions } from './policies.ts';
import type { ExplainOptions, TestOptions } from './policy-test.ts';

export function declarePolicies(program: Command): void {
  const policies = program
    .command('policies')
    .alias('policy')
    .description('Manage policies, and test drafts of them');
  declareLife(policies);
  declareTrials(policies);
}

/** Declares the commands that list and change the policies in force. */
function declareLife(policies: Command): void {
  addSubcommand<ApiOptions>(policies, {
    name: 'list',
    description: 'List the policies',
    options: [apiKey()],
    run: async (config, flags) => (await import('./policies.ts')).listPolicies(config, flags),
  });
  addSubcommand<ApiOptions>(policies, {
    name: 'show <policy>',
    description: 'Show a policy',
    options: [apiKey()],
    run: async (config, flags, [policy = '']) =>
      (await import('./policies.ts')).showPolicy(config, policy, flags),
  });
  addSubcommand<CreatePolicyOptions>(policies, {
    name: 'create [file]',
    description: 'Create all policies of a JSON file, or one from options',
    describes: { file: 'JSON file with one or more policies; - for standard input' },
    options: [
      new Option('--name <name>', 'Name of the policy'),
      new Option('--effect <effect>', 'Effect when the policy applies').choices(['allow', 'deny']),
      new Option('--condition <expression>', 'Activities that the policy applies to; default: all'),
      new Option('--consensus <expression>', 'Approvals that the policy requires'),
      new Option('--time <expression>', 'Times when the policy is in force; default: always'),
      new Option('--notes <text>', 'Notes'),
      apiKey(),
    ],
    run: async (config, flags, [file]) => (await import('./policies.ts')).createPolicies(config, file, flags),
  });
  addSubcommand<ApiOptions & { readonly yes?: boolean }>(policies, {
    name: 'delete <policies...>',
    description: 'Delete policies, all or none',
    options: [withoutAsking(), apiKey()],
    run: async (config, flags, named) => (await import('./policies.ts')).deletePolicies(config, named, flags),
  });
}

/** Declares the commands that try drafts. */
function declareTrials(policy: Command): void {
  addSubcommand(policy, {
    name: 'check <file>',
    description: 'Check the policies of a JSON file for errors',
    describes: { file: 'JSON file with one or more policies; - for standard input' },
    run: async (_config, { json }, [file = '']) => {
      const { checkPolicies } = await import('./policy-check.ts');
      checkPolicies(file, json);
    },
  });
  const asking = (): readonly Option[] => [
    new Option('--replace-all', 'Ignore the policies in force'),
    new Option('--without-root', 'Evaluate as if no user were in the root quorum'),
    apiKey(),
  ];
  addSubcommand<TestOptions>(policy, {
    name: 'test <file>',
    description: 'Replay past activities with the policies of a JSON file, and show what changes',
    describes: { file: 'JSON file with one or more policies; - for standard input' },
    options: [
      new Option(
        '--against <activities>',
        'Newest activities of the log to replay, last:1 to last:1000',
      ).default('last:100'),
      ...asking(),
    ],
    run: async (config, flags, [file = '']) =>
      (await import('./policy-test.ts')).testPolicies(config, file, flags),
  });
  addSubcommand<ExplainOptions>(policy, {
    name: 'explain [activity]',
    description: 'Explain how each policy decides an activity or a draft request',
    describes: { activity: 'Activity: ID or start of the ID; or use --body' },
    options: [
      new Option('--body <file>', 'Body of a draft request; nothing is executed'),
      new Option('--user <user>', 'User of the draft request; default: the API key’s user'),
      new Option('--with <file>', 'Add the policies of a JSON file to those in force'),
      ...asking(),
    ],
    run: async (config, flags, [activity]) =>
      (await import('./policy-test.ts')).explainPolicies(config, activity, flags),
  });
}
