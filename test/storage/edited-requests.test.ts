/**
 * A program that writes the file while the vault is open edits a request that waits, or hides how it ended. The log's chain is
 * followed only now and then: nothing is decided by such a row meanwhile.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { activityOf, newTestKey, resultOf, startTestVault } from '../support/support.ts';
import type { ActivityBody, Answer, TestClient } from '../support/support.ts';
import { misleadIndex } from '../support/misled-index.ts';

const hour = 60 * 60_000;

type Name = 'ann' | 'ben' | 'cat';

/** A vault in which a signature takes three, with a second connection to its file. */
async function startShared() {
  const service = await startTestVault();
  const { vault, root, clock } = service;
  const people: Record<Name, TestClient> = {
    ann: (await service.newUser('Ann')).client,
    ben: (await service.newUser('Ben')).client,
    cat: (await service.newUser('Cat')).client,
  };
  const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      { privateKeyName: 'key', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
    ],
  });
  const signWith = resultOf(made).privateKeys[0]?.privateKeyId;
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Three sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: 'approvers.count() >= 3',
      notes: '',
    }),
  );
  await vault.guard.followed();
  const sqlite = new Sqlite(join(service.directory, 'vault.db'));
  let requests = 0;
  const now = () => ({ timestampMs: String(clock.wall() + (requests += 1)) });
  const ask = async (payload: string): Promise<ActivityBody> =>
    activityOf(
      await people.ann.submit(
        'sign_raw_payload',
        'SIGN_RAW_PAYLOAD_V2',
        {
          signWith,
          payload,
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        },
        now(),
      ),
    );
  return {
    ...service,
    sqlite,
    people,
    ask,
    vote: (who: Name, verb: 'approve' | 'reject', { fingerprint }: ActivityBody): Promise<Answer> =>
      people[who].submit(`${verb}_activity`, `${verb.toUpperCase()}_ACTIVITY`, { fingerprint }, now()),
    /** Edits rows of the log, whose triggers are there again afterwards. */
    edit: (sql: string, ...values: readonly string[]): void => {
      const name = 'activities_no_update';
      const trigger = sqlite.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name);
      sqlite.exec(`DROP TRIGGER ${name}`);
      expect(sqlite.prepare(sql).run(...values).changes).toBeGreaterThan(0);
      sqlite.exec(String(trigger));
    },
    async [Symbol.asyncDispose]() {
      sqlite.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

type Shared = Awaited<ReturnType<typeof startShared>>;

const refused = { status: 400, body: { turnkeyErrorCode: 'VAULT_TAMPERED' } };

/** Fills both indexes by which activities are found as another function of the row would. */
function misleadBoth({ sqlite }: Shared, fingerprint: string, id: string): void {
  misleadIndex(
    sqlite,
    'activities_fingerprint',
    `CREATE UNIQUE INDEX activities_fingerprint ON activities (organization_id, ${fingerprint}, revision)`,
  );
  misleadIndex(sqlite, 'activities_id', `CREATE UNIQUE INDEX activities_id ON activities (${id}, revision)`);
}

/** Edits of A, which waits for one approval, beside B, for which others have approved, and C, which they rejected. */
const edits: readonly (readonly [
  what: string,
  edit: (shared: Shared, requests: Record<'a' | 'b' | 'c', ActivityBody>) => void,
  votedOn: 'a' | 'b' | 'c',
])[] = [
  [
    'an approval of another request, copied',
    ({ edit }, { a, b }) => {
      edit(
        `UPDATE activities SET votes = json_insert(votes, '$[#]',
           json((SELECT votes -> '$[1]' FROM activities WHERE id = ? AND revision = 2)))
         WHERE id = ? AND revision = 1`,
        b.id,
        a.id,
      );
    },
    'a',
  ],
  [
    'other parameters',
    ({ edit }, { b }) => {
      edit(`UPDATE activities SET intent = replace(intent, '"B"', '"E"') WHERE id = ?`, b.id);
    },
    'b',
  ],
  [
    'the place of another request',
    ({ edit }, { a, b }) => {
      edit("UPDATE activities SET fingerprint = fingerprint || '.' WHERE id = ?", a.id);
      edit('UPDATE activities SET fingerprint = ? WHERE id = ?', a.fingerprint, b.id);
    },
    'a',
  ],
  [
    'the place of another request in the index',
    (shared, { a, b }) => {
      const swapped = `CASE fingerprint WHEN '${a.fingerprint}' THEN '${b.fingerprint}'
        WHEN '${b.fingerprint}' THEN '${a.fingerprint}' ELSE fingerprint END`;
      misleadBoth(shared, swapped, 'id');
    },
    'a',
  ],
  [
    'its rejection taken back',
    ({ edit }, { c }) => {
      edit(
        `UPDATE activities SET status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED', votes = json_remove(votes, '$[2]')
         WHERE id = ? AND revision = 3`,
        c.id,
      );
    },
    'c',
  ],
  [
    'its rejection hidden',
    (shared, { c }) => {
      const hidden = (column: string): string =>
        `CASE WHEN id = '${c.id}' AND revision = 3 THEN 'hidden' ELSE ${column} END`;
      misleadBoth(shared, hidden('fingerprint'), hidden('id'));
    },
    'c',
  ],
];

async function askThree({ ask, vote }: Shared): Promise<Record<'a' | 'b' | 'c', ActivityBody>> {
  const requests = { a: await ask('A'), b: await ask('B'), c: await ask('C') };
  activityOf(await vote('ben', 'approve', requests.b));
  activityOf(await vote('ben', 'approve', requests.c));
  activityOf(await vote('cat', 'reject', requests.c));
  await ask('D');
  return requests;
}

test.each(edits)('no vote counts on a request with %s', async (_what, edit, votedOn) => {
  await using shared = await startShared();
  const { vault, vote } = shared;
  const requests = await askThree(shared);
  const rows = vault.connection.all('SELECT sequence FROM activities').length;
  edit(shared, requests);
  expect(await vote('cat', 'approve', requests[votedOn])).toMatchObject(refused);
  expect(vault.connection.all('SELECT sequence FROM activities')).toHaveLength(rows);
  expect((await vault.rpc.status()).tampering?.findings).toMatchObject([{ table: 'activities' }]);
});

test('a request that its index hides is not executed again', async () => {
  await using shared = await startShared();
  const { vault, root, rootUserId, sqlite, ask } = shared;
  const thief = newTestKey();
  const body = root.submitBody('CREATE_API_KEYS_V2', {
    userId: rootUserId,
    apiKeys: [{ apiKeyName: 'thief', publicKey: thief.publicKey, curveType: 'API_KEY_CURVE_P256' }],
  });
  const made = await root.post('submit/create_api_keys', body);
  const { apiKeyIds } = resultOf(made);
  resultOf(await root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId: rootUserId, apiKeyIds }));
  await ask('A');
  misleadIndex(
    sqlite,
    'activities_fingerprint',
    `CREATE UNIQUE INDEX activities_fingerprint ON activities
       (organization_id, CASE id WHEN '${activityOf(made).id}' THEN 'hidden' ELSE fingerprint END, revision)`,
  );
  expect(await root.post('submit/create_api_keys', body)).toMatchObject(refused);
  expect(vault.connection.all("SELECT 1 FROM api_keys WHERE name = 'thief'")).toEqual([]);
});

