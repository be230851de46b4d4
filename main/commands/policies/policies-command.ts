/** The declarations of `keyhearth policies`. */
import { Option, type Command } from 'commander';
import { apiKey, withoutAsking } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreatePolicyOptions } from './policies.ts';

interface PolicyAskFlags {
  readonly replaceAll?: true;
  readonly withoutRoot?: true;
  readonly apiKey: string;
}

const asFlags = ({ replaceAll, withoutRoot }: PolicyAskFlags) => ({
  replaceAll: replaceAll === true,
  withoutRoot: withoutRoot === true,
});

export function declarePolicies(program: Command): void {
  const policies = program
    .command('policies')
    .alias('policy')
    .description('what users may do: list and create policies, and try drafts of them first');
  declareLife(policies);
  declareTrials(policies);
}

interface ApiFlags {
  readonly apiKey: string;
}

/** What lists and changes the policies in force. */
function declareLife(policies: Command): void {
  addSubcommand<ApiFlags>(policies, {
    name: 'list',
    description: 'list the policies in force',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listPolicies } = await import('./policies.ts');
      await listPolicies(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(policies, {
    name: 'show <policy>',
    description: 'show a policy; named by id, how the id begins, or name',
    options: [apiKey()],
    run: async (config, flags, json, [policy = '']) => {
      const { showPolicy } = await import('./policies.ts');
      await showPolicy(config, policy, { ...flags, json });
    },
  });
  addSubcommand<Omit<CreatePolicyOptions, 'json'>>(policies, {
    name: 'create [file]',
    description: 'create the policies in a JSON file, all or none, or the one that the options say',
    options: [
      new Option('--name <name>', 'name of the new policy'),
      new Option('--effect <effect>', 'what it does where it holds').choices(['allow', 'deny']),
      new Option('--condition <expression>', 'what it is about; everything unless given'),
      new Option('--consensus <expression>', 'who must have approved'),
      new Option('--time <expression>', 'when it is in force; always unless given'),
      new Option('--notes <text>', 'notes for people'),
      apiKey(),
    ],
    run: async (config, flags, json, [file]) => {
      const { createPolicies } = await import('./policies.ts');
      await createPolicies(config, file, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly yes?: true }>(policies, {
    name: 'delete <policies...>',
    description: 'delete policies, all or none',
    options: [withoutAsking(), apiKey()],
    run: async (config, { yes, ...flags }, json, named) => {
      const { deletePolicies } = await import('./policies.ts');
      await deletePolicies(config, named, { ...flags, yes: yes === true, json });
    },
  });
}

/** What tries drafts. */
function declareTrials(policy: Command): void {
  addSubcommand(policy, {
    name: 'check <file>',
    description:
      'say what is wrong with the policies in a JSON file, each as create_policy takes it; - for standard input',
    run: async (_config, _options, json, [file = '']) => {
      const { checkPolicies } = await import('./policy-check.ts');
      checkPolicies(file, json);
    },
  });
  const asking = (): readonly Option[] => [
    new Option('--replace-all', 'leave the policies in force out'),
    new Option('--without-root', 'ask what policies make of it had nobody been of the root quorum'),
    apiKey(),
  ];
  addSubcommand<PolicyAskFlags & { readonly against: string }>(policy, {
    name: 'test <file>',
    description:
      'replay past activities with the policies in a JSON file: what would be decided otherwise, and why',
    options: [
      new Option('--against <activities>', 'the newest so many of the log').default('last:100'),
      ...asking(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { testPolicies } = await import('./policy-test.ts');
      await testPolicies(config, file, { ...flags, ...asFlags(flags), json });
    },
  });
  addSubcommand<PolicyAskFlags & { readonly body?: string; readonly user?: string; readonly with?: string }>(
    policy,
    {
      name: 'explain [activity]',
      description: 'say what each policy makes of an activity, or of a request that nobody has sent',
      options: [
        new Option('--body <file>', 'the body of a request, as it would be sent: nothing is executed'),
        new Option('--user <user>', 'whose request it would be; default: the API key’s user'),
        new Option('--with <file>', 'policies in a JSON file, beside or in the place of those in force'),
        ...asking(),
      ],
      run: async (config, flags, json, [activity]) => {
        const { explainPolicies } = await import('./policy-test.ts');
        await explainPolicies(config, activity, { ...flags, ...asFlags(flags), json });
      },
    },
  );
}
