/** The declarations of `keyhearth bots`. */
import { Option, type Command } from 'commander';
import { repeatable, secretOptions, withoutAsking } from '../shared/options.ts';
import type { OwnerOptions } from '../shared/owner-api.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddBotOptions } from './add-bot.ts';

/** The owner asks, where no key is named and there is none called owner. */
const ownerOptions = (): readonly Option[] => [
  new Option('--api-key <name>', 'name of the API key files; default: owner, or a secret of the vault'),
  ...secretOptions(),
];

type AddBotFlags = Omit<AddBotOptions, 'json' | 'resume'> & { readonly continue?: true };

export function declareBots(program: Command): void {
  const bots = program
    .command('bots')
    .description('programs that pay from one wallet within a budget, and do nothing else');
  addSubcommand<OwnerOptions>(bots, {
    name: 'list',
    description: 'list the bots, and what each may do',
    options: ownerOptions(),
    run: async (config, flags, json) => {
      const { listBots } = await import('./bots.ts');
      await listBots(config, { ...flags, json });
    },
  });
  addSubcommand<AddBotFlags>(bots, {
    name: 'add <name>',
    description: 'create a user, its policies and its key, and say what it may do',
    options: [
      new Option('--wallet <wallet>', 'wallet that it pays from, by id or name').makeOptionMandatory(),
      new Option(
        '--budget <budget>',
        'how much may leave the wallet, fees included, such as "0.05 ETH/day"; per hour, day or week',
      ).makeOptionMandatory(),
      repeatable('--to <address>', 'address that it may pay; any unless given'),
      new Option('--chain <number>', 'chain that it pays on, by its number').default('1'),
      new Option('--continue', 'go on with a bot that waited for approvals'),
      ...ownerOptions(),
    ],
    run: async (config, { continue: resume, ...flags }, json, [name = '']) => {
      const { addBot } = await import('./add-bot.ts');
      await addBot(config, name, { ...flags, resume: resume === true, json });
    },
  });
  addSubcommand<OwnerOptions & { readonly yes?: true }>(bots, {
    name: 'remove <bot>',
    description: 'delete a bot’s user, key and policies; named by id, how the id begins, or name',
    options: [withoutAsking(), ...ownerOptions()],
    run: async (config, { yes, ...flags }, json, [bot = '']) => {
      const { removeBot } = await import('./bots.ts');
      await removeBot(config, bot, { ...flags, yes: yes === true, json });
    },
  });
}