test('an approver is not shown a request with other parameters', async () => {
  await using shared = await startShared();
  const { people, edit } = shared;
  const { b } = await askThree(shared);
  edit(`UPDATE activities SET intent = replace(intent, '"B"', '"E"') WHERE id = ?`, b.id);
  expect(await people.cat.query('get_activity', { activityId: b.id })).toMatchObject(refused);
});

test('a list does not show it either', async () => {
  await using shared = await startShared();
  const { people, edit } = shared;
  const { b } = await askThree(shared);
  edit(`UPDATE activities SET intent = replace(intent, '"B"', '"E"') WHERE id = ?`, b.id);
  const filterByStatus = ['ACTIVITY_STATUS_CONSENSUS_NEEDED'];
  expect(await people.cat.query('list_activities', { filterByStatus })).toMatchObject(refused);
});

test('a vote just after an unlock waits until the log is followed', async () => {
  await using shared = await startShared();
  const { vault, vote, edit, ask, clock } = shared;
  const requests = await askThree(shared);
  clock.advance(2 * hour);
  await ask('E');
  await vault.rpc.lock();
  edit(`UPDATE activities SET intent = replace(intent, '"B"', '"E"') WHERE id = ?`, requests.b.id);
  // The log is followed meanwhile. On a busy machine the edit is found before the unlock ends.
  await shared.unlock().catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'VAULT_TAMPERED' });
  });
  expect(await vote('cat', 'approve', requests.b)).toMatchObject({ status: 400, body: { code: 9 } });
  expect((await vault.rpc.status()).tampering?.findings).toMatchObject([{ table: 'activities' }]);
});

test('votes count after an unlock, and beside another program that writes what it may', async () => {
  await using shared = await startShared();
  const { vault, vote, sqlite } = shared;
  const { b } = await askThree(shared);
  await vault.rpc.lock();
  await shared.unlock();
  sqlite.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
  expect(activityOf(await vote('cat', 'approve', b)).status).toBe('ACTIVITY_STATUS_COMPLETED');
});
