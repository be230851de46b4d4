/**
 * An attacker with the file cannot change its rows unnoticed. The file of a vault with rows in every table is
 * edited by SQL, in hundreds of ways, and then opened and unlocked as usual.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { open, seal } from '../../main/crypto/sealing.ts';
import { Connection } from '../../main/storage/connection.ts';
import { putSealedRowKey, rowKeyContext } from '../../main/storage/tables/integrity.ts';
import { RowGuard } from '../../main/storage/integrity/guard.ts';
import { unprotected } from '../../main/storage/integrity/row-mac.ts';
import { migrate, schemaVersion } from '../../main/storage/migrations.ts';
import {
  earlierServerKeyContext,
  serverKeyNames,
  serverKeyContext,
  type ServerKeyName,
} from '../../main/storage/tables/server-keys.ts';
import { Keyring } from '../../main/keys/keyring.ts';
import { systemClock } from '../../main/lib/clock.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import type { Random } from '../../main/lib/random.ts';
import { SeededRandom } from '../../main/lib/seeded-random.ts';
import { openVault, startVault, type OpenVault } from '../../main/app/compose.ts';
import { atLength } from '../campaigns/length.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  runCommand,
  startTestVault,
  temporaryDirectory,
  TestClient,
  type Json,
} from '../support/support.ts';
import { misleadIndex } from '../support/misled-index.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { Terminal } from '../support/terminal.ts';

type Row = Record<string, string | number | Buffer | null>;
type Rows = Readonly<Record<string, readonly Row[]>>;

const recoveryPhrase = mnemonicFromEntropy(new Uint8Array(randomBytes(32)));
const password = 'a password for this test';

let masterKey: Uint8Array;
const random: Random = (purpose, length) => {
  const drawn = new Uint8Array(randomBytes(length));
  // The keyslots' own, to make by hand what an earlier version made.
  if (purpose === 'master key') masterKey = Uint8Array.from(drawn);
  return drawn;
};

const home = temporaryDirectory();
afterAll(() => {
  home[Symbol.dispose]();
});

/** The vault's file as it was left, and each row as it once was. */
let pristine: Buffer;
let earlier: Rows;
let organizationId: string;
let rootUserId: string;
const apiKey = newTestKey();

beforeAll(async () => {
  const directory = join(home.path, 'made');
  await makeVault(directory);
  pristine = readFileSync(join(directory, 'vault.db'));
});

const configOf = (directory: string) =>
  makeConfig({ dataDir: directory, configDir: join(home.path, 'config'), keychain: false }, {});

/** A vault with rows in every table, of which some were changed and some deleted on the way. */
async function makeVault(directory: string): Promise<void> {
  await using service = await startTestVault({
    config: { dataDir: directory },
    substitutes: { random },
    empty: true,
  });
  const { vault } = service;
  const { connection, units } = vault;
  const made = await vault.setUp({
    organizationName: 'Tests',
    userName: 'Root',
    useKeychain: false,
    password,
    recoveryPhrase,
    recoveryConfirmed: true,
    apiKey: { name: 'root', publicKey: apiKey.publicKey },
  });
  ({ organizationId, userId: rootUserId } = made);
  const root = new TestClient(vault.url, organizationId, apiKey);
  const submit = async (path: string, type: string, parameters: Json) =>
    resultOf(await root.submit(path, type, parameters));
  const tag = await submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'Ops',
    userIds: [rootUserId],
  });
  expect(tag).toBeDefined();
  for (const name of ['Ann', 'Ben', 'Cleo']) {
    const apiKeys = [
      { apiKeyName: name, publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' },
    ];
    const authenticators = [new SoftwareAuthenticator().params(name)];
    const user = { userName: name, apiKeys, authenticators, oauthProviders: [], userTags: [] };
    await submit('create_users', 'CREATE_USERS_V3', { users: [user] });
    const key = {
      privateKeyName: name,
      curve: 'CURVE_SECP256K1',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    };
    await submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] });
    await submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId: rootUserId });
  }
  const { walletId } = await newWallet(root);
  await newWallet(root, 'Savings');
  await submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', {
    walletId,
    accounts: [{ ...ethereumAccount, path: "m/44'/60'/0'/0/7" }],
  });
  await submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
    name: 'FEATURE_NAME_OTP_EMAIL_AUTH',
    value: '',
  });
  // Rows that no operation creates yet, and more of rare ones.
  connection.pragma('foreign_keys = OFF');
  await units.write(() => {
    for (const table of tablesOf(connection)) {
      if (['integrity', 'activities', 'log_heads', 'keyslots', 'server_keys'].includes(table)) continue;
      for (let count = 0; count < 3; count++) fill(connection, table);
    }
  });
  earlier = contents(connection);
  await units.write((tx) => {
    for (const table of tablesOf(connection)) {
      const columns = columnsOf(connection, table);
      const changing = columns.filter(({ name }) => name.endsWith('name') || name === 'updated_at');
      if (['activities', 'integrity', 'log_heads', 'server_keys'].includes(table)) continue;
      for (const { name, type } of changing) {
        tx.run(`UPDATE ${table} SET ${name} = ${type === 'TEXT' ? `${name} || ' 2'` : `${name} + 1`}`);
      }
      if (
        ![
          'vault',
          'keyslots',
          'server_keys',
          'organizations',
          'users',
          'backup_schedule',
          'freeze',
          'place_key',
        ].includes(table)
      ) {
        const last = connection.all<Row>(`SELECT * FROM ${table}`).at(-1);
        if (last) tx.run(`DELETE FROM ${table} WHERE ${where(last)}`, ...parametersOf(last));
      }
    }
  });
  activityOf(await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Last', userIds: [] }));
  expect(vault.guard.verifyNow()).toEqual([]);
}

