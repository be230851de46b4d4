/** Long lists: where what fits a search is, page by page, and all of it to take away. */
import { uncompressed } from '../../main/crypto/keys/secp256k1.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillAccounts, fillActivities } from '../support/long-lists.ts';
import { activityOf, newWallet, resultOf, startTestVault, newSubOrganization } from '../support/support.ts';
import type { Json, TestVault, TestClient } from '../support/support.ts';

const count = 1_500;

let service: TestVault;
let walletId: string;
let ethereum: string;
/** Asked for before any of the others. */
let waitingId: string;
let ann: { readonly userId: string; readonly client: TestClient };

beforeAll(async () => {
  service = await startTestVault();
  const { root, organizationId, rootUserId, vault } = service;
  ann = await service.newUser('Ann');
  ({ walletId, ethereum } = await newWallet(root));
  await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: ethereum,
    payload: 'of the wallet',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  await root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'Ann may with another',
    effect: 'EFFECT_ALLOW',
    consensus: 'approvers.count() >= 2',
    condition: 'true',
    notes: '',
  });
  waitingId = activityOf(
    await ann.client.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'Ann’s "own" tag',
      userIds: [],
    }),
  ).id;
  const place = { units: vault.units, organizationId };
  await fillActivities(place, { userId: rootUserId, count, from: 1_600_000_000_000, to: 1_700_000_000_000 });
  await fillAccounts(place, { walletId, count: 1_500, firstIndex: 1 });
});
afterAll(() => service[Symbol.asyncDispose]());

interface Block {
  readonly createdAt: { readonly seconds: string };
  readonly count: number;
  readonly runs: readonly (readonly [number, number])[];
}

/** All that an outline says, in as many parts as it takes. */
async function outline(
  operation: 'outline_activities' | 'outline_wallet_accounts',
  search: Json,
  client = service.root,
): Promise<readonly number[]> {
  const goOn = operation === 'outline_activities' ? 'before' : 'after';
  const found: number[] = [];
  let next: number | undefined;
  do {
    const { status, text, body } = await client.query(operation, {
      ...search,
      ...(next === undefined ? {} : { [goOn]: next }),
    });
    expect(status, text).toBe(200);
    const part = body?.['outline'] as { readonly blocks: readonly Block[]; readonly next?: number };
    for (const block of part.blocks) {
      const places = block.runs.flatMap(([first, last]) =>
        Array.from(
          { length: Math.abs(last - first) + 1 },
          (_, index) => first + Math.sign(last - first) * index,
        ),
      );
      expect(places).toHaveLength(block.count);
      expect(block.count).toBeLessThanOrEqual(100);
      found.push(...places);
    }
    next = part.next;
  } while (next !== undefined);
  return found;
}

interface Line {
  readonly place: number;
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly userName: string;
  readonly intent?: string;
  readonly intentSize: number;
}

async function browse(places: readonly number[], client = service.root): Promise<readonly Line[]> {
  const { status, text, body } = await client.query('browse_activities', { places });
  expect(status, text).toBe(200);
  return body?.['lines'] as readonly Line[];
}

/** The whole log: all activities, oldest first, as `list_activities` shows them. */
async function everything(): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (;;) {
    const { body } = await service.root.query('list_activities', {
      paginationOptions: { limit: '100', ...(all.length === 0 ? {} : { after: all.at(-1)?.['id'] }) },
    });
    const page = body?.['activities'] as readonly Json[];
    all.push(...page);
    if (page.length < 100) return all.reverse();
  }
}

