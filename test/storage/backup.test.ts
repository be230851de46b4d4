/** Backups of a vault that runs: what is in the file, what a verification finds, and what a restore makes of it. */
import { randomBytes, randomInt } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BackupFile } from '../../main/backup/file.ts';
import { chunkCount, readHead, sealedLength } from '../../main/backup/format.ts';
import type { BackupSecret } from '../../preload/contract.ts';
import { restore, type Restored, type RestoreWish } from '../../main/backup/restore.ts';
import { Connection } from '../../main/storage/connection.ts';
import { migrate } from '../../main/storage/migrations.ts';
import { anchorAccount } from '../../main/keys/keyslots/slots.ts';
import { noKeychain, type Keychain } from '../../main/keys/keychain/keychain.ts';
import { systemClock } from '../../main/lib/clock.ts';
import { grantNotes, grantTime } from '../../main/lib/policies/grants.ts';
import { pauseOf } from '../../main/lib/policies/spenders.ts';
import { startVault } from '../../main/app/compose.ts';
import type { Vault } from '../../main/app/compose.ts';
import {
  activityOf,
  allowByVotes,
  newWallet,
  resultOf,
  send,
  startTestVault,
  temporaryDirectory,
  TestClient,
} from '../support/support.ts';
import { atLength } from '../campaigns/length.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';
import type { Json, TestVault } from '../support/support.ts';

const password = 'correct horse battery staple';

const refusal = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as unknown });

/** Wallets, keys, users and tags, and a log of what made them. */
async function fill(vault: TestVault): Promise<{ ethereum: string; names: string[] }> {
  const { root } = vault;
  const { ethereum, solana } = await newWallet(root, 'Rainy day');
  await newWallet(root, 'Groceries');
  await vault.newUser('Grace Hopper');
  const { body: tag } = await root.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'Accountants',
    userIds: [],
  });
  expect(tag).toBeDefined();
  const privateKeys = [
    {
      privateKeyName: 'Validator One',
      curve: 'CURVE_SECP256K1',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'],
    },
    {
      privateKeyName: 'Validator Two',
      curve: 'CURVE_ED25519',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_SOLANA'],
    },
  ];
  const made = resultOf(await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys }));
  const addresses = made.privateKeys.flatMap((key) => key.addresses.map(({ address }) => address));
  await root.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId: (await whoami(root)).userId });
  return {
    ethereum,
    names: [
      ...['Rainy day', 'Groceries', 'Grace Hopper', 'Accountants', 'Validator One', 'Validator Two', 'Tests'],
      ...[ethereum, ethereum.slice(2), solana, ...addresses],
    ],
  };
}

const whoami = async (client: TestClient): Promise<{ userId: string }> =>
  (await client.query('whoami')).body as { userId: string };

const wish = (directory: string, file: string, how: BackupSecret): RestoreWish => ({
  directory,
  file,
  how,
  keychain: noKeychain('there is none in this test'),
  random: (_purpose, length) => new Uint8Array(randomBytes(length)),
  clock: systemClock,
  onProgress: () => undefined,
  onKept: () => undefined,
});

/** Serves what was restored, with the settings of the vault that it came from. */
const serve = ({ config }: TestVault, directory: string): Promise<Vault> =>
  startVault({ ...config, dataDirectory: directory });

/** Every row of every table but those in which a restored vault differs. */
function contents(database: string): Record<string, unknown[]> {
  const sqlite = new Sqlite(database, { readonly: true });
  try {
    const tables = sqlite
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all() as string[];
    return Object.fromEntries(
      tables
        .filter((table) => !['backups', 'backup_schedule', 'security_events', 'integrity'].includes(table))
        .map((table) => [table, sqlite.prepare(`SELECT * FROM ${table}`).all()]),
    );
  } finally {
    sqlite.close();
  }
}

/** Without the last uses, which a vault that runs writes by itself from time to time. */
const steadyContents = (database: string): Record<string, unknown[]> => {
  const tables = Object.entries(contents(database));
  return Object.fromEntries(tables.filter(([table]) => !['credential_uses', 'key_uses'].includes(table)));
};

/** As the keychain of one machine. */
class MachineKeychain implements Keychain {
  readonly entries = new Map<string, Uint8Array>();
  get(account: string): Promise<Uint8Array | undefined> {
    const entry = this.entries.get(account);
    return Promise.resolve(entry && Uint8Array.from(entry));
  }
  set(account: string, secret: Uint8Array): Promise<void> {
    this.entries.set(account, Uint8Array.from(secret));
    return Promise.resolve();
  }
  delete(account: string): Promise<void> {
    this.entries.delete(account);
    return Promise.resolve();
  }
  probe(): ReturnType<Keychain['probe']> {
    return Promise.resolve({ available: true });
  }
}

