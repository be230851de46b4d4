/**
 * A disk that refuses writes: full, or read-only. The class is every place that writes: each error names the
 * file, the cause and the remedy. Requests get 503 and no unfinished work is called done. The owner learns it
 * once, everywhere. There is room to freeze and to lock.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noSmallDisks, SmallDisk } from './small-disk.ts';
import { FaultyDisk } from '../campaigns/faulty-disk.ts';
import { ServedVault } from '../campaigns/served-vault.ts';
import { activityOf, command, newWallet, runCommand, TestClient, testKeyOf } from '../support/support.ts';
import type { CommandOptions, CommandProcess, Json } from '../support/support.ts';

const obstacle = noSmallDisks();
if (obstacle !== undefined) process.stderr.write(`${obstacle}\n`);

const password = 'a password of the storage test';

/** A vault on a small disk. */
class Vault implements AsyncDisposable {
  readonly disk: SmallDisk;
  readonly directory: string;
  readonly environment: Record<string, string>;
  #service: CommandProcess | undefined;
  #made: Json = {};

  constructor(disk: SmallDisk) {
    this.disk = disk;
    this.directory = join(disk.mounted, 'vault');
    writeFileSync(join(disk.path, 'password'), `${password}\n`, { mode: 0o600 });
    this.environment = {
      HOME: disk.path,
      KEYHEARTH_DATA_DIR: this.directory,
      KEYHEARTH_CONFIG_DIR: join(disk.path, 'config'),
    };
  }

  static async on(sizeKiB: number): Promise<Vault> {
    return new Vault(await SmallDisk.mount(sizeKiB));
  }

  get passwordFile(): string {
    return join(this.disk.path, 'password');
  }

  run(argv: readonly string[], options: CommandOptions = {}) {
    return this.disk.run(argv, { environment: this.environment, ...options });
  }

  init(more: readonly string[] = []) {
    return this.run(['init', '--no-keychain', '--password-file', this.passwordFile, '--json', ...more]);
  }

  async make(): Promise<void> {
    const { stdout, stderr } = await this.init();
    this.#made = JSON.parse(stdout || stderr) as Json;
  }

  /** Serves it, unlocked. @returns the owner's client. */
  async serve(): Promise<TestClient> {
    const unlocking = ['--no-keychain', '--password-file', this.passwordFile];
    this.#service = this.disk.start(['serve', '--port', '0', '--json', ...unlocking], {
      environment: this.environment,
    });
    const { url } = JSON.parse(await this.#service.nextLine()) as { readonly url: string };
    const keys = join(this.disk.path, 'config', 'keys');
    const key = (kind: string): string => readFileSync(join(keys, `owner.${kind}`), 'utf8').trim();
    return new TestClient(
      url,
      String(this.#made['organizationId']),
      testKeyOf(key('private'), key('public')),
    );
  }

  get log(): string {
    return this.#service?.stderr ?? '';
  }

  async status(): Promise<Json> {
    const { stdout } = await this.run(['status', '--json']);
    return JSON.parse(stdout) as Json;
  }

  async stop(signal?: NodeJS.Signals): Promise<void> {
    await this.#service?.stop(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
    await this.disk[Symbol.asyncDispose]();
  }
}

const tag = (client: TestClient, name: string) =>
  client.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
    privateKeyTagName: name,
    privateKeyIds: [],
  });

/** Fills the disk and has requests come until one is refused, as the log of SQLite has room of its own. */
async function refusedAtLast(vault: Vault, client: TestClient) {
  vault.disk.fill();
  for (let index = 0; index < 400; index++) {
    const answer = await tag(client, `tag ${String(index)}`);
    if (answer.status !== 200) return answer;
  }
  throw new Error('the disk took all of it');
}

