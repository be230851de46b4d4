/** The declarations of `keyhearth webhooks`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { DeliveriesOptions, ListenOptions, ReplayOptions } from './webhooks.ts';

export function declareWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('where events are sent, what became of them, and a receiver to try it out');
  addSubcommand<{ readonly apiKey: string }>(webhooks, {
    name: 'list',
    description: 'list the webhook endpoints',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listWebhooks } = await import('./webhooks.ts');
      await listWebhooks(config, { ...flags, json });
    },
  });
  addSubcommand<Omit<DeliveriesOptions, 'json'>>(webhooks, {
    name: 'deliveries',
    description: 'list what became of events, newest first',
    options: [
      new Option('--endpoint <endpoint>', 'of one endpoint'),
      new Option('--state <state>', 'in one state').choices(['waiting', 'delivered', 'refused', 'parked']),
      new Option('--limit <number>', 'how many at most, 1 to 100').default('20'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { listWebhookDeliveries } = await import('./webhooks.ts');
      await listWebhookDeliveries(config, { ...flags, json });
    },
  });
  addSubcommand<Omit<ReplayOptions, 'json'>>(webhooks, {
    name: 'replay <endpoint>',
    description: 'send an event to an endpoint again, or all since a time',
    options: [
      new Option('--delivery <delivery>', 'one delivery'),
      new Option('--since <time>', 'every event since then, like 2026-01-31T12:00:00Z'),
      apiKey(),
    ],
    run: async (config, flags, json, [endpoint = '']) => {
      const { replayWebhooks } = await import('./webhooks.ts');
      await replayWebhooks(config, endpoint, { ...flags, json });
    },
  });
  addSubcommand<{ readonly apiKey: string }>(webhooks, {
    name: 'test <endpoint>',
    description: 'send an event to an endpoint, whatever it has subscribed to',
    options: [apiKey()],
    run: async (config, flags, json, [endpoint = '']) => {
      const { testWebhook } = await import('./webhooks.ts');
      await testWebhook(config, endpoint, { ...flags, json });
    },
  });
  addSubcommand<Omit<ListenOptions, 'json'>>(webhooks, {
    name: 'listen',
    description: 'receive events on this machine until ended, and write those whose signature holds',
    options: [new Option('--port <number>', 'port to listen on, 0 for any free one').default('0'), apiKey()],
    run: async (config, flags, json) => {
      const { listenToWebhooks } = await import('./webhooks.ts');
      await listenToWebhooks(config, { ...flags, json });
    },
  });
}
