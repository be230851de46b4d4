/**
 * Nothing of one organization can be reached from another. Every operation is called as the vendor's SDKs call it, in one
 * sub-organization; before that the same request is sent to its neighbour, by its neighbour, and by others who have no say.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { startOidcProvider } from '../sign-in/oidc-provider.ts';
import { sceneIn, sdkCalls } from '../vendor/sdk-calls.ts';
import type { Scene, SdkCall } from '../vendor/sdk-calls.ts';
import { newUserBy, resultOf, startTestVault, newSubOrganization } from '../support/support.ts';
import type { Answer, Json, TestVault, TestClient } from '../support/support.ts';
import { keptVendorOperations } from '../vendor/vendor-operations.ts';

/** Operations that are refused in a sub-organization. */
const notHere = new Set([
  'submit/create_sub_organization',
  // It would end the scene; what it leaves has a test of its own.
  'submit/delete_sub_organization',
]);

const calls = sdkCalls.filter(({ path }) => !notHere.has(path));
const newestTypes = new Map(keptVendorOperations().operations.map(({ path, type }) => [path, type]));

/** A sub-organization, a user of its root quorum, and what calls in it have left. */
interface Side {
  readonly client: TestClient;
  readonly scene: Scene;
  /** Every id that its answers have shown. */
  readonly ids: Set<string>;
  /** Names in its requests beside ids: addresses, bundles. */
  readonly names: Set<string>;
  /** The last that was sent to a user of it. */
  code: string;
}

let service: TestVault;
let own: Side;
let neighbour: Side;
let parent: TestClient;

const resources = new AsyncDisposableStack();

beforeAll(async () => {
  const oidc = resources.use(await startOidcProvider());
  // Nothing is tried where there is no network, and no use is written down: rows change by requests alone.
  const shell = { isOnline: () => false };
  service = resources.use(await startTestVault({ oidcIssuers: [oidc.issuer], substitutes: { shell } }));
  service.vault.lastUses.stop();
  service.vault.lastKeyUses.stop();
  parent = service.root;
  const newSide = async (name: string): Promise<Side> => {
    const { client, rootUserId } = await newSubOrganization(parent, name);
    const { organizationId, key } = client;
    const newUser = (userName: string) => newUserBy(client, userName);
    const inside = { ...service, organizationId, rootUserId, key, root: client, newUser };
    const scene = await sceneIn(inside, oidc);
    const ids = new Set([organizationId, rootUserId]);
    const side: Side = {
      client,
      scene: { ...scene, code: () => Promise.resolve(side.code) },
      ids,
      names: new Set(),
      code: '',
    };
    return side;
  };
  own = await newSide('One');
  neighbour = await newSide('Another');
});
afterAll(() => resources.disposeAsync());

async function parametersOf(call: SdkCall, { scene }: Side): Promise<Json> {
  const { organizationId: _named, ...parameters } = (await call.parameters(scene)) as unknown as Json;
  // The vault's own organization may name this machine, but a sub-organization may not; this host does not
  // exist.
  return JSON.parse(
    JSON.stringify(parameters).replaceAll('http://127.0.0.1:9', 'https://hook.invalid'),
  ) as Json;
}

/** Sends parameters as some user, to some organization. */
function ask(
  client: TestClient,
  { path }: SdkCall,
  parameters: Json,
  organizationId = client.organizationId,
): Promise<Answer> {
  const type = newestTypes.get(path);
  const body =
    type == null
      ? { organizationId, ...parameters }
      : { type, organizationId, timestampMs: String(client.nextTimestamp()), parameters };
  return client.post(path, JSON.stringify(body));
}

/** Makes the same call as the side's own user, which succeeds, and keeps its result. */
async function execute(call: SdkCall, side: Side, parameters: Json): Promise<void> {
  const answer = await ask(side.client, call, parameters);
  expect(answer.status, answer.text).toBe(200);
  await service.vault.messages.settled();
  side.code = service.vault.messages.shown().at(-1)?.code ?? '';
  for (const id of idsIn(answer.body)) side.ids.add(id);
  const kept = call.keep?.(flat(call, answer) as never) ?? {};
  for (const [what, value] of Object.entries(kept)) {
    if (value === undefined) continue;
    side.scene.kept.set(what as never, value);
    side.names.add(value);
  }
}