describe.skipIf(obstacle !== undefined)('a full disk', () => {
  test('answers 503 with the file and the cause, and reports it once in the log, in status and by doctor', async () => {
    await using vault = await Vault.on(6 * 1024);
    await vault.make();
    await using root = { client: await vault.serve(), [Symbol.asyncDispose]: () => vault.stop() };
    const { client } = root;
    expect(await vault.status()).toMatchObject({ storage: null });

    const refused = await refusedAtLast(vault, client);
    const database = join(vault.directory, 'vault.db');
    expect(refused.status, refused.text).toBe(503);
    expect(refused.body).toMatchObject({ code: 14, turnkeyErrorCode: 'STORAGE_UNAVAILABLE' });
    expect(refused.body?.['message']).toBe(
      `${database} cannot be written: the disk is full. The request was not executed. Make room on it, and send it again.`,
    );
    for (let index = 0; index < 20; index++) expect((await tag(client, 'again')).status).toBe(503);
    // Reading goes on.
    expect((await client.query('whoami')).status).toBe(200);

    expect(await vault.status()).toMatchObject({
      state: 'unlocked',
      storage: {
        cause: 'full',
        file: database,
        problem: expect.stringContaining('the disk is full') as string,
      },
    });
    expect((await vault.run(['status'])).stdout).toContain(`${database} cannot be written: the disk is full`);
    const doctor = await vault.run(['doctor', '--no-keychain']);
    expect(doctor).toMatchObject({ code: 1 });
    expect(doctor.stdout).toMatch(/^failed +disk +.*the disk is full/m);
    expect(doctor.stdout).not.toContain('All checks passed');
    expect(vault.log.split('the disk is full')).toHaveLength(2);

    // With room again, the very next request is executed, and the state is over.
    vault.disk.empty();
    expect((await tag(client, 'with room')).status).toBe(200);
    await expect.poll(async () => (await vault.status())['storage'], { timeout: 20_000 }).toBeNull();
    expect(vault.log.split('can be written again')).toHaveLength(2);
  });

  test('leaves room for a lock’s signed head', async () => {
    await using vault = await Vault.on(6 * 1024);
    await vault.make();
    const client = await vault.serve();
    expect((await tag(client, 'before')).status).toBe(200);
    await refusedAtLast(vault, client);
    const reserve = vault.disk.seen('vault/vault.reserve');
    expect(existsSync(reserve)).toBe(true);
    expect(await vault.run(['lock'])).toMatchObject({ code: 0 });
    expect(existsSync(reserve)).toBe(false);
    const { stdout, stderr } = await vault.run(['audit', 'head', '--json']);
    expect(stderr).toBe('');
    const { rows, head } = JSON.parse(stdout) as { rows: number; head: { sequence: number } };
    expect(head.sequence).toBe(rows);
    // Once there is room, it is held back again.
    vault.disk.empty();
    await expect.poll(() => existsSync(reserve), { timeout: 20_000 }).toBe(true);
    await vault.stop();
  });

  test('lets the vault be frozen, and it stays frozen after a kill', async () => {
    await using vault = await Vault.on(6 * 1024);
    await vault.make();
    const client = await vault.serve();
    await newWallet(client);
    await refusedAtLast(vault, client);
    expect(await vault.run(['freeze'])).toMatchObject({ code: 0 });
    await vault.stop('SIGKILL');
    vault.disk.empty();
    await vault.serve();
    expect(await vault.status()).toMatchObject({
      state: 'locked',
      frozen: { at: expect.any(Number) as number },
    });
    await vault.stop();
  });

  test('lets a vault be frozen that no process serves, says how, and the next start finds it', async () => {
    await using vault = await Vault.on(6 * 1024);
    await vault.make();
    await vault.serve();
    await vault.stop();
    vault.disk.fill();
    const { code, stdout, stderr } = await vault.run(['freeze']);
    expect(stderr).toMatch(
      /frozen by the name of the file ‘frozen’ beside it, and not in it: .*the disk is full/,
    );
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(readdirSync(vault.disk.seen('vault'))).toContain('frozen');
    // Once more changes nothing, and says the same.
    expect(await vault.run(['freeze'])).toEqual({ code, stdout, stderr });
    vault.disk.empty();
    await vault.serve();
    const { frozen } = await vault.status();
    expect(frozen).toMatchObject({ at: expect.any(Number) as number });
    expect(await vault.run(['unlock', '--password-file', vault.passwordFile])).toMatchObject({ code: 0 });
    expect(await vault.status()).toMatchObject({ state: 'unlocked', frozen: null });
    await vault.stop();
  });

  test('lets the master key be replaced where its COMMIT fits, and what is sealed afterwards opens', async () => {
    await using vault = await Vault.on(16 * 1024);
    await vault.make();
    const client = await vault.serve();
    const sign = (signWith: string, payload: string) =>
      client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        ...{ signWith, payload, encoding: 'PAYLOAD_ENCODING_TEXT_UTF8' },
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
    const { ethereum } = await newWallet(client);
    // The log of SQLite has them, and the file grows by them once it is emptied.
    for (let index = 0; index < 20; index++) activityOf(await sign(ethereum, 'x'.repeat(20_000)));
    // Enough for the transaction, and not for what it empties the log into.
    vault.disk.fill(400);
    const secret = ['--password-file', vault.passwordFile];
    const { code, stderr } = await vault.run(['keyslots', 'rotate', '--drop-others', ...secret]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await vault.status()).toMatchObject({ storage: { cause: 'full' } });

    vault.disk.empty();
    activityOf(await sign(ethereum, 'under the new key'));
    const second = await newWallet(client, 'Second');
    expect(await vault.run(['lock'])).toMatchObject({ code: 0 });
    expect(await vault.run(['unlock', ...secret])).toMatchObject({ code: 0 });
    activityOf(await sign(second.ethereum, 'of a wallet that was made afterwards'));
    await expect.poll(async () => (await vault.status())['storage'], { timeout: 20_000 }).toBeNull();
    await vault.stop();
  });

  test('is named by init, serve, backup and restore, which leave nothing half made', async () => {
    await using vault = await Vault.on(6 * 1024);
    const { disk } = vault;
    disk.fill(24);
    const init = await vault.init();
    expect(init.stderr).toMatch(/disk\/vault[^ ]* cannot be written: the disk is full\. Make room on it/);
    expect(init).toMatchObject({ code: 8, stdout: '' });
    disk.empty();
    // Neither what it made of a vault nor its key stands in the way of the next.
    await vault.make();
    expect((await vault.status())['running']).toBe(false);

    const backupFile = join(disk.mounted, 'all.backup');
    const opened = ['--password-file', vault.passwordFile];
    const elsewhere = join(disk.path, 'elsewhere.backup');
    expect(await vault.run(['backup', elsewhere, ...opened])).toMatchObject({ code: 0 });
    disk.fill(24);
    const backup = await vault.run(['backup', backupFile, ...opened]);
    expect(backup.stderr).toMatch(/cannot be written: the disk is full/);
    expect(backup.stderr).toContain(disk.mounted);
    expect(backup).toMatchObject({ code: 8 });
    expect(readdirSync(disk.seen('.')).sort()).toEqual(['filler', 'vault']);
    expect(readdirSync(disk.seen('vault')).filter((name) => /copy|draft|probe/.test(name))).toEqual([]);

    const other = join(disk.mounted, 'restored');
    const restore = await vault.run(['--data-dir', other, 'restore', elsewhere, ...opened]);
    expect(restore.stderr).toMatch(/disk\/restored.* cannot be written: the disk is full/);
    expect(restore).toMatchObject({ code: 8 });
    expect(existsSync(disk.seen('restored/vault.db'))).toBe(false);

    disk.fill();
    const serve = await vault.run(['serve', '--no-keychain', '--port', '0', ...opened]);
    expect(serve.stderr).toMatch(/cannot be written: the disk is full/);
    expect(serve).toMatchObject({ code: 8 });
  });
});