describe('a backup of a vault with everything in it', () => {
  let vault: TestVault;
  let place: ReturnType<typeof temporaryDirectory>;
  let file: string;
  let before: ReturnType<typeof contents>;
  let filled: Awaited<ReturnType<typeof fill>>;
  const phrase = (): BackupSecret => ({ with: 'recovery', phrase: vault.recoveryPhrase });

  beforeAll(async () => {
    vault = await startTestVault({ password });
    place = temporaryDirectory();
    file = join(place.path, 'all.backup');
    filled = await fill(vault);
    before = contents(join(vault.directory, 'vault.db'));
    await vault.vault.rpc.backUp({ file });
  });
  afterAll(async () => {
    place[Symbol.dispose]();
    await vault[Symbol.asyncDispose]();
  });

  test('is for its owner alone, whole, and leaves nothing else behind', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(place.path)).toEqual(['all.backup']);
    expect(readdirSync(vault.directory).filter((name) => /copy|draft/.test(name))).toEqual([]);
    await using backup = await BackupFile.open(file);
    expect(backup.head.header.keyslots.map(({ kind }) => kind).sort()).toEqual(['password', 'recovery']);
    const { backups } = await vault.vault.rpc.backups();
    expect(backups).toMatchObject([{ file, size: statSync(file).size, found: true, logRows: 6 }]);
  });

  test('tells nothing of the vault to who has no slot', () => {
    const bytes = readFileSync(file);
    const text = bytes.toString('latin1').toLowerCase();
    const secrets = [
      vault.recoveryPhrase,
      password,
      vault.organizationId,
      vault.rootUserId,
      vault.key.publicKey,
    ];
    for (const name of [...filled.names, ...secrets]) {
      const forms = [
        name,
        Buffer.from(name).toString('hex'),
        Buffer.from(name).toString('base64').slice(0, -3),
      ];
      for (const form of forms) expect(text.includes(form.toLowerCase()), form).toBe(false);
    }
    // The method finds what is there: the vault's own file has the names.
    const database = readFileSync(join(vault.directory, 'vault.db-wal')).toString('latin1');
    expect(database).toContain('Rainy day');
  });

  test.each<[string, () => BackupSecret]>([
    ['the recovery phrase', phrase],
    ['the password', () => ({ with: 'password', password })],
  ])('restores with %s to the same vault, which signs', async (_what, how) => {
    using home = temporaryDirectory();
    const directory = join(home.path, 'deep', 'vault');
    const restored = await restore(wish(directory, file, how()));
    expect(restored).toMatchObject({
      organizationId: vault.organizationId,
      organizationName: 'Tests',
      ownerUserId: vault.rootUserId,
      keyslots: ['recovery', 'password'],
      keychainProblem: 'there is none in this test',
      log: { rows: 6 },
    } satisfies Partial<Record<keyof Restored, unknown>>);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'vault.db')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).filter((name) => !name.startsWith('lock'))).toEqual(['vault.db']);
    expect(contents(join(directory, 'vault.db'))).toEqual(before);

    await using served = await serve(vault, directory).then((it) => ({
      vault: it,
      [Symbol.asyncDispose]: () => it.close(),
    }));
    expect((await served.vault.rpc.status()).state).toBe('locked');
    const secret = how();
    await served.vault.rpc.unlock(secret);
    const client = new TestClient(served.vault.url, vault.organizationId, vault.key);
    const body = client.submitBody('SIGN_RAW_PAYLOAD_V2', {
      signWith: filled.ethereum,
      payload: 'the same key',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    const there = resultOf(await client.post('submit/sign_raw_payload', body));
    const here = resultOf(await vault.root.post('submit/sign_raw_payload', body));
    expect([there.r, there.s, there.v]).toEqual([here.r, here.s, here.v]);
    // The source is known, and no schedule is kept.
    expect(await served.vault.rpc.backups()).toMatchObject({
      backups: [{ file, logRows: 6 }],
      schedule: null,
    });
    // Both went on from the same log: this one has no part of the other's, and the file belongs to both.
    expect(await served.vault.rpc.verifyBackup({ file })).toMatchObject({
      problemCount: 0,
      uncovered: { activities: 1, resources: [] },
    });
  });

  test('gets a slot in the keychain of its new machine, and loses the other’s', async () => {
    const old = new MachineKeychain();
    const next = new MachineKeychain();
    await using first = await startTestVault({ empty: true, substitutes: { keychain: old } });
    await first.vault.setUp({
      organizationName: 'Movers',
      userName: 'Root',
      useKeychain: true,
      recoveryPhrase: vault.recoveryPhrase,
      recoveryConfirmed: true,
    });
    const moved = join(place.path, 'moved.backup');
    await first.vault.rpc.backUp({ file: moved });
    using home = temporaryDirectory();
    const restored = await restore({ ...wish(home.path, moved, phrase()), keychain: next });
    expect(restored).toMatchObject({ keyslots: ['recovery', 'keychain'], keychainProblem: null });
    const second = await startVault({ ...first.config, dataDirectory: home.path }, { keychain: next });
    try {
      expect((await second.rpc.unlock({ with: 'keychain' })).state).toBe('unlocked');
    } finally {
      await second.close();
    }
    expect([...next.entries.keys()]).not.toEqual([...old.entries.keys()]);
    rmSync(moved);
  });

  test('leaves nothing in the keychain where the vault cannot be put in its place', async () => {
    using home = temporaryDirectory();
    const keychain = new MachineKeychain();
    const anchor = anchorAccount(readHead(readFileSync(file)).header.vaultId);
    keychain.entries.set(anchor, Uint8Array.of(1));
    const probe = vi.spyOn(keychain, 'probe').mockImplementation(() => {
      mkdirSync(join(home.path, 'vault.db', 'in the way'), { recursive: true });
      return Promise.resolve({ available: true });
    });
    await expect(restore({ ...wish(home.path, file, phrase()), keychain })).rejects.toThrow();
    expect(probe).toHaveBeenCalledOnce();
    expect([...keychain.entries.keys()]).toEqual([anchor]);
  });

  test('is proven, with what it opened told, and the date recorded', async () => {
    const proven = await vault.vault.rpc.verifyBackup({ file, secret: phrase() });
    expect(proven).toMatchObject({
      file,
      openedWith: 'recovery',
      organization: 'Tests',
      log: { rows: 6 },
      // Five keys of the vault's own, the row key, two wallets, two private keys, an import target.
      counts: { users: 2, wallets: 2, accounts: 4, privateKeys: 2, sealed: 11 },
      problems: [],
      problemCount: 0,
    });
    const { backups, notices } = await vault.vault.rpc.backups();
    expect(backups.find((backup) => backup.file === file)).toMatchObject({
      provenAt: proven.recordedAt,
      problem: null,
    });
    expect(notices).toEqual([]);
  });

  test('is compared with the vault, which goes on', async () => {
    const since = join(place.path, 'since.backup');
    await vault.vault.rpc.backUp({ file: since });
    await newWallet(vault.root, 'After');
    await vault.root.submit('update_user_name', 'UPDATE_USER_NAME', {
      userId: vault.rootUserId,
      userName: 'Renamed',
    });
    const { uncovered } = await vault.vault.rpc.verifyBackup({ file: since });
    expect(uncovered).toEqual({
      activities: 2,
      resources: [
        { kind: 'users', added: 0, changed: 1, removed: 0 },
        { kind: 'wallets', added: 1, changed: 0, removed: 0 },
        { kind: 'wallet accounts', added: 2, changed: 0, removed: 0 },
      ],
    });
    rmSync(since);
  });

  test('does not open with another secret, and names those that open it', async () => {
    const wrong = `${'abandon '.repeat(23)}art`;
    const notThisOne = refusal(
      'WRONG_SECRET',
      /^The backup does not open\. The recovery phrase does not open this vault\. .* with: (password, recovery phrase|recovery phrase, password)\.$/,
    );
    using home = temporaryDirectory();
    await expect(restore(wish(home.path, file, { with: 'recovery', phrase: wrong }))).rejects.toEqual(
      notThisOne,
    );
    expect(readdirSync(home.path)).toEqual([]);
    const { rpc } = vault.vault;
    await expect(rpc.verifyBackup({ file, secret: { with: 'recovery', phrase: wrong } })).rejects.toEqual(
      notThisOne,
    );
  });

  test('is not restored over a vault, nor over what cannot be read', async () => {
    const now = steadyContents(join(vault.directory, 'vault.db'));
    await expect(restore(wish(vault.directory, file, phrase()))).rejects.toMatchObject({
      name: 'VaultInUseError',
    });
    expect(steadyContents(join(vault.directory, 'vault.db'))).toEqual(now);
    using home = temporaryDirectory();
    await restore(wish(home.path, file, phrase()));
    const made = readFileSync(join(home.path, 'vault.db'));
    await expect(restore(wish(home.path, file, phrase()))).rejects.toEqual(
      refusal('ALREADY_EXISTS', /^there is a vault in .*vault\.db already: it is not overwritten/),
    );
    expect(readFileSync(join(home.path, 'vault.db')).equals(made)).toBe(true);
    writeFileSync(join(home.path, 'vault.db'), 'no database at all, but somebody’s');
    await expect(restore(wish(home.path, file, phrase()))).rejects.toEqual(
      refusal('ALREADY_EXISTS', /cannot be read \(it is damaged, or not a database\): it is not overwritten/),
    );
  });

  test('takes the place of the empty file that a killed window leaves before its first run', async () => {
    using home = temporaryDirectory();
    const directory = home.path;
    const empty = Connection.open(join(directory, 'vault.db'));
    migrate(empty);
    empty.close();
    await restore(wish(directory, file, phrase()));
    expect(contents(join(directory, 'vault.db'))['users']).toHaveLength(2);
  });

  test('is not written over anything that was not to be replaced', async () => {
    const { rpc } = vault.vault;
    const other = join(place.path, 'other');
    const bytes = readFileSync(file);
    await expect(rpc.backUp({ file })).rejects.toEqual(
      refusal('ALREADY_EXISTS', /already: choose another name/),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
    for (const [name, make] of [
      [
        'a letter',
        () => {
          writeFileSync(other, 'Dear Ada');
        },
      ],
      [
        'a directory',
        () => {
          mkdirSync(other);
        },
      ],
      [
        'a link',
        () => {
          symlinkSync(file, other);
        },
      ],
    ] as const) {
      make();
      await expect(rpc.backUp({ file: other, replace: true }), name).rejects.toEqual(
        refusal('ALREADY_EXISTS', /is no Keyhearth backup, and only a backup is replaced by one/),
      );
      rmSync(other, { recursive: true });
    }
    const twice = join(place.path, 'twice.backup');
    await rpc.backUp({ file: twice });
    const first = readFileSync(twice);
    await rpc.backUp({ file: twice, replace: true });
    expect(readFileSync(twice).equals(first)).toBe(false);
    const { backups } = await rpc.backups();
    expect(backups.filter((backup) => backup.file === twice)).toHaveLength(1);
    rmSync(twice);
  });

  test.each<[string, () => string, RegExp]>([
    ['a relative path', () => 'here.backup', /invalid file: expected an absolute path, got \./],
    ['the vault’s own directory', () => join(vault.directory, 'b.backup'), /is the vault's own directory/],
    [
      'a directory that is not there',
      () => join(place.path, 'gone', 'b.backup'),
      /there is no directory .*gone$/,
    ],
  ])('goes not to %s', async (_what, path, message) => {
    await expect(vault.vault.rpc.backUp({ file: path() })).rejects.toEqual(
      refusal('INVALID_ARGUMENT', message),
    );
  });

  test('of a locked vault needs a secret of it', async () => {
    const { rpc } = vault.vault;
    const locked = join(place.path, 'locked.backup');
    await rpc.lock();
    try {
      await expect(rpc.backUp({ file: locked })).rejects.toEqual(
        refusal('VAULT_LOCKED', /^The vault is locked/),
      );
      await expect(rpc.verifyBackup({ file })).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
      await expect(
        rpc.backUp({ file: locked, secret: { with: 'password', password: 'incorrect horse' } }),
      ).rejects.toEqual(refusal('WRONG_SECRET', /^The password does not open this vault\.$/));
      expect(existsSync(locked)).toBe(false);
      await rpc.backUp({ file: locked, secret: { with: 'password', password } });
      expect(await rpc.verifyBackup({ file: locked, secret: phrase() })).toMatchObject({
        problemCount: 0,
      });
      expect((await rpc.status()).state).toBe('locked');
      // Nothing is written while the vault is locked; it is known all the same.
      const rows = (): unknown[] =>
        vault.vault.connection.all('SELECT * FROM backups WHERE file = ?', locked);
      expect(rows()).toEqual([]);
      expect((await rpc.backups()).backups[0]).toMatchObject({ file: locked, problem: null });
    } finally {
      await rpc.unlock({ with: 'password', password });
    }
    await expect
      .poll(() => vault.vault.connection.all('SELECT proven_at FROM backups WHERE file = ?', locked))
      .toMatchObject([{ proven_at: expect.any(Number) as unknown }]);
    rmSync(locked);
  });

  test('of another vault is recognized, and verified with its own secret', async () => {
    await using other = await startTestVault();
    const foreign = join(place.path, 'foreign.backup');
    await other.vault.rpc.backUp({ file: foreign });
    const { rpc } = vault.vault;
    await expect(rpc.verifyBackup({ file: foreign })).rejects.toEqual(
      refusal('INVALID_ARGUMENT', /^this is a backup of another vault/),
    );
    const secret = { with: 'recovery', phrase: other.recoveryPhrase } as const;
    expect(await rpc.verifyBackup({ file: foreign, secret })).toMatchObject({
      vaultId: expect.not.stringMatching(/^$/) as unknown,
      problemCount: 0,
      uncovered: null,
      recordedAt: null,
    });
    rmSync(foreign);
  });

  test('that is damaged is found by a verification, and listed with its problem', async () => {
    const { rpc } = vault.vault;
    const damaged = join(place.path, 'damaged.backup');
    await rpc.backUp({ file: damaged });
    const bytes = readFileSync(damaged);
    writeFileSync(damaged, bytes.with(bytes.length - 5000, (bytes.at(-5000) ?? 0) ^ 1));
    await expect(rpc.verifyBackup({ file: damaged })).rejects.toEqual(
      refusal('BACKUP_UNREADABLE', /part \d of \d is damaged/),
    );
    expect((await rpc.backups()).backups[0]).toMatchObject({
      file: damaged,
      provenAt: null,
      problem: expect.stringMatching(/is damaged/) as unknown,
    });
    rmSync(damaged);
  });

  const cutTimes = atLength(50, 400);
  const turnedTimes = atLength(60, 600);

  test(
    `${String(cutTimes)} times cut and ${String(turnedTimes)} times with a bit turned over, is refused by name, and nothing of it is restored`,
    { timeout: 240_000 },
    async () => {
      using home = temporaryDirectory();
      const damaged = join(home.path, 'damaged.backup');
      const directory = join(home.path, 'vault');
      const whole = readFileSync(file);
      await using backup = await BackupFile.open(file);
      const { length: headLength } = backup.head;
      const chunk = sealedLength(backup.head.header, 0);
      expect(chunkCount(backup.head.header)).toBeGreaterThan(1);
      const told = new Map<string, number>();

      async function expectRefused(bytes: Uint8Array, what: string): Promise<void> {
        writeFileSync(damaged, bytes);
        const error = await restore(wish(directory, damaged, phrase())).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error, what).toMatchObject({ name: 'KeyhearthError', code: 'BACKUP_UNREADABLE' });
        const left = existsSync(directory)
          ? readdirSync(directory).filter((name) => !name.startsWith('lock'))
          : [];
        expect(left, what).toEqual([]);
        const kind = (error as Error).message.replaceAll(/\d+/g, '#').slice(0, 60);
        told.set(kind, (told.get(kind) ?? 0) + 1);
      }

      const edges = [0, 1, 17, 82, 83, headLength - 1, headLength, headLength + 16, headLength + chunk];
      const cuts = [...edges, ...edges.map((at) => whole.length - 1 - at)];
      for (let index = 0; index < cutTimes; index++) {
        const at = cuts[index] ?? randomInt(index % 4 === 0 ? headLength : whole.length);
        await expectRefused(whole.subarray(0, at), `cut at ${String(at)}`);
      }
      for (let index = 0; index < turnedTimes; index++) {
        const at = index % 3 === 0 ? randomInt(headLength) : randomInt(whole.length);
        const bit = 1 << randomInt(8);
        await expectRefused(
          whole.with(at, (whole[at] ?? 0) ^ bit),
          `bit ${String(bit)} of byte ${String(at)}`,
        );
      }
      // Also with a deliberate forgery.
      const chunkAt = (index: number): Uint8Array =>
        whole.subarray(headLength + index * chunk, headLength + (index + 1) * chunk);
      const head = whole.subarray(0, headLength);
      const rest = whole.subarray(headLength + 2 * chunk);
      await expectRefused(Buffer.concat([whole, Buffer.from([0])]), 'a byte after the end');
      await expectRefused(Buffer.concat([whole, whole]), 'twice');
      if (rest.length > 0) {
        await expectRefused(Buffer.concat([head, chunkAt(1), chunkAt(0), rest]), 'two parts swapped');
        await expectRefused(Buffer.concat([head, chunkAt(0), chunkAt(0), rest]), 'one part twice');
      }
      const second = join(place.path, 'second.backup');
      await vault.vault.rpc.backUp({ file: second });
      await using other = await BackupFile.open(second);
      const foreign = readFileSync(second);
      const mixed = Buffer.from(whole);
      foreign.copy(mixed, headLength, other.head.length, other.head.length + chunk);
      await expectRefused(mixed, 'a part of another backup');
      rmSync(second);
      // The faults have different messages.
      expect(told.size).toBeGreaterThan(4);

      // The file itself was not touched by any of this.
      await restore(wish(directory, file, phrase()));
    },
  );

  test('an error of the system is reported in its words, and leaves nothing', async () => {
    if (process.getuid?.() === 0) {
      // Root may write anywhere, but not a file where a directory is.
      const inTheWay = join(place.path, 'full.backup.draft');
      mkdirSync(inTheWay);
      await expect(vault.vault.rpc.backUp({ file: join(place.path, 'full.backup') })).rejects.toEqual(
        refusal(
          'UNAVAILABLE',
          /full\.backup\.draft cannot be used: (it is a directory|the system does not permit it)$/,
        ),
      );
      rmSync(inTheWay, { recursive: true });
    } else {
      const shut = join(place.path, 'shut');
      mkdirSync(shut, { mode: 0o500 });
      await expect(vault.vault.rpc.backUp({ file: join(shut, 'b.backup') })).rejects.toEqual(
        refusal('UNAVAILABLE', /permission is denied/),
      );
      chmodSync(shut, 0o700);
      rmSync(shut, { recursive: true });
    }
    expect(readdirSync(place.path).filter((name) => name.startsWith('full'))).toEqual([]);
    expect(readdirSync(vault.directory)).not.toContain('vault.db.copy');
  });
});

