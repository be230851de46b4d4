/**
 * Places tell nothing of others. Every number that names a row of the log or of a list counts the rows of all organizations;
 * a sub-organization that learned one of them would know how much the others do.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deliveryIds } from '../../main/storage/tables/webhook-deliveries.ts';
import { newWallet, startTestVault, newSubOrganization } from '../support/support.ts';
import type { Json, TestVault, TestClient } from '../support/support.ts';
import { openStream } from '../support/streams.ts';

let service: TestVault;
let apart: TestClient;

beforeAll(async () => {
  service = await startTestVault({ substitutes: { shell: { isOnline: () => false } } });
  ({ client: apart } = await newSubOrganization(service.root));
});
afterAll(() => service[Symbol.asyncDispose]());

const tag = (client: TestClient, name: string) =>
  client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: name, userIds: [] });

/** Every number in an answer that may name a row: small ones are revisions and counts of what is its own. */
function numbersIn(value: unknown, field = ''): number[] {
  if (typeof value === 'number') return field === 'intentSize' || value < 10 ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => numbersIn(member, name));
}

/** All row numbers that a sub-organization sees: as numbers, and in ids that contain numbers. */
async function toldIn(client: TestClient): Promise<number[]> {
  const ask = async (path: string, body: Json = {}): Promise<Json> => {
    const answer = await client.query(path, body);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    return answer.body ?? {};
  };
  const outline = await ask('outline_activities');
  const places = placesIn(outline);
  const { wallets } = await ask('list_wallets');
  const [{ walletId = '' } = {}] = wallets as readonly Partial<Record<string, string>>[];
  const accounts = await ask('outline_wallet_accounts', { walletId });
  const lines = await ask('browse_activities', { places });
  const [{ id: activityId } = { id: '' }] = lines['lines'] as readonly { readonly id: string }[];
  const entries = await ask('get_activity_entries', { activityId });
  expect(JSON.stringify(entries)).not.toMatch(/"(hash|previousHash|head)"/);
  const { deliveries } = await ask('list_webhook_deliveries');
  const ids = (deliveries as readonly { readonly deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
  for (const deliveryId of ids) await ask('get_webhook_delivery', { deliveryId });
  const parts = [];
  for (let before: unknown; ;) {
    const { export: part } = (await ask('export_activities', {
      format: 'CSV',
      ...(before === undefined ? {} : { before }),
    })) as { export: { lines: readonly string[]; next?: number } };
    parts.push(...part.lines.map((line) => Number(line.slice(0, line.indexOf(',')))));
    if ((before = part.next) === undefined) break;
  }
  const stream = await openStream(client, { lastEventId: '0' });
  await vi.waitFor(() => {
    expect(stream.events.length).toBeGreaterThanOrEqual(places.length);
  });
  stream.close();
  return [
    ...numbersIn([
      outline,
      accounts,
      lines,
      entries,
      await ask('browse_wallet_accounts', { walletId, places: placesIn(accounts) }),
    ]),
    ...parts.filter(Number.isFinite),
    ...ids.map((id) => Number.parseInt(id.slice(0, 13).replace('-', ''), 16)),
    ...stream.events.map(({ id }) => Number(id)),
  ];
}

const placesIn = ({ outline }: Json): number[] =>
  (outline as { readonly blocks: readonly { readonly runs: readonly [number, number][] }[] }).blocks
    .flatMap(({ runs }) => runs)
    .flatMap(([first, last]) => (first === last ? [first] : [first, last]));

test('no number in an answer to a sub-organization is near that of a row', async () => {
  await apart.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url: 'https://hook.invalid/',
    name: 'Hook',
  });
  for (let count = 0; count < 40; count++) {
    await tag(service.root, `of the vault ${String(count)}`);
    if (count % 10 === 0) await newWallet(count === 20 ? apart : service.root, `wallet ${String(count)}`);
  }
  await tag(apart, 'mine');
  const { connection } = service.vault;
  const end = (table: string): number =>
    connection.get<{ end: number }>(`SELECT max(sequence) AS end FROM ${table}`)?.end ?? 0;
  const highest = Math.max(end('activities'), end('wallet_accounts'));
  const told = await toldIn(apart);
  expect(told.length).toBeGreaterThan(20);
  // Of 2^48 numbers, one among the first few thousand is a chance of less than one in a thousand million.
  expect(told.filter((each) => each <= 10 * highest)).toEqual([]);
  // A check that the test finds numbers: the vault's own organization sees them, since it may see every row.
  const outline = await service.root.query('outline_activities');
  expect(Math.max(...numbersIn(outline.body))).toBe(end('activities') - 1);
});

test('places go on: lists page by page, deliveries by their ids, a stream where another ended', async () => {
  const whole = placesIn((await apart.query('outline_activities')).body ?? {});
  const [newest = 0, second = 0] = whole;
  const older = await apart.query('outline_activities', { before: newest });
  expect(placesIn(older.body ?? {})).toEqual(whole.slice(1));
  const newer = await apart.query('outline_activities', { after: second });
  expect(placesIn(newer.body ?? {})).toEqual([newest]);
  const stream = await openStream(apart, { lastEventId: '0' });
  await vi.waitFor(() => {
    expect(stream.events.length).toBeGreaterThanOrEqual(whole.length);
  });
  stream.close();
  const ids = stream.events.map(({ id }) => id);
  const again = await openStream(apart, {}, { 'Last-Event-ID': ids.at(-2) ?? '' });
  await vi.waitFor(() => {
    expect(again.events.map(({ id }) => id)).toEqual(ids.slice(-1));
  });
  again.close();
});

test('the vault’s own organization also sees the numbers of rows in a sub-organization, and the chain of hashes', async () => {
  const ask = async (path: string, body: Json = {}): Promise<Json> =>
    (await service.root.query(path, { organizationId: apart.organizationId, ...body })).body ?? {};
  const places = placesIn(await ask('outline_activities'));
  const last = service.vault.connection.get<{ last: number }>(
    'SELECT max(sequence) AS last FROM activities WHERE organization_id = ?',
    apart.organizationId,
  );
  expect(places[0]).toBe(last?.last);
  const { lines } = (await ask('browse_activities', { places: places.slice(0, 1) })) as {
    lines: readonly { readonly id: string }[];
  };
  const { entries } = await ask('get_activity_entries', { activityId: lines[0]?.id });
  expect(entries).toMatchObject([
    { place: last?.last, hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
  ]);
});

test('an id of an earlier version is refused in a sub-organization, with what to send instead', async () => {
  const body = JSON.stringify({ organizationId: apart.organizationId, lastEventId: '3' });
  const refused = await apart.post('stream/activities', body);
  expect([refused.status, refused.body?.['message']]).toEqual([
    400,
    'invalid lastEventId: this vault has sent no event 3 to this organization; leave it out to begin with what comes next, or send 0 to begin with the first',
  ]);
  // Row numbers no longer name a delivery either: delivery ids once contained them.
  const { endpointId } = service.vault.connection.get<{ endpointId: string }>(
    'SELECT id AS endpointId FROM webhook_endpoints WHERE organization_id = ?',
    apart.organizationId,
  ) ?? { endpointId: '' };
  const old = deliveryIds(service.vault.connection, service.organizationId).of(endpointId, 50);
  expect((await apart.query('get_webhook_delivery', { deliveryId: old })).status).toBe(404);
});