test.skipIf(process.platform === 'win32')(
  'a limit on the size of files that lets the vault grow no more is found by doctor, and named by what only reads',
  async () => {
    await using vault = await ServedVault.make();
    const doctor = ['doctor', '--no-keychain'];
    const under = (blocks: number, argv = doctor) =>
      runCommand([...argv, '--json', '--data-dir', vault.directory], {
        program: [
          '/bin/sh',
          '-c',
          `ulimit -f ${String(blocks)} && exec "$@"`,
          'sh',
          process.execPath,
          command,
        ],
        environment: { NODE_DISABLE_COMPILE_CACHE: '1' },
      });
    const limited = await under(2 * 100);
    expect(limited.stdout).toContain('vault.db cannot be written: the file would be larger');
    expect(limited.code).toBe(1);
    const { code, stdout } = await under(2 * 1024 * 1024);
    expect(code, stdout).toBe(0);
    // SQLite cannot make the file beside the vault's, and says that of a disk which fails in the same words.
    const audit = await under(0, ['audit', 'verify']);
    expect(audit.stderr).toContain('vault.db cannot be written: the file would be larger');
    expect(audit.code).toBe(8);
  },
);

describe.skipIf(obstacle !== undefined)('a disk that can only be read', () => {
  test('is named by what writes, and doctor and audit verify read it', async () => {
    await using vault = await Vault.on(6 * 1024);
    await vault.make();
    const client = await vault.serve();
    await newWallet(client);
    await vault.stop();
    const size = statSync(vault.disk.seen('vault/vault.db')).size;
    vault.disk.setReadOnly(true);
    for (const argv of [
      ['serve', '--no-keychain', '--port', '0', '--password-file', vault.passwordFile],
      ['settings', 'list'],
      ['keyslots', 'list'],
    ]) {
      const { code, stderr } = await vault.run(argv);
      expect(stderr, argv.join(' ')).toMatch(/disk\/vault.* cannot be written: the disk can only be read/);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(code, argv.join(' ')).toBe(8);
    }
    const freeze = await vault.run(['freeze']);
    expect(freeze.stderr).toMatch(
      /The vault is not frozen, as .* cannot be renamed: the disk can only be read/,
    );
    expect(freeze).toMatchObject({ code: 8, stdout: '' });
    const init = await vault.run(
      ['init', '--no-keychain', '--password-file', vault.passwordFile, '--key-name', 'other'],
      { environment: { ...vault.environment, KEYHEARTH_DATA_DIR: join(vault.disk.mounted, 'new') } },
    );
    expect(init.stderr).toMatch(/disk\/new.* cannot be written: the disk can only be read/);

    // A copy of the file is read, for which there must be a place.
    const withoutPlace = {
      environment: { ...vault.environment, TMPDIR: join(vault.disk.mounted, 'missing') },
    };
    const unread = await vault.run(['audit', 'verify'], withoutPlace);
    expect(unread.stderr).toMatch(/ can only be read, .* Name a directory that can be written in TMPDIR$/m);
    expect(unread.code).toBe(1);

    const verify = await vault.run(['audit', 'verify', '--json']);
    expect(verify, verify.stderr).toMatchObject({ code: 0 });
    const doctor = await vault.run([
      'doctor',
      '--no-keychain',
      '--json',
      '--password-file',
      vault.passwordFile,
    ]);
    const { findings } = JSON.parse(doctor.stdout || doctor.stderr) as {
      readonly findings: readonly {
        readonly check: string;
        readonly outcome: string;
        readonly detail: string;
      }[];
    };
    expect(findings.filter(({ outcome }) => outcome === 'failed')).toEqual([
      { check: 'disk', outcome: 'failed', detail: expect.stringContaining('can only be read') as string },
    ]);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'rows', outcome: 'ok' }));
    vault.disk.setReadOnly(false);
    expect(statSync(vault.disk.seen('vault/vault.db')).size).toBe(size);
  });
});

