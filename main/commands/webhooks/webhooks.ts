/** `keyhearth webhooks`: endpoints, deliveries, and a receiver for trying them out. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { verifyEd25519 } from '../../crypto/keys/ed25519.ts';
import { Connection } from '../../storage/connection.ts';
import { getServerKey } from '../../storage/tables/server-keys.ts';
import type { Answer } from '../../operations/api.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { findNamed, isBeginning, Listing } from '../shared/named.ts';
import { dataDirectory } from '../vault/control.ts';
import { deliveryState } from '../messages/messages.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { table } from '../shared/table.ts';
import { untilSignalled } from '../shared/signals.ts';
import { defined } from '../../lib/defined.ts';

type Delivery = Answer<'list_webhook_deliveries'>['deliveries'][number];

export interface DeliveriesOptions extends ApiOptions {
  readonly endpoint?: string;
  readonly state?: Delivery['state'];
  readonly limit: string;
}

export interface ReplayOptions extends ApiOptions {
  readonly delivery?: string;
  readonly since?: string;
}

export interface ListenOptions extends ApiOptions {
  readonly port: string;
}

const endpointList = z.object({
  webhookEndpoints: z.array(
    z.object({ endpointId: z.string(), name: z.string(), url: z.string(), isActive: z.boolean() }),
  ),
});
export const endpointListing = new Listing(
  'webhook endpoint',
  async (api) => (await api.query('list_webhook_endpoints', endpointList, {})).webhookEndpoints,
  ({ endpointId: id, name }) => ({ id, name }),
);
const deliveriesAnswer = z.object({
  deliveries: z.array(
    z.looseObject({
      deliveryId: z.string(),
      endpointId: z.string(),
      activityId: z.string(),
      activityType: z.string(),
      state: z.string(),
      attempts: z.number(),
      lastResult: z.string().optional(),
    }),
  ),
});

const replays = activityKind({
  type: 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES',
  result: z.object({ count: z.number() }),
  options: {
    'parameters.endpointId': '<endpoint>',
    'parameters.sinceMs': '--since',
    'parameters.deliveryId': '--delivery',
  },
  isOfUseLater: true,
});

const endpointOnly = z.object({ endpointId: z.string() });
const tests = activityKind({
  type: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT',
  result: endpointOnly,
  options: { 'parameters.endpointId': '<endpoint>' },
  isOfUseLater: true,
});
const creates = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
  result: endpointOnly,
});
const deletes = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
  result: endpointOnly,
});

export async function listWebhooks(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const webhookEndpoints = await endpointListing.all(api);
  print(
    json,
    { webhookEndpoints },
    webhookEndpoints.length === 0
      ? 'No webhook endpoints.'
      : table(
          ['ID', 'Name', 'State', 'URL'],
          webhookEndpoints.map(({ endpointId, name, url, isActive }) => [
            endpointId,
            name,
            isActive ? { text: 'on', tone: 'good' } : { text: 'off', tone: 'quiet' },
            url,
          ]),
        ),
  );
}

export async function listWebhookDeliveries(
  config: Config,
  { apiKey, json, endpoint, state, limit }: DeliveriesOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const endpointId =
    endpoint === undefined ? undefined : (await endpointListing.find(api, endpoint)).endpointId;
  const { deliveries } = await api.query(
    'list_webhook_deliveries',
    deliveriesAnswer,
    {
      ...defined({ endpointId, state }),
      paginationOptions: { limit },
    },
    { endpointId: '--endpoint', 'paginationOptions.limit': '--limit' },
  );
  print(
    json,
    { deliveries },
    deliveries.length === 0
      ? 'No deliveries.'
      : table(
          ['ID', 'State', 'Attempts', 'Activity', 'Result'],
          deliveries.map(({ deliveryId, state: reached, attempts, activityType, lastResult = '' }) => [
            deliveryId,
            deliveryState(reached),
            String(attempts),
            activityType.replace('ACTIVITY_TYPE_', ''),
            lastResult,
          ]),
        ),
  );
}

const pageSize = 100;

/** @param wanted The delivery's id, or how it begins. @returns its id. */
async function findDelivery(api: VaultApi, endpointId: string, wanted: string): Promise<string> {
  const found = [];
  let after: string | undefined;
  do {
    const { deliveries } = await api.query('list_webhook_deliveries', deliveriesAnswer, {
      endpointId,
      paginationOptions: { limit: String(pageSize), ...defined({ after }) },
    });
    // There may be very many, of which an error would list the first.
    found.push(
      ...deliveries.filter(({ deliveryId }) => deliveryId === wanted || isBeginning(wanted, deliveryId)),
    );
    after = deliveries.length < pageSize ? undefined : deliveries.at(-1)?.deliveryId;
  } while (after !== undefined);
  return findNamed('delivery', wanted, found, ({ deliveryId }) => ({ id: deliveryId })).deliveryId;
}