describe('a verification', () => {
  test.each<[string, string, RegExp]>([
    [
      'an address that is another’s',
      "UPDATE wallet_accounts SET address = '0x0000000000000000000000000000000000000000' WHERE address_format = 'ADDRESS_FORMAT_ETHEREUM'",
      /^wallet account [0-9a-f-]+: its address is 0x0{40}, and its secret gives 0x/,
    ],
    [
      'a public key that is another’s',
      "UPDATE wallet_accounts SET public_key = 'ff' WHERE address_format = 'ADDRESS_FORMAT_SOLANA'",
      /^wallet account [0-9a-f-]+: its public key is ff, and/,
    ],
    [
      'an address of a private key',
      "UPDATE private_key_addresses SET address = 'bc1q' WHERE position = 1",
      /^private key [0-9a-f-]+: its address is bc1q, and/,
    ],
    [
      'a sealed key in another’s place',
      'UPDATE private_keys SET sealed = (SELECT sealed FROM wallets)',
      /^private key [0-9a-f-]+: The sealed record of row .* does not open/,
    ],
    [
      'a path that leads elsewhere',
      "UPDATE wallet_accounts SET path = 'm/44''/60''/0''/0/7' WHERE address_format = 'ADDRESS_FORMAT_ETHEREUM'",
      /^wallet account [0-9a-f-]+: its public key is /,
    ],
    [
      'a wallet that does not open, and its accounts with it',
      "UPDATE wallets SET sealed = X'01'",
      /^wallet [0-9a-f-]+: The sealed record of row/,
    ],
    [
      'an import target that does not open',
      "UPDATE import_targets SET sealed = X'02'",
      /^import_targets [0-9a-f-]+: /,
    ],
    [
      'a key of the vault’s own',
      "UPDATE server_keys SET public_key = '04' WHERE name = 'notarizer'",
      /^server key notarizer: its public key is 04, and/,
    ],
    [
      'a log that was edited',
      "PRAGMA recursive_triggers = OFF; REPLACE INTO activities SELECT sequence, id, revision, organization_id, type, status, fingerprint, timestamp_ms, '{}', result, failure, votes, created_at, updated_at, previous_hash, hash FROM activities WHERE sequence = 2",
      /^activity log: entry 2 was changed after it was written$/,
    ],
    [
      'a row that refers to none',
      "PRAGMA foreign_keys = OFF; UPDATE wallet_accounts SET wallet_id = 'gone'",
      /^database: 2 rows refer to rows that are not there$/,
    ],
  ])('finds %s', async (_what, sql, problem) => {
    await using vault = await startTestVault();
    using place = temporaryDirectory();
    const { root } = vault;
    await newWallet(root);
    const addressFormats = ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'];
    const privateKeys = [
      { privateKeyName: 'K', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats },
    ];
    await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys });
    await root.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId: vault.rootUserId });
    vault.vault.connection.exec(sql);
    const file = join(place.path, 'edited.backup');
    await vault.vault.rpc.backUp({ file });
    const found = await vault.vault.rpc.verifyBackup({ file });
    expect(found.problemCount).toBeGreaterThan(0);
    expect(found.problems).toContainEqual(expect.stringMatching(problem));
    expect(found.recordedAt).toBeNull();
    const { backups } = await vault.vault.rpc.backups();
    expect(backups[0]).toMatchObject({ provenAt: null, problem: found.problems[0] });
    await vault.vault.rpc.lock();
  });

  test('finds a row that another program changed while the vault was locked', async () => {
    await using vault = await startTestVault();
    using place = temporaryDirectory();
    await vault.vault.rpc.lock();
    const stranger = new Sqlite(join(vault.directory, 'vault.db'));
    stranger.exec("UPDATE users SET name = 'Mallory'");
    stranger.close();
    const file = join(place.path, 'changed.backup');
    const secret = { with: 'recovery', phrase: vault.recoveryPhrase } as const;
    await vault.vault.rpc.backUp({ file, secret });
    const found = await vault.vault.rpc.verifyBackup({ file, secret });
    expect(found.problems).toEqual([`users ${vault.rootUserId}: it was changed or added`]);
    const target = join(place.path, 'restored');
    await expect(restore(wish(target, file, secret))).rejects.toEqual(
      refusal(
        'BACKUP_UNREADABLE',
        /its vault was changed outside Keyhearth: users .*: it was changed or added\. /,
      ),
    );
    expect(existsSync(join(target, 'vault.db'))).toBe(false);
  });

  test('tells a vault that is older than its backup, and one that went another way', async () => {
    await using vault = await startTestVault();
    using place = temporaryDirectory();
    await newWallet(vault.root, 'First');
    const database = join(vault.directory, 'vault.db');
    vault.vault.connection.pragma('wal_checkpoint(TRUNCATE)');
    const older = join(place.path, 'older.db');
    copyFileSync(database, older);
    await newWallet(vault.root, 'Second');
    const file = join(place.path, 'b.backup');
    await vault.vault.rpc.backUp({ file });
    await vault.vault.close();
    // A file of its own: the mark of the one that it takes the place of is not about it.
    for (const name of ['vault.db', 'vault.db-wal', 'vault.db-shm']) {
      rmSync(join(vault.directory, name), { force: true });
    }
    copyFileSync(older, database);
    const again = await startVault(vault.config);
    try {
      await again.rpc.unlock({ with: 'recovery', phrase: vault.recoveryPhrase });
      expect(await again.rpc.verifyBackup({ file })).toMatchObject({
        problemCount: 1,
        problems: [/older than its backup/.source].map((text) => expect.stringMatching(text) as unknown),
      });
      const client = new TestClient(again.url, vault.organizationId, vault.key);
      await newWallet(client, 'Another');
      expect((await again.rpc.verifyBackup({ file })).problems).toEqual([
        expect.stringMatching(/entry 2 of the vault is not the one in the backup: their histories part$/),
      ]);
    } finally {
      await again.close();
    }
  });
});