describe.skipIf(process.platform !== 'linux')('a disk that fails under a service', () => {
  test('is reported by its cause, once, and a failed sync leaves the outcome open', async () => {
    await using vault = await ServedVault.make();
    const disk = new FaultyDisk(vault.home, vault.directory);
    const { process: service, client } = await vault.serve(disk.environment);
    const database = join(vault.directory, 'vault.db');
    const cases = [
      ['write', 'EIO', 'failing', 'the disk failed'],
      ['write', 'EDQUOT', 'quota', 'the quota on the disk is used up'],
      ['write', 'EROFS', 'read-only', 'the disk can only be read'],
      ['write', 'ENOSPC', 'full', 'the disk is full'],
      ['sync', 'EIO', 'failing', 'the disk failed'],
    ] as const;
    for (const [call, fault, cause, what] of cases) {
      const where = `${fault} of ${call}`;
      const told = service.stderr.split(what).length;
      const body = client.submitBody('CREATE_PRIVATE_KEY_TAG', {
        privateKeyTagName: where,
        privateKeyIds: [],
      });
      const post = () => client.post('submit/create_private_key_tag', body);
      disk.fail([call, 'create'], fault);
      const refused = await post();
      expect(refused.status, where).toBe(503);
      const message = String(refused.body?.['message']);
      expect(message, where).toContain(what);
      // SQLite has not written the end of a transaction as it finds the disk full.
      const isOpen = fault !== 'ENOSPC';
      const certain = 'The request was not executed';
      const open = 'The request may have been executed: the same request, sent again, tells';
      expect(message.includes(open), `${where}: ${message}`).toBe(isOpen);
      expect(message.includes(certain), `${where}: ${message}`).toBe(!isOpen);
      for (let index = 0; index < 5; index++) expect((await post()).status, where).toBe(503);
      const { stdout } = await vault.run(['status', '--json']);
      expect(JSON.parse(stdout), where).toMatchObject({ storage: { cause, file: database } });
      expect(service.stderr.split(what), where).toHaveLength(told + 1);
      disk.heal();
      // The same request tells, and is executed once.
      const first = activityOf(await post());
      expect(activityOf(await post()).id).toBe(first.id);
      await expect
        .poll(async () => (JSON.parse((await vault.run(['status', '--json'])).stdout) as Json)['storage'])
        .toBeNull();
    }
    expect(service.stderr).not.toMatch(/^\s+at /m);
  });
});
