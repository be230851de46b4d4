/** The declarations of `keyhearth activities`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { ListActivitiesOptions } from './activities.ts';

export function declareActivities(program: Command): void {
  const activities = program.command('activities').description('Show the activity log');
  addSubcommand<ListActivitiesOptions>(activities, {
    name: 'list',
    description: 'List activities, newest first',
    options: [
      new Option('--limit <number>', 'Maximum number of activities, up to 1000').default('20'),
      repeatable('--status <status>', 'Only this status: completed, failed, rejected or needs-approval'),
      repeatable('--type <type>', 'Only this type, such as sign-transaction-v2'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./activities.ts')).listActivities(config, flags),
  });
  addSubcommand<ApiOptions>(activities, {
    name: 'days',
    description: 'Count the signing requests of each of the last 30 days',
    options: [apiKey()],
    run: async (config, flags) => (await import('./activities.ts')).listSigningDays(config, flags),
  });
  addSubcommand<ApiOptions>(activities, {
    name: 'show <activity>',
    description: 'Show an activity, its votes and its result',
    options: [apiKey()],
    run: async (config, flags, [activity = '']) =>
      (await import('./activities.ts')).showActivity(config, activity, flags),
  });
}
