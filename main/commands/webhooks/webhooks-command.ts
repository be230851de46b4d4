/** The declarations of `keyhearth webhooks`. */
import { Option, type Command } from 'commander';
import { apiKey, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { DeliveriesOptions, ListenOptions, ReplayOptions } from './webhooks.ts';

export function declareWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('Manage webhook deliveries, and receive test events');
  addSubcommand<ApiOptions>(webhooks, {
    name: 'list',
    description: 'List the webhook endpoints',
    options: [apiKey()],
    run: async (config, flags) => (await import('./webhooks.ts')).listWebhooks(config, flags),
  });
  addSubcommand<DeliveriesOptions>(webhooks, {
    name: 'deliveries',
    description: 'List the deliveries, newest first',
    options: [
      new Option('--endpoint <endpoint>', 'Only deliveries to this endpoint'),
      new Option('--state <state>', 'Only deliveries in this state').choices([
        'waiting',
        'delivered',
        'refused',
        'parked',
      ]),
      new Option('--limit <number>', 'Maximum number of deliveries, up to 100').default('20'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./webhooks.ts')).listWebhookDeliveries(config, flags),
  });
  addSubcommand<ReplayOptions>(webhooks, {
    name: 'replay <endpoint>',
    description: 'Send one event again, or all events since a time',
    options: [
      new Option('--delivery <delivery>', 'Delivery to send again'),
      new Option('--since <time>', 'Send all events since this time, such as 2026-01-31T12:00:00Z'),
      apiKey(),
    ],
    run: async (config, flags, [endpoint = '']) =>
      (await import('./webhooks.ts')).replayWebhooks(config, endpoint, flags),
  });
  addSubcommand<ApiOptions>(webhooks, {
    name: 'test <endpoint>',
    description: 'Send a test event to an endpoint',
    options: [apiKey()],
    run: async (config, flags, [endpoint = '']) =>
      (await import('./webhooks.ts')).testWebhook(config, endpoint, flags),
  });
  addSubcommand<ListenOptions>(webhooks, {
    name: 'listen',
    description: 'Receive and verify events on this computer until you press Ctrl-C',
    options: [new Option('--port <number>', 'Port to listen on; 0 for any free port').default('0'), apiKey()],
    run: async (config, flags) => (await import('./webhooks.ts')).listenToWebhooks(config, flags),
  });
}