test('a backup with a foreign view, whose rows come to no end, is refused by a verification', async () => {
  await using vault = await startTestVault();
  using place = temporaryDirectory();
  const { connection, rpc } = vault.vault;
  connection.exec(`DROP TABLE secrets; CREATE VIEW secrets AS
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS sequence, X'00' AS sealed FROM n`);
  const file = join(place.path, 'hostile.backup');
  await rpc.backUp({ file });
  await expect(rpc.verifyBackup({ file })).rejects.toEqual(
    refusal('BACKUP_UNREADABLE', /its schema was changed: secrets: the view secrets was changed/),
  );
  await rpc.lock();
});

test('a backup whose schema another program changed is refused, and no name in it is run as a statement', async () => {
  await using vault = await startTestVault();
  using place = temporaryDirectory();
  const outside = join(place.path, 'outside.db');
  const name = `x_mac_insert AFTER INSERT ON main.users BEGIN SELECT 1; END; ATTACH '${outside}' AS o; CREATE TABLE o.t (a); --`;
  vault.vault.connection.exec(`CREATE TABLE "${name}" (id TEXT PRIMARY KEY, mac BLOB)`);
  const file = join(place.path, 'hostile.backup');
  await vault.vault.rpc.backUp({ file });
  const directory = join(place.path, 'restored');
  const how: BackupSecret = { with: 'recovery', phrase: vault.recoveryPhrase };
  await expect(restore(wish(directory, file, how))).rejects.toEqual(
    refusal('BACKUP_UNREADABLE', /its schema was changed: .* was added/),
  );
  expect(existsSync(outside)).toBe(false);
  await vault.vault.rpc.lock();
});