describe('activities', () => {
  test('are found by the key that signed, whichever of its names they have', async () => {
    await using vault = await startTestVault();
    const { root } = vault;
    const wallet = await newWallet(root);
    const key = { privateKeyName: 'key', privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] };
    const { privateKeys } = resultOf(
      await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
        privateKeys: [{ ...key, curve: 'CURVE_SECP256K1' }],
      }),
    );
    const [{ privateKeyId, addresses } = { privateKeyId: '', addresses: [] }] = privateKeys;
    const found = (await root.query('get_private_key', { privateKeyId })).body?.['privateKey'] as Json;
    const listed = await root.query('list_wallet_accounts', { walletId: wallet.walletId });
    const accounts = listed.body?.['accounts'] as Json[];
    const formsOf = (publicKey: string): readonly string[] => {
      const forms = [publicKey, `0x${publicKey}`, publicKey.toUpperCase()];
      if (publicKey.length === 64) return forms;
      const full = uncompressed(new Uint8Array(Buffer.from(publicKey, 'hex')));
      return [...forms, `0X${Buffer.from(full).toString('hex')}`];
    };
    const names = {
      [wallet.walletId]: [
        wallet.ethereum,
        wallet.solana,
        ...accounts.flatMap(({ publicKey }) => formsOf(String(publicKey))),
      ],
      [privateKeyId]: [
        privateKeyId,
        privateKeyId.toUpperCase(),
        addresses[0]?.address ?? '',
        ...formsOf(String(found['publicKey'])),
      ],
    };
    for (const [about, all] of Object.entries(names)) {
      for (const name of all) {
        const before = await outline('outline_activities', { about }, root);
        const isEd25519 = name === wallet.solana || name.replace(/^0x/i, '').length === 64;
        const payload = {
          payload: 'text',
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: isEd25519 ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_SHA256',
        };
        const newer = { signWith: name, ...payload };
        activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', newer));
        const older = { privateKeyId: name, ...payload };
        activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD', older));
        const after = await outline('outline_activities', { about }, root);
        expect(after, name).toHaveLength(before.length + 2);
      }
    }
  });

  test('are outlined whole, the newest first, and shown by their places', async () => {
    const places = await outline('outline_activities', {});
    expect(places).toEqual([...places].sort((a, b) => b - a));
    const all = await everything();
    expect(places).toHaveLength(all.length);
    const shown: Line[] = [];
    for (let from = 0; from < places.length; from += 100) {
      shown.push(...(await browse(places.slice(from, from + 100))));
    }
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)));
    expect(shown.map(({ place }) => place)).toEqual(places);
  });

  const some: readonly (readonly [name: string, search: () => Json, fits: (activity: Json) => boolean])[] = [
    [
      'a type',
      () => ({ filterByType: ['ACTIVITY_TYPE_CREATE_WALLET'] }),
      ({ type }) => type === 'ACTIVITY_TYPE_CREATE_WALLET',
    ],
    [
      'a status',
      () => ({ filterByStatus: ['ACTIVITY_STATUS_FAILED'] }),
      ({ status }) => status === 'ACTIVITY_STATUS_FAILED',
    ],
    [
      'what waits',
      () => ({ filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] }),
      ({ status }) => status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    ],
    [
      'who asked',
      () => ({ userId: ann.userId }),
      ({ votes }) => (votes as Json[])[0]?.['userId'] === ann.userId,
    ],
    [
      'a time',
      () => ({ sinceMs: '1650000000000', untilMs: '1660000000000' }),
      ({ createdAt }) => {
        const seconds = Number((createdAt as Json)['seconds']);
        return seconds >= 1_650_000_000 && seconds < 1_660_000_000;
      },
    ],
    [
      'a text',
      () => ({ text: 'WALLET no. 12' }),
      ({ intent }) => /wallet no\. 12/i.test(JSON.stringify(intent)),
    ],
    [
      'a text with what LIKE and JSON take for more than itself',
      () => ({ text: '’s "own" tag' }),
      ({ id }) => id === waitingId,
    ],
    [
      'an address without its 0x, in another case',
      () => ({ text: ethereum.slice(2).toUpperCase() }),
      ({ intent, result }) => JSON.stringify([intent, result]).includes(ethereum),
    ],
    [
      'the digits of an address inside of something longer, by the address',
      () => ({ text: `0x${waitingId.slice(24)}` }),
      ({ id }) => id === waitingId,
    ],
    [
      'the wallet that signed, or that the request or the result names',
      () => ({ about: walletId }),
      ({ intent, result }) => {
        const text = JSON.stringify([intent, result]);
        return text.includes(walletId) || text.includes(ethereum);
      },
    ],
    [
      'nothing about what is not there',
      () => ({ about: '00000000-0000-4000-8000-000000000000' }),
      () => false,
    ],
    ['no text that is not there', () => ({ text: '%' }), () => false],
    [
      'several at once',
      () => ({
        filterByType: ['ACTIVITY_TYPE_CREATE_WALLET', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
        filterByStatus: ['ACTIVITY_STATUS_FAILED'],
        sinceMs: '1650000000000',
        text: 'message',
      }),
      ({ status, type, createdAt }) =>
        status === 'ACTIVITY_STATUS_FAILED' &&
        type === 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' &&
        Number((createdAt as Json)['seconds']) >= 1_650_000_000,
    ],
  ];

  let before: readonly Json[] | undefined;
  test.each(some)('are found by %s', async (_name, search, fits) => {
    const places = await outline('outline_activities', search());
    // The same for all of these.
    before ??= await everything();
    const expected = before.filter(fits).map(({ id }) => id);
    const shown = [];
    for (let from = 0; from < places.length; from += 100) {
      shown.push(...(await browse(places.slice(from, from + 100))));
    }
    expect(shown.map(({ id }) => id).sort()).toEqual(expected.sort());
  });

  test('that were voted on stay where they were asked for, as what they have become', async () => {
    const [place = 0] = await outline('outline_activities', {
      filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
    });
    const [before] = await browse([place]);
    expect(before).toMatchObject({
      id: waitingId,
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      userName: 'Ann',
    });
    const { fingerprint } = activityOf(
      await service.root.query('get_activity', { activityId: waitingId }),
    ) as Json;
    await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect(
      await outline('outline_activities', { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] }),
    ).toEqual([]);
    const done = await outline('outline_activities', { filterByStatus: ['ACTIVITY_STATUS_COMPLETED'] });
    expect(done).toContain(place);
    expect((await browse([place]))[0]).toMatchObject({ id: waitingId, status: 'ACTIVITY_STATUS_COMPLETED' });

    await service.vault.rpc.logState(true);
    const { body } = await service.root.query('get_activity_entries', { activityId: waitingId });
    const entries = body?.['entries'] as readonly Json[];
    expect(entries).toMatchObject([
      { place, revision: 1, status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', intact: true },
      { revision: 2, status: 'ACTIVITY_STATUS_COMPLETED', intact: true },
    ]);
    const newest = entries[1]?.['place'];
    const heads = entries.map(({ head }) => head as Json);
    for (const head of heads) expect(head['place']).toBeGreaterThanOrEqual(newest as number);
  });

  test('that are new come before all others', async () => {
    const [newest = 0] = await outline('outline_activities', {});
    expect(await outline('outline_activities', { after: newest })).toEqual([]);
    await newWallet(service.root, 'One more');
    const [place = 0, ...more] = await outline('outline_activities', { after: newest });
    expect(more).toEqual([]);
    expect(place).toBeGreaterThan(newest);
    expect(await browse([place])).toMatchObject([{ type: 'ACTIVITY_TYPE_CREATE_WALLET' }]);
  });

  test('with parameters that are too long for a line say how long they are', async () => {
    const payload = 'x'.repeat(9_000);
    const { ethereum } = await newWallet(service.root, 'To sign with');
    const encoding = { encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction: 'HASH_FUNCTION_KECCAK256' };
    await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: ethereum,
      payload,
      ...encoding,
    });
    const [place = 0] = await outline('outline_activities', {});
    const [line] = await browse([place]);
    expect(line).not.toHaveProperty('intent');
    expect(line).toMatchObject({ type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' });
    expect(line?.intentSize).toBeGreaterThan(9_000);
  });

  async function exported(search: Json): Promise<readonly string[]> {
    const lines: string[] = [];
    let next: number | undefined;
    do {
      const { status, text, body } = await service.root.query('export_activities', {
        ...search,
        ...(next === undefined ? {} : { before: next }),
      });
      expect(status, text).toBe(200);
      const part = body?.['export'] as { readonly lines: readonly string[]; readonly next?: number };
      expect(part.lines.length).toBeLessThanOrEqual(101);
      lines.push(...part.lines);
      next = part.next;
    } while (next !== undefined);
    return lines;
  }

  test('are exported as JSON, each as it is shown', async () => {
    const lines = await exported({ format: 'JSON', filterByType: ['ACTIVITY_TYPE_CREATE_WALLET'] });
    const expected = (await everything()).filter(({ type }) => type === 'ACTIVITY_TYPE_CREATE_WALLET');
    expect(lines.map((line) => JSON.parse(line) as Json)).toEqual([...expected].reverse());
  });

  test('are exported as CSV, under one head', async () => {
    const [head, ...lines] = await exported({ format: 'CSV' });
    expect(head).toBe(
      'place,activityId,type,status,createdAt,fingerprint,parameters,result,failure,userId,userName',
    );
    expect(lines).toHaveLength((await everything()).length);
    expect(lines.at(-1)).toMatch(/^1,[0-9a-f-]{36},ACTIVITY_TYPE_CREATE_USERS/);
    const failed = await exported({ format: 'CSV', filterByStatus: ['ACTIVITY_STATUS_FAILED'] });
    expect(failed).toHaveLength(1 + count / 100);
    expect(failed[1]).toContain(',a failure of a test,');
    expect(await exported({ format: 'CSV', text: 'nowhere' })).toEqual([head]);
  });

  test.each([
    ['no places', { places: [] }, 'places'],
    ['too many', { places: Array.from({ length: 101 }, () => 1) }, 'places'],
    ['what is no place', { places: [-1] }, 'places[0]'],
  ])('%s: refused by name', async (_name, parameters, field) => {
    const { status, body } = await service.root.query('browse_activities', parameters);
    expect(status).toBe(400);
    expect(body?.['message']).toContain(field);
  });
});