interface Column {
  readonly name: string;
  readonly type: 'TEXT' | 'INTEGER' | 'BLOB';
  readonly notnull: number;
  readonly pk: number;
}

/** The methods that both kinds of connection have. */
interface Reading {
  all<T>(sql: string, ...values: readonly Row[string][]): T[];
}

const tablesOf = (connection: Reading): string[] =>
  connection
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => name);
const columnsOf = (connection: Reading, table: string): Column[] =>
  connection.all<Column>('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', table);
const contents = (connection: Reading): Rows =>
  Object.fromEntries(
    tablesOf(connection).map((name) => [name, connection.all<Row>(`SELECT * FROM ${name}`)]),
  );
const where = (row: Row): string =>
  Object.entries(row)
    .map(([name, value]) => (value === null ? `${name} IS NULL` : `${name} = ?`))
    .join(' AND ');
const parametersOf = (row: Row): (string | number | Buffer)[] =>
  Object.values(row).filter((value) => value !== null);

/** The values of columns that have a fixed set of them, by table and column where tables differ. */
const choices: Readonly<Record<string, readonly (string | number)[]>> = {
  root: [0, 1],
  exported: [0, 1],
  imported: [0, 1],
  archived: [0, 1],
  effect: ['EFFECT_ALLOW', 'EFFECT_DENY'],
  purpose: ['sign in', 'verification'],
  channel: ['email', 'sms'],
  state: ['refused', 'parked'],
  'ethereum_transactions.state': ['asked', 'sent', 'answered'],
  feature: [0, 1],
  active: [0, 1],
  subscriptions: ['[]', '[ ]'],
};

function fill(connection: Connection, table: string): void {
  const columns = columnsOf(connection, table).filter(({ name }) => name !== 'mac');
  if (columns.some(({ name }) => name === 'one')) {
    if (connection.get(`SELECT 1 FROM ${table}`) !== undefined) return;
  }
  const values = columns.map(({ name, type, notnull }, index) => {
    if (name === 'one') return 1;
    const [choice] = choices[`${table}.${name}`] ?? choices[name] ?? [];
    if (choice !== undefined) return choice;
    if (notnull === 0 && index % 2 === 0 && name !== 'id') return null;
    switch (type) {
      case 'TEXT':
        return `${name} ${randomBytes(6).toString('hex')}`;
      case 'INTEGER':
        return randomBytes(5).readUIntBE(0, 5);
      case 'BLOB':
        return randomBytes(40);
    }
  });
  const names = columns.map(({ name }) => name);
  connection.run(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...values,
  );
}

/** An attacker's hand in the file: SQLite, with every rule of the file's own switched off. */
class Forger implements Reading {
  readonly sqlite: Sqlite.Database;

  constructor(file: string) {
    this.sqlite = new Sqlite(file);
    for (const pragma of [
      'foreign_keys = OFF',
      'ignore_check_constraints = ON',
      'recursive_triggers = OFF',
    ]) {
      this.sqlite.pragma(pragma);
    }
  }

  all<T>(sql: string, ...values: readonly (string | number | Buffer | null)[]): T[] {
    return this.sqlite.prepare(sql).all(...values) as T[];
  }

  run(sql: string, ...values: readonly (string | number | Buffer | null)[]): number {
    return this.sqlite.prepare(sql).run(...values).changes;
  }

  /** Works while the file's triggers are gone, and puts them back as they were. */
  unwatched<T>(work: () => T): T {
    const triggers = this.all<{ name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
    );
    for (const { name } of triggers) this.sqlite.exec(`DROP TRIGGER ${name}`);
    const value = work();
    for (const { sql } of triggers) this.sqlite.exec(sql);
    return value;
  }