// As the command, the window and the documentation tell the owner.
test('a restore brings back what was deleted, forbidden, decided, sent or switched off since, and no grant', async () => {
  await using vault = await startTestVault({ password });
  using place = temporaryDirectory();
  await using receiver = await WebhookReceiver.start();
  const { root } = vault;
  const grace = await vault.newUser('Grace');
  const endpoint = { url: receiver.url, name: 'Receiver' };
  const { endpointId } = resultOf(
    await root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', endpoint),
  ) as unknown as Json;
  await allowByVotes(root, 'two', "activity.action == 'CREATE'", 2);
  const tag = { userTagName: 'Accountants', userIds: [] };
  const asked = activityOf(await grace.client.submit('create_user_tag', 'CREATE_USER_TAG', tag));
  expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  const { rpc } = vault.vault;
  const now = vault.clock.now();
  const granted = { policyName: 'a grant', notes: grantNotes, time: grantTime(now, now + 600_000) };
  const grant = { ...granted, effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true' };
  resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', grant));
  const tool = { door: 'ethereum', name: 'tool' } as const;
  await rpc.changeDoors({ change: 'switch', door: 'ethereum', on: true });
  const { token } = await rpc.changeDoors({ change: 'pair', ...tool });
  const isLetIn = async (url: string): Promise<boolean> =>
    (await send(url, { method: 'GET', path: `/rpc/${String(token)}/upcheck` })).status === 200;
  expect(await isLetIn(vault.url)).toBe(true);
  const file = join(place.path, 'earlier.backup');
  await rpc.backUp({ file });
  await rpc.changeDoors({ change: 'remove', ...tool });
  await rpc.changeDoors({ change: 'switch', door: 'ethereum', on: false });
  expect(await isLetIn(vault.url)).toBe(false);
  const { policyName, effect, condition, consensus } = pauseOf('Agent', grace.userId);
  const pause = { policyName, effect, condition, consensus, notes: '' };
  resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', pause));
  const decide = { fingerprint: asked.fingerprint };
  resultOf(await root.submit('reject_activity', 'REJECT_ACTIVITY', decide));
  const sent = root.submitBody('CREATE_WALLET', { walletName: 'Savings', accounts: [] });
  const made = resultOf(await root.post('submit/create_wallet', sent)).walletId;
  resultOf(await root.submit('delete_users', 'DELETE_USERS', { userIds: [grace.userId] }));
  resultOf(await root.submit('delete_webhook_endpoint', 'DELETE_WEBHOOK_ENDPOINT', { endpointId }));

  const directory = join(place.path, 'restored');
  await restore(wish(directory, file, { with: 'password', password }));
  const served = await serve(vault, directory);
  try {
    await served.rpc.unlock({ with: 'password', password });
    const { organizationId, key } = vault;
    const again = new TestClient(served.url, organizationId, key);
    const users = (await again.query('list_users')).body as unknown as { users: { userId: string }[] };
    expect(users.users.map(({ userId }) => userId)).toContain(grace.userId);
    const waiting = await again.query('get_activity', { activityId: asked.id });
    expect(activityOf(waiting).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(await isLetIn(served.url)).toBe(true);
    const { policies } = (await again.query('list_policies')).body as unknown as {
      policies: readonly Json[];
    };
    expect(policies.map(({ policyName }) => policyName)).toEqual(['two']);
    const wallet = activityOf(await again.post('submit/create_wallet', sent));
    expect(wallet.result['createWalletResult']?.['walletId']).not.toBe(made);
    await vi.waitFor(() => {
      expect(receiver.ids).toContain(wallet.id);
    });
  } finally {
    await served.close();
  }
});

test('a vault in memory says that it has no backups', async () => {
  const { config, vault } = await startTestVault();
  await vault.close();
  rmSync(dirname(String(config.dataDirectory)), { recursive: true });
  const inMemory = await startVault({ ...config, dataDirectory: null });
  try {
    expect(await inMemory.rpc.backups()).toMatchObject({ available: false, backups: [], notices: [] });
    await inMemory.setUp({
      organizationName: 'Passing',
      userName: 'Root',
      useKeychain: false,
      recoveryPhrase: `${'abandon '.repeat(23)}art`,
      recoveryConfirmed: true,
    });
    await expect(inMemory.rpc.backUp({ file: '/tmp/x.backup' })).rejects.toEqual(
      refusal('INVALID_ARGUMENT', /^a vault in memory has no backups$/),
    );
  } finally {
    await inMemory.close();
  }
});