describe('wallet accounts', () => {
  test('are outlined in the order of creation, and shown by their places', async () => {
    const places = await outline('outline_wallet_accounts', { walletId });
    const own = await service.root.query('list_wallet_accounts', {
      walletId,
      paginationOptions: { limit: '100' },
    });
    const accounts = own.body?.['accounts'] as readonly Json[];
    const { body } = await service.root.query('browse_wallet_accounts', {
      walletId,
      places: places.slice(0, 100),
    });
    const lines = body?.['lines'] as readonly { readonly place: number; readonly account: Json }[];
    expect(lines.map(({ account }) => account)).toEqual(accounts);
    expect(lines.map(({ place }) => place)).toEqual(places.slice(0, 100));
  });

  test('are found by a text and a form of address', async () => {
    expect(await outline('outline_wallet_accounts', { walletId, text: 'customer 1000' })).toHaveLength(1);
    expect(await outline('outline_wallet_accounts', { walletId, text: '/0/77' })).toHaveLength(11);
    const filterByAddressFormat = ['ADDRESS_FORMAT_SOLANA'];
    const solana = await outline('outline_wallet_accounts', { walletId, filterByAddressFormat });
    const all = await outline('outline_wallet_accounts', { walletId });
    expect(solana.length).toBeLessThan(all.length);
    expect(all.length).toBeGreaterThanOrEqual(1_501);
  });

  test('get the next free path', async () => {
    const ethereum = { curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };
    const next = async (path: string, from?: number): Promise<Json | undefined> => {
      const asked = { walletId, ...ethereum, path, from };
      const { body } = await service.root.query('get_free_wallet_path', asked);
      return body;
    };
    expect(await next("m/44'/60'/0'/0/{i}")).toMatchObject({ path: "m/44'/60'/0'/0/1501", index: 1501 });
    expect(await next("m/44'/60'/{i}'/0/0")).toMatchObject({ index: 1 });
    expect(await next("m/44'/60'/7'/0/{i}")).toMatchObject({ path: "m/44'/60'/7'/0/0", index: 0 });
    expect(await next("m/44'/60'/0'/0/{i}", 1000)).toMatchObject({ index: 1501 });
    expect(await next("m/44'/60'/0'/0/{i}", 2 ** 31 - 1)).toMatchObject({ index: 2 ** 31 - 1 });
    const { status, body } = await service.root.query('get_free_wallet_path', {
      walletId,
      ...ethereum,
      path: 'm/0',
    });
    expect(status).toBe(400);
    expect(body?.['message']).toContain('path');
  });
});