  insert(table: string, row: Row): number {
    const names = Object.keys(row);
    return this.run(
      `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      ...Object.values(row),
    );
  }

  close(): void {
    this.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    this.sqlite.close();
  }
}

interface Edit {
  readonly what: string;
  readonly table: string;
  readonly column?: string;
  /** @returns whether the file is another now. */
  readonly apply: (forger: Forger) => boolean;
}

/** Numbers from a seed, so that a failure can be seen again. */
class Dice {
  readonly seed: string;
  readonly #random: SeededRandom;

  constructor(seed: string) {
    this.seed = seed;
    this.#random = new SeededRandom(seed);
  }

  below(limit: number): number {
    const bytes = this.#random.generate('dice', 4);
    return Buffer.from(bytes).readUInt32BE() % limit;
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }
}

/** Another value that the column takes. */
function another(dice: Dice, column: Column, value: Row[string], others: readonly Row[]): Row[string] {
  const fixed = choices[column.name]?.find((choice) => choice !== value);
  if (fixed !== undefined) return fixed;
  const different = others
    .map((row) => row[column.name] ?? null)
    .filter((other) => JSON.stringify(other) !== JSON.stringify(value));
  if (different.length > 0 && column.pk === 0 && dice.below(3) === 0) return dice.pick(different);
  if (value !== null && column.notnull === 0 && column.pk === 0 && dice.below(4) === 0) return null;
  switch (column.type) {
    case 'TEXT':
      return dice.below(2) === 0 || value === null ? `${String(value)}\u0000x` : `${String(value)} `;
    case 'INTEGER':
      return column.name === 'one' ? 2 : Number(value) + 1 + dice.below(3);
    case 'BLOB': {
      const bytes = Buffer.from(value instanceof Buffer && value.length > 0 ? value : randomBytes(32));
      const at = dice.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + dice.below(255));
      return bytes;
    }
  }
}

const isRefused = /UNIQUE constraint|NOT NULL constraint|cannot store/;

/** A change that SQLite itself does not take is none. */
function tried(change: () => number): boolean {
  try {
    return change() > 0;
  } catch (error) {
    if (error instanceof Error && isRefused.test(error.message)) return false;
    throw error;
  }
}

function editColumn(dice: Dice, table: string, column: Column): Edit {
  return {
    what: `${table}.${column.name} changed`,
    table,
    column: column.name,
    apply: (forger) => {
      const rows = forger.all<Row>(`SELECT * FROM ${table}`);
      const row = dice.pick(rows);
      const value = another(dice, column, row[column.name] ?? null, rows);
      return tried(() =>
        forger.run(`UPDATE ${table} SET ${column.name} = ? WHERE ${where(row)}`, value, ...parametersOf(row)),
      );
    },
  };
}

function editRows(dice: Dice, table: string): Edit {
  const kinds: Readonly<Record<string, (forger: Forger, rows: readonly Row[]) => boolean>> = {
    'a row deleted': (forger, rows) => {
      const row = dice.pick(rows);
      return forger.run(`DELETE FROM ${table} WHERE ${where(row)}`, ...parametersOf(row)) > 0;
    },
    'all rows deleted': (forger) => forger.run(`DELETE FROM ${table}`) > 0,
    'a row added that is like another': (forger, rows) => {
      const row = { ...dice.pick(rows) };
      for (const { name, type, pk } of columnsOf(forger, table)) {
        if (pk > 0 || name === 'name' || name === 'fingerprint' || name === 'public_key') {
          row[name] = type === 'TEXT' ? randomBytes(8).toString('hex') : 1 + dice.below(1e9);
        }
      }
      return tried(() => forger.insert(table, row));
    },
    'two rows swapped, all but their keys': (forger, rows) => {
      const [one, other] = [dice.pick(rows), dice.pick(rows)];
      const columns = columnsOf(forger, table).filter(({ pk }) => pk === 0);
      const differing = columns.filter(
        ({ name }) => JSON.stringify(one[name]) !== JSON.stringify(other[name]),
      );
      if (differing.length === 0) return false;
      const swapped = (to: Row, from: Row): Row => ({
        ...to,
        ...Object.fromEntries(columns.map(({ name }) => [name, from[name] ?? null])),
      });
      return tried(() => {
        for (const row of [one, other]) {
          forger.run(`DELETE FROM ${table} WHERE ${where(row)}`, ...parametersOf(row));
        }
        return forger.insert(table, swapped(one, other)) + forger.insert(table, swapped(other, one));
      });
    },
    'an older row put back, as it was': (forger, rows) => {
      const present = new Set(rows.map((row) => JSON.stringify(row)));
      const older = (earlier[table] ?? []).filter((row) => !present.has(JSON.stringify(row)));
      return older.length > 0 && tried(() => forger.insert(table, dice.pick(older)));
    },
    'an older row put in the place of another': (forger, rows) => {
      const present = new Set(rows.map((row) => JSON.stringify(row)));
      const older = (earlier[table] ?? []).filter((row) => !present.has(JSON.stringify(row)));
      if (older.length === 0) return false;
      const row = dice.pick(rows);
      return tried(() => {
        forger.run(`DELETE FROM ${table} WHERE ${where(row)}`, ...parametersOf(row));
        return forger.insert(table, dice.pick(older));
      });
    },
  };
  const what = dice.pick(Object.keys(kinds));
  return {
    what: `${table}: ${what}`,
    table,
    apply: (forger) => kinds[what]?.(forger, forger.all<Row>(`SELECT * FROM ${table}`)) === true,
  };
}

const schemaEdits: readonly (readonly [string, (forger: Forger) => void])[] = [
  [
    'a trigger that makes every user root',
    ({ sqlite }) =>
      sqlite.exec('CREATE TRIGGER more AFTER INSERT ON activities BEGIN UPDATE users SET root = 1; END'),
  ],
  ['a view', ({ sqlite }) => sqlite.exec('CREATE VIEW more AS SELECT * FROM users')],
  ['a table', ({ sqlite }) => sqlite.exec('CREATE TABLE more (text TEXT)')],
  [
    'a table like one of Litestream’s',
    ({ sqlite }) => sqlite.exec('CREATE TABLE _litestream_seq (id INTEGER)'),
  ],
  ['an index', ({ sqlite }) => sqlite.exec('CREATE INDEX more ON users (name)')],
  ['an index gone', ({ sqlite }) => sqlite.exec('DROP INDEX api_keys_public_key')],
  ['a trigger gone', ({ sqlite }) => sqlite.exec('DROP TRIGGER activities_no_update')],
  [
    'a trigger changed',
    ({ sqlite }) =>
      sqlite.exec(
        'DROP TRIGGER activities_no_delete; CREATE TRIGGER activities_no_delete BEFORE DELETE ON activities BEGIN SELECT 1; END',
      ),
  ],
  ['a column added', ({ sqlite }) => sqlite.exec('ALTER TABLE users ADD COLUMN more TEXT')],
  ['a column renamed', ({ sqlite }) => sqlite.exec('ALTER TABLE users RENAME COLUMN email TO mail')],
  [
    'two columns renamed to each other',
    ({ sqlite }) =>
      sqlite.exec(
        'ALTER TABLE wallets RENAME COLUMN exported TO held; ALTER TABLE wallets RENAME COLUMN imported TO exported; ALTER TABLE wallets RENAME COLUMN held TO imported',
      ),
  ],
  ['a table gone', ({ sqlite }) => sqlite.exec('DROP TABLE policies')],
  ['an older version claimed', ({ sqlite }) => sqlite.exec('PRAGMA user_version = 3')],
  ['no version claimed', ({ sqlite }) => sqlite.exec('PRAGMA user_version = 0')],
  ['statistics', ({ sqlite }) => sqlite.exec('ANALYZE')],
  [
    'a column’s check taken away',
    ({ sqlite }) => {
      sqlite.unsafeMode(true);
      sqlite.pragma('writable_schema = ON');
      sqlite.exec(
        "UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (root IN (0, 1))', '') WHERE name = 'users'; PRAGMA writable_schema = RESET",
      );
      sqlite.unsafeMode(false);
    },
  ],
  [
    'an index that finds the owner by the forger’s key',
    ({ sqlite }) => {
      misleadIndex(
        sqlite,
        'api_keys_public_key',
        `CREATE UNIQUE INDEX api_keys_public_key ON api_keys (organization_id, (CASE name WHEN 'root 2' THEN '${newTestKey().publicKey}' ELSE public_key END))`,
      );
    },
  ],
  [
    'an index that hides an activity, so that its request works again',
    ({ sqlite }) => {
      misleadIndex(
        sqlite,
        'activities_fingerprint',
        `CREATE UNIQUE INDEX activities_fingerprint ON activities (organization_id, (CASE sequence WHEN 3 THEN 'sha256:' ELSE fingerprint END), revision)`,
      );
    },
  ],
];

/** The error that refuses a file, or undefined. */
async function refusalOf(file: Buffer, name: string): Promise<KeyhearthError | undefined> {
  const directory = join(home.path, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'vault.db'), file);
  let vault: OpenVault | undefined;
  try {
    vault = openVault(configOf(directory));
    await vault.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase });
    // The log is followed in the background.
    const { guard } = vault;
    const end = performance.now() + 60_000;
    while (vault.keyring.unlocked && guard.walking && performance.now() < end) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    vault.units.read(() => undefined);
    return undefined;
  } catch (error) {
    if (error instanceof KeyhearthError) return error;
    throw error;
  } finally {
    vault?.close();
  }
}

function edited(edit: (forger: Forger) => boolean, name: string): Buffer | undefined {
  const file = join(home.path, `${name}.db`);
  writeFileSync(file, pristine);
  const forger = new Forger(file);
  let changed: boolean;
  try {
    changed = forger.unwatched(() => edit(forger));
  } finally {
    forger.close();
  }
  return changed ? readFileSync(file) : undefined;
}

test('the file as it was left unlocks', async () => {
  expect(await refusalOf(pristine, 'pristine')).toBeUndefined();
});

test('every table is authenticated, or it is written down why not', () => {
  const connection = Connection.open(':memory:');
  migrate(connection);
  for (const table of tablesOf(connection)) {
    const columns = columnsOf(connection, table).map(({ name }) => name);
    const exempt = unprotected[table];
    expect(columns.includes('mac'), table).toBe(exempt === undefined || exempt.columns !== undefined);
    for (const column of exempt?.columns ?? []) expect(columns).toContain(column);
  }
  expect(Object.keys(unprotected).filter((table) => !tablesOf(connection).includes(table))).toEqual([]);
});

/** Columns whose edit is found, although they carry no HMAC: by the hash chain, or as what authenticates. */
const found = ['activities', 'integrity'];
const cannotMatter = ({ table, column }: Edit): boolean => {
  const exempt = unprotected[table];
  if (exempt === undefined || found.includes(table)) return false;
  return exempt.columns === undefined || (column !== undefined && exempt.columns.includes(column));
};

const edits = atLength(400, 2_000);

test(
  `${String(edits)} random edits of rows: each is refused by name, or its column is one that cannot matter`,
  { timeout: 240_000 },
  async () => {
    const dice = new Dice(process.env['KEYHEARTH_SEED'] ?? randomBytes(4).toString('hex'));
    const forger = new Forger(join(home.path, 'look.db'));
    forger.sqlite.close();
    writeFileSync(join(home.path, 'look.db'), pristine);
    const look = new Forger(join(home.path, 'look.db'));
    const tables = tablesOf(look);
    const columns = tables.flatMap((table) => columnsOf(look, table).map((column) => ({ table, column })));
    look.close();
    // Each column once at least, and then whatever comes.
    const planned = columns.map(
      ({ table, column }) =>
        () =>
          editColumn(dice, table, column),
    );
    const next = (): Edit => {
      const plan = planned.shift();
      if (plan) return plan();
      if (dice.below(2) === 0) return editRows(dice, dice.pick(tables));
      const { table, column } = dice.pick(columns);
      return editColumn(dice, table, column);
    };
    const seen = { refused: 0, cannotMatter: 0 };
    const touched = new Set<string>();
    while (seen.refused + seen.cannotMatter < edits) {
      const edit = next();
      let file: Buffer | undefined;
      for (let tries = 0; file === undefined && tries < 10; tries++) file = edited(edit.apply, 'edited');
      if (file === undefined) continue;
      touched.add(edit.table);
      const refusal = await refusalOf(file, 'edited');
      const where = `${edit.what} (seed ${dice.seed})`;
      if (cannotMatter(edit)) {
        expect(refusal, where).toBeUndefined();
        seen.cannotMatter++;
        continue;
      }
      expect(refusal, where).toBeInstanceOf(KeyhearthError);
      // The vault's row and the keyslots are bound to the key themselves: a changed slot does not open.
      const bound = edit.table === 'vault' || edit.table === 'keyslots';
      if (!bound) expect(refusal?.code, where).toBe('VAULT_TAMPERED');
      if (refusal?.code === 'VAULT_TAMPERED')
        expect(refusal.message, where).toMatch(
          /^The vault's file was changed outside Keyhearth, and is not used: ./,
        );
      seen.refused++;
    }
    expect([...touched].sort()).toEqual([...tables].sort());
    expect(seen.refused).toBeGreaterThan(edits * 0.8);
  },
);

describe('the schema', () => {
  test.each(schemaEdits)('with %s is refused', async (_what, edit) => {
    const file = join(home.path, 'schema.db');
    writeFileSync(file, pristine);
    const forger = new Forger(file);
    edit(forger);
    forger.close();
    expect(await refusalOf(readFileSync(file), 'schema')).toMatchObject({ code: 'VAULT_TAMPERED' });
  });

  test('may have the tables that Litestream adds', async () => {
    const file = join(home.path, 'litestream.db');
    writeFileSync(file, pristine);
    const forger = new Forger(file);
    forger.sqlite.exec(
      'CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)',
    );
    forger.close();
    expect(await refusalOf(readFileSync(file), 'litestream')).toBeUndefined();
  });
});

/** A vault on the file as it was left, and a second connection to the file. */
async function startPristine(name: string) {
  const directory = join(home.path, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'vault.db'), pristine);
  const faults: unknown[] = [];
  const vault = await startVault(
    makeConfig({ dataDir: directory, configDir: home.path, keychain: false, port: '0' }, {}),
    { onFault: (fault) => faults.push(fault) },
  );
  await vault.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase });
  const forger = new Forger(join(directory, 'vault.db'));
  return {
    vault,
    forger,
    directory,
    root: new TestClient(vault.url, organizationId, apiKey),
    [Symbol.asyncDispose]: async () => {
      forger.sqlite.close();
      await vault.close();
      expect(faults).toEqual([]);
    },
  };
}

describe('a running vault', () => {
  const forged = newTestKey();
  const forge = (forger: Forger, publicKey = forged.publicKey): void => {
    forger.unwatched(() => {
      forger.run("UPDATE api_keys SET public_key = ? WHERE name = 'root 2'", publicKey);
    });
  };

  test('locks itself when its file is changed, says why, and opens again once that is undone', async () => {
    await using service = await startPristine('running');
    const { vault, forger, root } = service;
    const thief = root.as(forged);
    expect((await root.query('whoami')).status).toBe(200);
    forge(forger);
    const refused = { status: 400, body: { code: 9, turnkeyErrorCode: 'VAULT_TAMPERED' } };
    const told = await thief.query('whoami');
    expect(told).toMatchObject(refused);
    // The row's organization is for the owner alone.
    expect(told.text).not.toContain('api_keys');
    expect(vault.keyring.unlocked).toBe(false);
    expect(await root.query('list_wallets')).toMatchObject(refused);
    expect(
      await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'No', userIds: [] }),
    ).toMatchObject(refused);
    const { state, tampering } = await vault.rpc.status();
    expect(state).toBe('locked');
    expect(tampering).toEqual({
      total: 1,
      findings: [
        { table: 'api_keys', row: expect.any(String) as string, problem: 'it was changed or added' },
      ],
    });
    await expect(vault.rpc.unlock({ with: 'password', password })).rejects.toMatchObject({
      code: 'VAULT_TAMPERED',
    });
    forge(forger, apiKey.publicKey);
    expect(await vault.rpc.unlock({ with: 'password', password })).toMatchObject({
      state: 'unlocked',
      tampering: null,
    });
    expect((await root.query('whoami')).status).toBe(200);
  });

  test.each(['a query', 'a write'])('finds in %s that all rows were put back as they were', async (when) => {
    await using service = await startPristine(`put back before ${when}`);
    const { vault, forger, root } = service;
    const gone = newTestKey();
    const { apiKeyIds } = resultOf(
      await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
        userId: rootUserId,
        apiKeys: [{ apiKeyName: 'gone', publicKey: gone.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      }),
    );
    const rows = contents(forger);
    resultOf(await root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId: rootUserId, apiKeyIds }));
    forger.unwatched(() => {
      for (const [table, before] of Object.entries(rows)) {
        forger.run(`DELETE FROM ${table}`);
        for (const row of before) forger.insert(table, row);
      }
    });
    expect(contents(forger)).toEqual(rows);
    const thief = root.as(gone);
    const answer =
      when === 'a query'
        ? await thief.query('whoami')
        : await thief.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'No', userIds: [] });
    expect(answer).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_TAMPERED' } });
    expect((await vault.rpc.status()).tampering?.findings).toMatchObject([{ table: 'the file', row: null }]);
    expect(contents(forger)['tags']).toEqual(rows['tags']);
  });

  test('finds it in the write itself, and writes nothing', async () => {
    await using service = await startPristine('writing');
    const { vault, forger, root } = service;
    const body = root.as(forged).submitBody('CREATE_USER_TAG', { userTagName: 'No', userIds: [] });
    const answer = root.as(forged).post('submit/create_user_tag', body);
    forge(forger);
    expect(await answer).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_TAMPERED' } });
    expect(vault.connection.all("SELECT 1 FROM tags WHERE name = 'No'")).toEqual([]);
  });

  test.each([
    [
      'newer, with a trigger that makes every user root',
      `PRAGMA user_version = ${String(schemaVersion + 1)};
       CREATE TRIGGER more AFTER INSERT ON activities BEGIN UPDATE users SET root = 1; END`,
    ],
    ['newer, with a trigger gone', 'PRAGMA user_version = 9999; DROP TRIGGER activities_no_update'],
    ['older, and is otherwise as it was', `PRAGMA user_version = ${String(schemaVersion - 1)}`],
  ])('does not use a file that says since then that its schema is %s', async (what, sql) => {
    await using service = await startPristine(`version ${what}`);
    const { vault, forger, root } = service;
    const roots = vault.connection.all('SELECT id, root FROM users ORDER BY id');
    forger.sqlite.exec(sql);
    const tag = await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'No', userIds: [] });
    expect(tag).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_TAMPERED' } });
    const { tampering } = await vault.rpc.status();
    expect(tampering?.findings).toMatchObject([{ table: 'the file', row: null }]);
    expect(vault.connection.all('SELECT id, root FROM users ORDER BY id')).toEqual(roots);
  });

  test('is not disturbed by what another process may write', async () => {
    await using service = await startPristine('copied');
    const { vault, forger, root } = service;
    forger.sqlite.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
    forger.run('INSERT INTO _litestream_seq VALUES (1, 1)');
    forger.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const answer = await root.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'Yes',
      userIds: [],
    });
    expect(answer.status, answer.text).toBe(200);
    expect(vault.guard.verifyNow()).toEqual([]);
  });

  test('finds a log that was changed in its middle', async () => {
    await using service = await startPristine('log');
    const { vault, forger } = service;
    await vault.rpc.lock();
    forger.unwatched(() => {
      forger.run("UPDATE activities SET status = 'ACTIVITY_STATUS_FAILED' WHERE sequence = 2");
    });
    await expect(vault.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase })).rejects.toMatchObject({
      code: 'VAULT_TAMPERED',
    });
    expect(await vault.rpc.status()).toMatchObject({
      state: 'locked',
      tampering: { findings: [{ table: 'activities', row: '2' }] },
    });
  });

  test('locked, executes no activity', async () => {
    await using service = await startPristine('locked');
    await service.vault.rpc.lock();
    // The lock itself is noted.
    service.vault.units.flush();
    const before = contents(service.vault.connection);
    const { root } = service;
    const tagged = await root.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'No',
      userIds: [],
    });
    expect(tagged).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_LOCKED' } });
    expect((await root.query('list_wallets')).status).toBe(200);
    expect(contents(service.vault.connection)).toEqual(before);
  });
});

/**
 * The file as an earlier Keyhearth would have left it: up to version 3 rows without HMACs, and its keys
 * sealed as in that version. It has one-time codes, which later versions keep elsewhere.
 */
function earlierFile(version = 3): Buffer {
  const file = join(home.path, 'earlier.db');
  rmSync(file, { force: true });
  const made = Connection.open(file);
  migrate(made, version);
  made.exec('PRAGMA foreign_keys = OFF');
  const keyring = new Keyring({ random, clock: systemClock });
  const guard = version > 3 ? new RowGuard(made, keyring) : undefined;
  const rowKey = new Uint8Array(randomBytes(32));
  if (guard) keyring.unlock(masterKey, rowKey);
  const copy = join(home.path, 'copy.db');
  writeFileSync(copy, pristine);
  const from = new Sqlite(copy);
  const contextOf = (name: ServerKeyName) => serverKeyContext(name, organizationId);
  for (const table of tablesOf(made)) {
    if (table === 'integrity') continue;
    if (table === 'one_time_codes') {
      fill(made, table);
      continue;
    }
    const columns = columnsOf(made, table).flatMap(({ name }) => (name === 'mac' ? [] : [name]));
    for (const row of from.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).all() as Row[]) {
      if (table === 'server_keys' && !guard) {
        const name = String(row['name']) as ServerKeyName;
        const scalar = open(masterKey, contextOf(name), row['sealed'] as Buffer);
        row['sealed'] = Buffer.from(
          seal(masterKey, earlierServerKeyContext(name, organizationId), scalar, random),
        );
      }
      made.run(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        ...Object.values(row),
      );
    }
  }
  from.close();
  guard?.adopt((tx) => {
    putSealedRowKey(tx, seal(masterKey, rowKeyContext, rowKey, random));
  });
  keyring.lock();
  made.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  made.close();
  return readFileSync(file);
}

/** Opens and unlocks a file, and gives it back as it is after. */
async function unlocked(
  file: Buffer,
  name: string,
  use: (vault: OpenVault) => Promise<void> | void,
): Promise<Buffer> {
  const directory = join(home.path, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'vault.db'), file);
  const vault = openVault(configOf(directory));
  try {
    await vault.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase });
    await use(vault);
  } finally {
    vault.close();
  }
  return readFileSync(join(directory, 'vault.db'));
}

function forgedFile(file: Buffer, forge: (forger: Forger) => void): Buffer {
  const path = join(home.path, 'forged.db');
  writeFileSync(path, file);
  const forger = new Forger(path);
  forge(forger);
  forger.close();
  return readFileSync(path);
}

describe('a vault of an earlier version', () => {
  test('is adopted at its first unlock: its rows are authenticated, and its keys work', async () => {
    const adopted = await unlocked(earlierFile(), 'adopted', async ({ rpc, guard }) => {
      expect(guard.verifyNow()).toEqual([]);
      const { status } = await rpc.call('/public/v1/query/whoami', {});
      expect(status).toBe(200);
    });
    await unlocked(adopted, 'adopted', async ({ rpc }) => {
      expect((await rpc.call('/public/v1/query/list_wallets', {})).status).toBe(200);
    });
    const edit = (forger: Forger): number => forger.run('UPDATE users SET root = 1');
    expect(await refusalOf(forgedFile(adopted, edit), 'adopted')).toMatchObject({ code: 'VAULT_TAMPERED' });
  });

  test('holds after a table of it went that had rows', async () => {
    const before = earlierFile(4);
    const used = await unlocked(before, 'with codes', async ({ rpc, guard }) => {
      expect(guard.verifyNow()).toEqual([]);
      const { status } = await rpc.call('/public/v1/submit/create_user_tag', {
        type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
        parameters: { userTagName: 'After', userIds: [] },
      });
      expect(status).toBe(200);
      expect(guard.verifyNow()).toEqual([]);
    });
    await unlocked(used, 'with codes', ({ guard, connection }) => {
      expect(guard.verifyNow()).toEqual([]);
      expect(tablesOf(connection)).not.toContain('one_time_codes');
    });
    const edit = (forger: Forger): number => forger.run('UPDATE users SET root = 1');
    expect(await refusalOf(forgedFile(before, edit), 'with codes')).toMatchObject({ code: 'VAULT_TAMPERED' });
  });

  test.each<[string, (forger: Forger) => void]>([
    [
      'the row that authenticates is taken away',
      (forger) => {
        forger.run('DELETE FROM integrity');
      },
    ],
    [
      'the file is made to look like one of before',
      (forger) => {
        forger.run('UPDATE users SET root = 1');
        forger.unwatched(() => {
          for (const table of tablesOf(forger)) {
            if (table === 'backup_schedule') continue;
            if (columnsOf(forger, table).some(({ name }) => name === 'mac')) {
              forger.sqlite.exec(`ALTER TABLE ${table} DROP COLUMN mac`);
            }
          }
        });
        for (const table of ['integrity', 'log_heads', 'backups', 'backup_schedule']) {
          forger.sqlite.exec(`DROP TABLE ${table}`);
        }
        forger.sqlite.exec('PRAGMA user_version = 3');
      },
    ],
  ])('is not adopted twice: %s', async (_what, forge) => {
    const adopted = await unlocked(earlierFile(), 'twice', () => undefined);
    for (const file of [adopted, pristine]) {
      expect(await refusalOf(forgedFile(file, forge), 'twice')).toMatchObject({ code: 'VAULT_TAMPERED' });
    }
  });

  test('with every kind of its sealed keys moved to where they are bound now', async () => {
    await unlocked(earlierFile(), 'moved', ({ connection, keyring }) => {
      for (const name of serverKeyNames) {
        const row = connection.get<{ sealed: Buffer }>('SELECT sealed FROM server_keys WHERE name = ?', name);
        expect(keyring.open(serverKeyContext(name, organizationId), row?.sealed ?? Buffer.of())).toHaveLength(
          32,
        );
      }
    });
  });
});

describe('keyhearth doctor', () => {
  const phraseFile = (): string => {
    const file = join(home.path, 'phrase');
    writeFileSync(file, recoveryPhrase, { mode: 0o600 });
    return file;
  };
  const forge = (forger: Forger): void => {
    forger.run("UPDATE users SET root = 1 WHERE name LIKE 'Ann%'");
    forger.run('DELETE FROM policies WHERE id = (SELECT min(id) FROM policies)');
    forger.unwatched(() => {
      forger.run("UPDATE activities SET status = 'changed' WHERE sequence = 2");
    });
  };
  interface Report {
    readonly ok: boolean;
    readonly findings: readonly {
      readonly check: string;
      readonly outcome: string;
      readonly detail: string;
    }[];
  }

  test('lists what was changed; accepted with the phrase, the vault is used as it is', async () => {
    const directory = join(home.path, 'doctor');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'vault.db'), forgedFile(pristine, forge), { mode: 0o600 });
    const run = (...argv: readonly string[]) =>
      runCommand(['doctor', '--json', '--data-dir', directory, '--no-keychain', ...argv]);
    const report = async (...argv: readonly string[]): Promise<Report> =>
      JSON.parse((await run(...argv)).stdout) as Report;
    const ofRows = ({ findings }: Report) => findings.filter(({ check }) => check === 'rows');

    expect(ofRows(await report())).toEqual([
      expect.objectContaining({
        outcome: 'note',
        detail: expect.stringContaining('--recovery-file') as string,
      }),
    ]);
    const found = await report('--recovery-file', phraseFile());
    expect(found.ok).toBe(false);
    expect(ofRows(found).map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ['failed', expect.stringMatching(/^policies: 1 row too few: there were \d+$/)],
      ['failed', expect.stringMatching(/^users .+: it was changed or added$/)],
    ]);
    expect(found.findings).toContainEqual({
      check: 'activity log',
      outcome: 'failed',
      detail: 'entry 2 was changed after it was written',
    });

    const refusal = await run('--accept-changes');
    expect(refusal.code).toBe(2);
    expect(refusal.stderr).toContain('accepting changes takes the password or the recovery phrase');
    const wrong = join(home.path, 'wrong');
    writeFileSync(wrong, mnemonicFromEntropy(new Uint8Array(32)));
    expect((await run('--accept-changes', '--recovery-file', wrong)).code).toBe(5);
    expect(ofRows(await report('--recovery-file', phraseFile()))).toHaveLength(2);

    const accepted = await run('--accept-changes', '--recovery-file', phraseFile());
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(
      (JSON.parse(accepted.stdout) as { accepted: readonly Json[] }).accepted.map(({ table }) => table),
    ).toEqual(['policies', 'users', 'activities']);
    const after = await report('--recovery-file', phraseFile());
    expect(ofRows(after)).toEqual([expect.objectContaining({ outcome: 'ok' })]);
    // The hashes in the log do not change.
    expect(after.findings).toContainEqual(
      expect.objectContaining({ check: 'activity log', outcome: 'failed' }),
    );
    expect(JSON.parse((await run('--accept-changes', '--recovery-file', phraseFile())).stdout)).toEqual({
      accepted: [],
    });
    expect(await refusalOf(readFileSync(join(directory, 'vault.db')), 'accepted')).toBeUndefined();
  });

  /** The class: nothing becomes authentic that the list of changes did not tell the owner of. */
  describe('accepts no change that its list does not tell of', () => {
    const forgeRoot = (forger: Forger): void => {
      forger.run("UPDATE users SET root = 1 WHERE name LIKE 'Ann%'");
    };
    const forged = (name: string, change: (forger: Forger) => void) => {
      const directory = join(home.path, name);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, 'vault.db');
      writeFileSync(file, forgedFile(pristine, change), { mode: 0o600 });
      const argv = ['doctor', '--data-dir', directory, '--no-keychain', '--accept-changes'];
      return { file, argv: [...argv, '--recovery-file', phraseFile()] };
    };

    test('one that comes while the person reads the list', async () => {
      const { file, argv } = forged('while read', (forger) => {
        forger.run("UPDATE wallets SET name = name || ' of mine'");
      });
      await using terminal = new Terminal(argv.map((word) => `'${word}'`).join(' '), { HOME: home.path });
      await terminal.type('', 'Accept these changes');
      const forger = new Forger(file);
      forgeRoot(forger);
      forger.close();
      await terminal.type('y', 'Accept these changes');
      expect(await terminal.ended(), terminal.shown).toBe(4);
      expect(terminal.shown).toContain('nothing was accepted: another program changed the file');
      expect(await refusalOf(readFileSync(file), 'refused yet')).toMatchObject({ code: 'VAULT_TAMPERED' });
      // The new list tells of it.
      const accepted = await runCommand([...argv, '--json']);
      expect(JSON.parse(accepted.stdout)).toMatchObject({
        accepted: expect.arrayContaining([expect.objectContaining({ table: 'users' })]) as unknown,
      });
    });

    test('the loss of activities that were answered here', async () => {
      const directory = join(home.path, 'put back');
      {
        await using service = await startPristine('put back');
        const tag = { userTagName: 'Answered', userIds: [] };
        activityOf(await service.root.submit('create_user_tag', 'CREATE_USER_TAG', tag));
      }
      const file = join(directory, 'vault.db');
      // In place: the mark is of this very file.
      writeFileSync(
        file,
        forgedFile(pristine, (forger) => {
          forger.run("UPDATE wallets SET name = name || ' of mine'");
        }),
      );
      const argv = ['doctor', '--data-dir', directory, '--no-keychain', '--recovery-file', phraseFile()];
      expect((await runCommand(argv)).stdout).toContain('answered here');
      const refused = await runCommand([...argv, '--accept-changes']);
      expect(refused.code).toBe(7);
      expect(refused.stderr).toContain('keyhearth audit accept-rollback');
      expect((await runCommand(argv)).stdout).toContain('answered here');

      const known = ['--data-dir', directory, '--recovery-file', phraseFile(), '--yes'];
      expect((await runCommand(['audit', 'accept-rollback', ...known])).code).toBe(0);
      expect((await runCommand([...argv, '--accept-changes'])).code).toBe(0);
    });

    test('one that leaves no trace, because the row is gone that authenticates the others', async () => {
      const { argv } = forged('gone', (forger) => {
        forgeRoot(forger);
        forger.run('DELETE FROM integrity');
      });
      const accepted = await runCommand(argv);
      expect(accepted.stdout).toContain('which rows were changed is not known');
    });
  });

  test('asks the vault that runs, and accepts nothing behind its back', async () => {
    await using service = await startPristine('asked');
    const run = (...argv: readonly string[]) =>
      runCommand(['doctor', '--json', '--data-dir', service.directory, '--no-keychain', ...argv]);
    const rows = async () =>
      (JSON.parse((await run()).stdout) as Report).findings.filter(({ check }) => check === 'rows');
    expect(await rows()).toEqual([expect.objectContaining({ outcome: 'ok' })]);
    expect((await service.root.query('list_wallets')).status).toBe(200);
    expect((JSON.parse((await run()).stdout) as Report).findings).toContainEqual(
      expect.objectContaining({
        check: 'longest turn',
        detail: expect.stringMatching(/^\d+ ms, .+, at \d{4}-/) as string,
      }),
    );
    expect((await run('--accept-changes', '--recovery-file', phraseFile())).code).toBe(4);
    service.forger.run("UPDATE wallets SET name = name || ' of mine'");
    expect(await rows()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ outcome: 'failed', detail: expect.stringMatching(/^wallets /) as string }),
      ]),
    );
    // The finding is repeated at the next request.
    expect((await service.vault.rpc.status()).state).toBe('locked');
    expect(await rows()).toEqual(expect.arrayContaining([expect.objectContaining({ outcome: 'failed' })]));
  });
});
