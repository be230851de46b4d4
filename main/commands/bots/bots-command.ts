/** The declarations of `keyhearth bots`. */
import { Option, type Command } from 'commander';
import { ownerOptions, repeatable, withoutAsking } from '../shared/options.ts';
import type { OwnerOptions } from '../shared/owner-api.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddBotOptions } from './add-bot.ts';

export function declareBots(program: Command): void {
  const bots = program
    .command('bots')
    .description('Manage programs that may pay from one wallet within a budget');
  addSubcommand<OwnerOptions>(bots, {
    name: 'list',
    description: 'List the bots and their permissions',
    options: ownerOptions(),
    run: async (config, flags) => (await import('./bots.ts')).listBots(config, flags),
  });
  addSubcommand<AddBotOptions>(bots, {
    name: 'add <name>',
    description: 'Create a bot: a user, its policies and its API key',
    describes: { name: 'Name of the bot, its user and its API key' },
    options: [
      new Option(
        '--wallet <wallet>',
        'Wallet to pay from: ID, start of the ID, or name',
      ).makeOptionMandatory(),
      new Option(
        '--budget <budget>',
        'Limit per hour, day or week, fees included, such as "0.05 ETH/day"',
      ).makeOptionMandatory(),
      repeatable('--to <address>', 'Address that the bot may pay; default: any'),
      new Option('--chain <number>', 'Chain ID of the network to pay on').default('1'),
      new Option('--continue', 'Continue after the approvals are given'),
      ...ownerOptions(),
    ],
    run: async (config, flags, [name = '']) => (await import('./add-bot.ts')).addBot(config, name, flags),
  });
  addSubcommand<OwnerOptions & { readonly yes?: boolean }>(bots, {
    name: 'remove <bot>',
    description: 'Delete a bot with its user, API key and policies',
    options: [withoutAsking(), ...ownerOptions()],
    run: async (config, flags, [bot = '']) => (await import('./bots.ts')).removeBot(config, bot, flags),
  });
}