export async function replayWebhooks(
  config: Config,
  endpoint: string,
  { apiKey, json, delivery, since }: ReplayOptions,
): Promise<void> {
  const time = since === undefined ? undefined : Date.parse(since);
  if ((delivery === undefined) === (time === undefined) || Number.isNaN(time)) {
    throw new CommandError(
      exitCodes.usage,
      'expected either --delivery <id>, or --since <time> like 2026-01-31T12:00:00Z',
    );
  }
  const api = await VaultApi.connect(config, apiKey);
  const { endpointId } = await endpointListing.find(api, endpoint);
  const deliveryId = delivery === undefined ? undefined : await findDelivery(api, endpointId, delivery);
  const { count } = await api.submit(replays, {
    endpointId,
    ...defined({ deliveryId }),
    ...(time === undefined ? {} : { sinceMs: String(time) }),
  });
  print(json, { count }, `Sending ${String(count)} ${count === 1 ? 'event' : 'events'} again.`);
}

export async function testWebhook(
  config: Config,
  endpoint: string,
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { endpointId } = await endpointListing.find(api, endpoint);
  await api.submit(tests, { endpointId });
  print(json, { endpointId }, 'Sending a test event. See the result with: keyhearth webhooks deliveries');
}

/** Receives events on this machine until it is ended, and writes those whose signature holds. */
export async function listenToWebhooks(config: Config, { apiKey, json, port }: ListenOptions): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CommandError(exitCodes.usage, `invalid --port ${JSON.stringify(port)}: expected 0 to 65535`);
  }
  const directory = dataDirectory(config);
  const api = await VaultApi.connect(config, apiKey);
  const publicKey = readWebhookKey(directory);
  const server = createServer((request, response) => {
    void receive(request, publicKey).then((event) => {
      if (event === undefined) {
        note('Refused an event with an invalid signature.');
        response.writeHead(400).end();
        return;
      }
      print(
        json,
        event,
        `${event.type.replace('ACTIVITY_TYPE_', '')}  ${event.status.replace('ACTIVITY_STATUS_', '')}  ${event.id}`,
      );
      response.end();
    });
  });
  server.listen(Number(port), '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const { endpointId } = await api.submit(creates, {
    url,
    name: `keyhearth listen ${url.split(':').at(-1) ?? ''}`,
  });
  note(`Listening at ${url} as webhook endpoint ${endpointId}. Press Ctrl-C to stop.`);
  try {
    await untilSignalled(config);
  } finally {
    server.closeAllConnections();
    server.close();
    await api.submit(deletes, { endpointId });
  }
}

/** From the file, which no other user can write, and not from the sender. */
function readWebhookKey(directory: string): string {
  const connection = Connection.openReadOnly(join(directory, 'vault.db'));
  try {
    const key = getServerKey(connection, 'webhooks');
    if (key === undefined) throw new CommandError(exitCodes.failed, 'the vault has no key for webhooks yet');
    return key.publicKey;
  } finally {
    connection.close();
  }
}

const activityEvent = z.looseObject({ id: z.string(), type: z.string(), status: z.string() });
const largestEvent = 16 * 1024 * 1024;
const oldestMs = 5 * 60_000;

/** @returns undefined for what this vault did not sign just now. */
async function receive(
  request: IncomingMessage,
  publicKey: string,
): Promise<z.output<typeof activityEvent> | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > largestEvent) return undefined;
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    const header = (name: string): string => String(request.headers[`x-turnkey-${name}`]);
    const head = ['signature-version', 'signature-algorithm', 'signature-key-id', 'timestamp', 'event-id'];
    const signed = Buffer.concat([Buffer.from(`${head.map(header).join('.')}.`), body]);
    const signature = new Uint8Array(Buffer.from(header('signature'), 'hex'));
    if (!verifyEd25519(publicKey, signature, new Uint8Array(signed))) return undefined;
    if (Math.abs(Date.now() - Number(header('timestamp'))) > oldestMs) return undefined;
    return activityEvent.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined;
  }
}