/** The index of activities and the lists read a vote by its places in the text, since they must not parse megabytes of it. */
test('who asked, and their snapshot, are where the lists read them, in every row of the log', () => {
  const { connection } = service.vault;
  const wrong = connection.all(
    `SELECT sequence FROM activities WHERE votes <> '[]' AND
       (substr(votes, 57, 36) IS NOT votes ->> '$[0].userId' OR substr(votes, 107, 64) IS NOT votes ->> '$[0].snapshot')`,
  );
  expect(wrong).toEqual([]);
  const voted = connection.get<{ count: number }>(
    "SELECT count(*) AS count FROM activities WHERE votes ->> '$[1].userId' IS NOT NULL",
  );
  expect(voted?.count).toBeGreaterThan(0);
});

test('another organization sees none of it', async () => {
  const { client: apart } = await newSubOrganization(service.root);
  expect(await outline('outline_activities', {}, apart)).toEqual([]);
  expect(await browse([1, 2, 3], apart)).toEqual([]);
  const entries = await apart.query('get_activity_entries', { activityId: waitingId });
  expect(entries.status).toBe(404);
  for (const operation of ['outline_wallet_accounts', 'browse_wallet_accounts']) {
    expect((await apart.query(operation, { walletId, places: [1] })).status).toBe(404);
  }
  const { body } = await service.root.query('list_wallet_accounts', { walletId });
  const [{ walletAccountId = '' } = {}] = (body as { accounts: readonly Partial<Record<string, string>>[] })
    .accounts;
  const renamed = { walletAccountId, name: 'Mine' };
  const { status } = await apart.submit('update_wallet_account_name', 'UPDATE_WALLET_ACCOUNT_NAME', renamed);
  expect(status).toBe(404);
  // Its own activities are its own, at places of the one log.
  await newWallet(apart);
  const [place = 0] = await outline('outline_activities', {}, apart);
  expect((await browse([place], apart))[0]).toMatchObject({ type: 'ACTIVITY_TYPE_CREATE_WALLET' });
  expect(await browse([place])).toEqual([]);
});

