/** The declarations of `keyhearth policy`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface PolicyAskFlags {
  readonly replaceAll?: true;
  readonly withoutRoot?: true;
  readonly apiKey: string;
}

const asFlags = ({ replaceAll, withoutRoot }: PolicyAskFlags) => ({
  replaceAll: replaceAll === true,
  withoutRoot: withoutRoot === true,
});

export function declarePolicy(program: Command): void {
  const policy = program
    .command('policy')
    .description('check policies, and try them on what has happened, before they are made');
  addSubcommand(policy, {
    name: 'check <file>',
    description:
      'say what is wrong with the policies in a JSON file, each as create_policy takes it; - for standard input',
    run: async (_config, _options, json, [file = '']) => {
      const { checkPolicies } = await import('./policy.ts');
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
      description:
        'say what each policy makes of an activity, named by its id, or of a request that nobody has sent',
      options: [
        new Option('--body <file>', 'the body of a request, as it would be sent: nothing is executed'),
        new Option('--user <id>', 'whose request it would be; default: the API key’s user'),
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