/** The answer as the server SDK returns it. */
function flat({ path }: SdkCall, { body = {} }: Answer): Json {
  if (path.startsWith('query/')) return body;
  const { result } = body['activity'] as { readonly result: Json };
  const [first] = Object.values(result);
  return { ...body, ...(first as Json) };
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const idsIn = (value: unknown): string[] => JSON.stringify(value).match(uuids) ?? [];

/** Values of one organization that no answer has shown: they reach the user another way. */
const ofOne = new Set([
  'encryptedBundle',
  'otpId',
  'otpCode',
  'encryptedOtpBundle',
  'verificationToken',
  'fingerprint',
]);

/** Parameters of one side with one thing of another's in them, each such thing in its turn; by where it is. */
function* swapped(
  parameters: unknown,
  others: unknown,
  isOthers: (text: string, field: string) => boolean,
  field = '',
): Generator<readonly [at: string, parameters: unknown]> {
  if (typeof others === 'string') {
    if (others !== parameters && isOthers(others, field)) yield [field, others];
    return;
  }
  if (typeof parameters !== 'object' || parameters === null || typeof others !== 'object') return;
  for (const [key, member] of Object.entries(others ?? {})) {
    const mine = (parameters as Json)[key];
    const name = Array.isArray(parameters) ? field : key;
    for (const [at, changed] of swapped(mine, member, isOthers, name)) {
      const copy = Array.isArray(parameters) ? [...(parameters as unknown[])] : { ...parameters };
      (copy as Json)[key] = changed;
      yield [at, copy];
    }
  }
}

/** All rows of an organization, and when its credentials were used. */
function rowsOf(organizationId: string): Record<string, readonly unknown[]> {
  const { connection, lastUses } = service.vault;
  const tables = connection.all<{ name: string }>(
    `SELECT t.name AS name FROM pragma_table_list AS t WHERE t.schema = 'main' AND t.type = 'table'
       AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'organization_id')`,
  );
  const rows = tables.map(({ name }): [string, readonly unknown[]] => [
    name,
    connection.all<Json>(`SELECT * FROM "${name}" WHERE organization_id = ?`, organizationId),
  ]);
  return { ...Object.fromEntries(rows), uses: [...lastUses.of(connection, organizationId)] };
}

const codeOf = ({ body }: Answer): unknown => body?.['turnkeyErrorCode'];

test('there is a call for every operation that the SDKs know', () => {
  const called = new Set([...calls.map(({ path }) => path), ...notHere]);
  const known = [...operations.byPath.keys()].filter((path) => newestTypes.has(path));
  expect(known.filter((path) => !called.has(path))).toEqual([]);
});

let swaps = 0;

describe('what is of one organization is out of reach for', () => {
  test.each(calls)('$path', async (call) => {
    const operation = operations.byPath.get(call.path);
    const { organizationId } = own.client;
    const parameters = await parametersOf(call, own);
    const neighbours = await parametersOf(call, neighbour);
    const before = rowsOf(organizationId);

    // Its neighbor is a stranger in it.
    expect((await ask(neighbour.client, call, parameters, organizationId)).status).toBe(401);

    // Its parent reads, and submits what is for parents alone.
    if (operation?.kind === 'query') {
      const read = await ask(parent, call, parameters, organizationId);
      expect(read.status, read.text).toBe(200);
    } else if (operation?.authority.fromParent !== true) {
      const refused = await ask(parent, call, parameters, organizationId);
      expect([refused.status, codeOf(refused)]).toEqual([400, 'ORGANIZATION_MISMATCH']);
    }

    // The neighbor finds nothing of it, even where all else in the request is the neighbor's own.
    const isOwn = (text: string, field: string) =>
      own.ids.has(text) || own.names.has(text) || ofOne.has(field);
    for (const [at, mixed] of swapped(neighbours, parameters, isOwn)) {
      const refused = await ask(neighbour.client, call, mixed as Json);
      expect(refused.status, `${at}: ${refused.text}`).toBeGreaterThanOrEqual(400);
      expect(refused.status, `${at}: ${refused.text}`).toBeLessThan(500);
      swaps++;
    }
    expect(rowsOf(organizationId), 'something of it was changed').toEqual(before);

    // The neighbor's answers about its own resources have nothing of it.
    await execute(call, neighbour, neighbours);
    expect([...neighbour.ids].filter((id) => own.ids.has(id))).toEqual([]);
    await execute(call, own, parameters);
    expect([...own.ids].filter((id) => neighbour.ids.has(id))).toEqual([]);
  });

  test('each other’s users, keys, tags, wallets, accounts, policies and activities, each by its id', () => {
    expect(swaps).toBeGreaterThanOrEqual(50);
  });

  test('its deletion: all of it goes, and nothing of its neighbour', async () => {
    const { client } = own;
    const neighbours = rowsOf(neighbour.client.organizationId);
    resultOf(
      await client.submit('delete_sub_organization', 'DELETE_SUB_ORGANIZATION', {
        deleteWithoutExport: true,
      }),
    );
    const left = Object.entries(rowsOf(client.organizationId)).filter(([, rows]) => rows.length > 0);
    // The log is append-only, what is on its way still goes out, and a use in memory shows nothing once its key is gone.
    const stays = ['activities', 'outbox', 'outbox_payloads', 'uses'];
    expect(left.map(([table]) => table).filter((table) => !stays.includes(table))).toEqual([]);
    expect(rowsOf(neighbour.client.organizationId)).toEqual(neighbours);
    expect(service.vault.guard.verifyNow()).toEqual([]);
  });
});