test('wallets tell their accounts by format, and when they last signed, in the order of creation', async () => {
  const { walletId: used, ethereum } = await newWallet(service.root, 'Used');
  const { walletId: empty } = resultOf(
    await service.root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Empty', accounts: [] }),
  ) as unknown as { readonly walletId: string };
  const read = async () => {
    const { status, text, body } = await service.root.query('list_wallet_summaries');
    expect(status, text).toBe(200);
    return body?.['walletSummaries'] as readonly {
      readonly walletId: string;
      readonly accounts: number;
      readonly lastUsedAt?: { readonly seconds: string };
    }[];
  };
  const summaryOf = async (id: string) => (await read()).find((each) => each.walletId === id);
  expect(await summaryOf(walletId)).toMatchObject({ accounts: count + 2 });
  expect(await summaryOf(empty)).toEqual({
    walletId: empty,
    accounts: 0,
    addressFormats: [],
    tags: [],
    archived: false,
  });
  const unused = {
    walletId: used,
    accounts: 2,
    addressFormats: [
      { addressFormat: 'ADDRESS_FORMAT_ETHEREUM', accounts: 1 },
      { addressFormat: 'ADDRESS_FORMAT_SOLANA', accounts: 1 },
    ],
    tags: [],
    archived: false,
  };
  expect(await summaryOf(used)).toEqual(unused);
  expect((await read()).map((each) => each.walletId).slice(-2)).toEqual([used, empty]);

  const days = async () => {
    const { body } = await service.root.query('count_signing_days');
    return body?.['days'] as readonly { readonly signed: number; readonly refused: number }[];
  };
  const before = (await days()).at(-1);
  const sign = (digest: string) =>
    service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: ethereum,
      payload: digest,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
  const second = (): number => Math.floor(service.clock.now() / 1000);
  const earliest = second();
  resultOf(await sign('00'.repeat(32)));
  const latest = second();
  // A digest has 32 bytes: the activity fails.
  expect((await sign('00')).status).toBe(400);
  expect((await days()).at(-1)).toMatchObject({
    signed: (before?.signed ?? 0) + 1,
    refused: (before?.refused ?? 0) + 1,
  });
  const { lastUsedAt, ...others } = (await summaryOf(used)) ?? {};
  expect(others).toEqual(unused);
  expect(Number(lastUsedAt?.seconds)).toBeGreaterThanOrEqual(earliest);
  expect(Number(lastUsedAt?.seconds)).toBeLessThanOrEqual(latest);

  // The use is kept with the wallet, and goes with it.
  await service.vault.lastKeyUses.close();
  const kept = () => service.vault.connection.all('SELECT key_id AS id FROM key_uses WHERE key_id = ?', used);
  expect(kept()).toEqual([{ id: used }]);
  resultOf(
    await service.root.submit('delete_wallets', 'DELETE_WALLETS', {
      walletIds: [used],
      deleteWithoutExport: true,
    }),
  );
  expect(kept()).toEqual([]);
});
