/**
 * Signatures are held to a number of statements, and each statement to a plan. Neither depends on the speed of a machine.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Value } from '../../main/storage/connection.ts';
import { allowByVotes, ethereumAccount, newUserBy, resultOf, startTestVault } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

let service: TestVault;
let signers: Readonly<Record<'by the id of a key' | 'by an address of a wallet', string>>;
let count = 0;

beforeAll(async () => {
  service = await startTestVault();
  const { root } = service;
  const keys = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      { privateKeyName: 'key', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
    ],
  });
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Wallet',
    accounts: [ethereumAccount],
  });
  signers = {
    'by the id of a key': String(resultOf(keys).privateKeys[0]?.privateKeyId),
    'by an address of a wallet': String(resultOf(wallet).addresses[0]),
  };
});
afterAll(() => service[Symbol.asyncDispose]());

async function sign(signWith: string, client = service.root): Promise<void> {
  const parameters: Json = {
    signWith,
    payload: `payload ${String((count += 1))}`,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  };
  resultOf(await client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', parameters));
}

/** The statements of some work, in order. */
async function statementsOf(
  work: () => Promise<void>,
  { vault: { connection } } = service,
): Promise<readonly (readonly [string, Value[]])[]> {
  const seen: (readonly [string, Value[]])[] = [];
  const spies = (['get', 'all', 'run'] as const).map((method) => {
    const original = connection[method].bind(connection) as (sql: string, ...values: Value[]) => never;
    return vi.spyOn(connection, method).mockImplementation((sql: string, ...values: readonly Value[]) => {
      seen.push([sql, [...values]]);
      return original(sql, ...values);
    });
  });
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return seen;
}

/** Statements that a group of writes shares, and looks for writes of others. */
const ofGroup = /^(BEGIN|COMMIT|PRAGMA|UPDATE integrity)/;

test.each(['by the id of a key', 'by an address of a wallet'] as const)(
  'a busy caller’s signature %s takes six statements of its own',
  async (how) => {
    for (let turn = 0; turn < 3; turn += 1) await sign(signers[how]);
    const statements = await statementsOf(() => sign(signers[how]));
    const own = statements.map(([sql]) => sql).filter((sql) => !ofGroup.test(sql));
    expect(own.map((sql) => sql.replace(/ [(*,].*|, .*/s, ''))).toEqual([
      // Is the body known?
      'SELECT sequence',
      // The end of the log, which its row follows, and which is sealed.
      'SELECT sequence',
      'INSERT INTO activities',
      // Set before the first write in it.
      'SAVEPOINT s0',
      'RELEASE s0',
      'SELECT sequence',
    ]);
  },
);

test('no statement of a signature reads a table from its beginning, or sorts', async () => {
  const { connection } = service.vault;
  const statements = await statementsOf(async () => {
    for (const signWith of Object.values(signers)) {
      // It may have changed any row: each is asked for.
      connection.exec('SELECT 1');
      await sign(signWith);
    }
  });
  expect(statements.length).toBeGreaterThan(30);
  for (const [sql, values] of statements) {
    if (!/^\s*SELECT/.test(sql)) continue;
    const plan = connection
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => detail)
      .join('; ');
    // The last row of the log is the end of its table. The sums are one row a table, in memory.
    const isEnd =
      sql.endsWith('FROM activities ORDER BY sequence DESC LIMIT 1') || sql.includes('temp.row_sums');
    if (!isEnd) expect(plan, sql).toMatch(/^SEARCH /);
    expect(plan, sql).not.toMatch(/TEMP B-TREE|AUTOMATIC/);
  }
});

test('a signature that others could vote on takes as many statements with thirty users as with three', async () => {
  await using small = await startTestVault();
  await using large = await startTestVault();
  const counts: number[] = [];
  for (const [vault, others] of [
    [small, 3],
    [large, 30],
  ] as const) {
    const { client, userId } = await vault.newUser('Ann');
    for (let index = 0; index < others; index += 1) await newUserBy(vault.root, `User ${String(index)}`);
    await allowByVotes(
      vault.root,
      'Ann alone',
      `activity.action == 'SIGN' && submitter.id == '${userId}'`,
      1,
    );
    await allowByVotes(vault.root, 'two of them', "activity.action == 'SIGN'", 2);
    const wallet = await vault.root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Wallet',
      accounts: [ethereumAccount],
    });
    const address = String(resultOf(wallet).addresses[0]);
    for (let turn = 0; turn < 2; turn += 1) await sign(address, client);
    // The lists of users are asked for again.
    vault.vault.connection.exec('SELECT 1');
    const first = await statementsOf(() => sign(address, client), vault);
    const next = await statementsOf(() => sign(address, client), vault);
    expect(next.length).toBeLessThan(first.length);
    counts.push(first.length);
  }
  expect(counts[1]).toBe(counts[0]);
});

test('a budget more costs a signature one statement, where others count the same', async () => {
  await using vault = await startTestVault();
  const { client, userId } = await vault.newUser('Bot');
  await allowByVotes(vault.root, 'signs', `activity.action == 'SIGN' && submitter.id == '${userId}'`, 1);
  const wallet = await vault.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Wallet',
    accounts: [ethereumAccount],
  });
  const address = String(resultOf(wallet).addresses[0]);
  const counts: number[] = [];
  let hours = 0;
  for (const more of [2, 4]) {
    for (const end = hours + more; hours < end; hours += 1) {
      for (const by of ['submitter.id', 'signing_key.public_key']) {
        resultOf(
          await vault.root.submit('create_policy', 'CREATE_POLICY_V3', {
            policyName: `within ${String(hours + 1)} hours, by ${by}`,
            effect: 'EFFECT_DENY',
            condition: `activity.action == 'SIGN' && RollingCount('${String(hours + 1)}h', ${by}) > 1000`,
            notes: '',
          }),
        );
      }
    }
    for (let turn = 0; turn < 3; turn += 1) await sign(address, client);
    counts.push((await statementsOf(() => sign(address, client), vault)).length);
  }
  const [few = 0, many = 0] = counts;
  expect(many - few).toBe(4 * 2);
});
