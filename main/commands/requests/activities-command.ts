/** The declarations of `keyhearth activities`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { ListActivitiesOptions } from './activities.ts';

export function declareActivities(program: Command): void {
  const activities = program
    .command('activities')
    .description('what was asked of the vault, and what came of it');
  addSubcommand<Omit<ListActivitiesOptions, 'json'>>(activities, {
    name: 'list',
    description: 'list activities, the newest first',
    options: [
      new Option('--limit <number>', 'how many at most').default('20'),
      repeatable('--status <status>', 'only those that are completed, failed, rejected or consensus-needed'),
      repeatable('--type <type>', 'only those of a type, such as sign-transaction-v2'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { listActivities } = await import('./activities.ts');
      await listActivities(config, { ...flags, json });
    },
  });
  addSubcommand<{ readonly apiKey: string }>(activities, {
    name: 'show <activity>',
    description:
      'describe what an activity does, who voted and what came of it; named by id, or how the id begins',
    options: [apiKey()],
    run: async (config, flags, json, [activity = '']) => {
      const { showActivity } = await import('./activities.ts');
      await showActivity(config, activity, { ...flags, json });
    },
  });
}
