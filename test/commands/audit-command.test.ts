/** `keyhearth audit` as a person or a script runs it, and what is signed when the service ends one way or another. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { LogCheck, LogHead } from '../../preload/contract.ts';
import { checkFile, checkText, headsOf, tamper } from '../storage/audit-log.ts';
import { startKeyring } from '../keys/keychain.ts';
import { CommandProcess, runCommand, TestClient, temporaryDirectory, testKeyOf } from '../support/support.ts';
import type { Json } from '../support/support.ts';

const run = promisify(execFile);
const password = 'correct horse battery staple';

interface HomeOptions {
  /** The environment for a keyring; absent for no keyring. */
  readonly keyring?: Readonly<Record<string, string>>;
}

interface Served extends AsyncDisposable {
  readonly service: CommandProcess;
  /** The line that it printed when it was ready. */
  readonly line: Json;
  readonly client: TestClient;
}

/** A user's home with a vault in it. */
class Home implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly vault = join(this.path, 'vault');
  readonly file = join(this.vault, 'vault.db');
  readonly passwordFile = join(this.path, 'password');
  readonly environment: Readonly<Record<string, string>>;
  organizationId = '';
  recoveryPhrase = '';

  constructor({ keyring = { HOME: this.#directory.path } }: HomeOptions = {}) {
    this.environment = {
      ...keyring,
      KEYHEARTH_DATA_DIR: this.vault,
      KEYHEARTH_CONFIG_DIR: join(this.path, 'config'),
    };
    writeFileSync(this.passwordFile, `${password}\n`, { mode: 0o600 });
  }

  async init(...argv: readonly string[]): Promise<void> {
    const made = await this.run('init', '--json', '--password-file', this.passwordFile, ...argv);
    this.organizationId = String(made.json['organizationId']);
    this.recoveryPhrase = String(made.json['recoveryPhrase']);
  }

  async run(...argv: readonly string[]) {
    const ended = await runCommand(argv, { environment: this.environment });
    const text = ended.code === 0 || ended.stdout !== '' ? ended.stdout : ended.stderr;
    const [last = ''] = text.trimEnd().split('\n').slice(-1);
    return { ...ended, json: (last.startsWith('{') ? JSON.parse(last) : {}) as Json };
  }

  /** Serves the vault. */
  async serve(...argv: readonly string[]): Promise<Served> {
    const service = new CommandProcess(['serve', '--port', '0', '--json', ...argv], {
      environment: this.environment,
    });
    const line = JSON.parse(await service.nextLine()) as Json;
    const read = (name: string): string => readFileSync(join(this.path, 'config/keys', name), 'utf8').trim();
    const key = testKeyOf(read('owner.private'), read('owner.public'));
    const client = new TestClient(String(line['url']), this.organizationId, key);
    return { service, line, client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

const unlocked = (home: Home): string[] => ['--no-keychain', '--password-file', home.passwordFile];

async function addWallets(client: TestClient, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    const walletName = `Wallet ${String(client.nextTimestamp())}`;
    const answer = await client.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] });
    // Above the limit of wallets they fail, which is an activity like any other.
    expect([200, 429], answer.text).toContain(answer.status);
  }
}

const errorOf = ({ json }: { readonly json: Json }): unknown =>
  (json['error'] as { readonly message?: string } | undefined)?.message;

describe('a service that ends', () => {
  test('by SIGTERM, SIGINT or SIGHUP has signed its last row', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    let rows = 0;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const { service, client } = await home.serve(...unlocked(home));
      await addWallets(client, 3);
      rows += 3;
      expect(await service.stop(signal)).toBe(0);
      expect(service.stderr).toBe('');
      expect(await checkFile(home.file)).toMatchObject({ rows, signed: rows, findings: [] });
    }
  });

  test('by lock has signed its last row too', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    await using served = await home.serve(...unlocked(home));
    const { client } = served;
    await addWallets(client, 2);
    expect(await checkFile(home.file)).toMatchObject({ rows: 2, signed: 0 });
    await home.run('lock');
    expect(await checkFile(home.file)).toMatchObject({ rows: 2, signed: 2, findings: [] });
  });

  test('by SIGKILL leaves a log that can be verified, whose end is signed at the next unlock', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    let rows = 0;
    for (let round = 0; round < 3; round++) {
      const { service, client } = await home.serve(...unlocked(home));
      await addWallets(client, 2 + round);
      rows += 2 + round;
      const working = Promise.allSettled(Array.from({ length: 8 }, () => addWallets(client, 50)));
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
      expect(await service.stop('SIGKILL')).toBe('SIGKILL');
      await working;
      const check = await checkFile(home.file);
      expect(check.findings).toEqual([]);
      expect(check.rows).toBeGreaterThanOrEqual(rows);
      rows = check.rows;
      const verified = await home.run('audit', 'verify', '--json');
      expect(verified).toMatchObject({ code: 0, json: { ok: true, rows } });
    }
    const { service } = await home.serve(...unlocked(home));
    expect(await checkFile(home.file)).toMatchObject({ rows, signed: rows, findings: [] });
    expect(await service.stop()).toBe(0);
  });

  test('has signed every thousandth row on the way', { timeout: 120_000 }, async () => {
    using home = new Home();
    await home.init('--no-keychain');
    await using served = await home.serve(...unlocked(home));
    const { client } = served;
    await Promise.all(Array.from({ length: 16 }, () => addWallets(client, 70)));
    const heads = headsOf(home.file).map(({ sequence }) => sequence);
    expect(heads).toHaveLength(1);
    // Those that share a commit with the thousandth are signed with it.
    expect(heads[0]).toBeGreaterThanOrEqual(1000);
    expect(heads[0]).toBeLessThan(1000 + 64);
    expect(await checkFile(home.file)).toMatchObject({ rows: 1120, findings: [] });
  });
});

// The class: no text of an exported log passes for a line of the verdict, or hides one.
const lies = /^The log|(?!\n)\p{Cc}/mu;

function forge(file: string): string {
  const lie = String.raw`"vaultId":"1\nThe log is intact.\u001b[8m`;
  const forged = `${file}.forged`;
  writeFileSync(
    forged,
    readFileSync(file, 'utf8').replace('"vaultId":"', () => lie),
  );
  return forged;
}

describe('keyhearth audit', () => {
  test('exports, verifies and notes down, whether the vault runs or not', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const empty = await home.run('audit', 'verify');
    expect(empty).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 entries .*\nNo entry is signed yet\.\n/) as string,
    });
    expect(errorOf(await home.run('audit', 'head', '--json'))).toBe(
      'the activity log is empty: there is no head to sign',
    );

    await using served = await home.serve(...unlocked(home));
    const { service, client, line } = served;
    await addWallets(client, 5);
    const running = join(home.path, 'running.jsonl');
    const made = await home.run('audit', 'export', running, '--json');
    expect(made).toMatchObject({ code: 0, json: { file: running, rows: 5, head: { sequence: 5 } } });
    expect(statSync(running).mode & 0o777).toBe(0o600);
    const verified = await home.run('audit', 'verify', running, '--json');
    expect(verified.json).toMatchObject({ ok: true, rows: 5, signed: 5, unsigned: 0, publicKeyFrom: 'file' });
    const said = await home.run('audit', 'verify', forge(running));
    expect(said).toMatchObject({ code: 1, stdout: expect.not.stringMatching(lies) as string });
    // A fresh head says that nothing came since.
    const [first = ''] = readFileSync(running, 'utf8').split('\n');
    const { head, publicKey } = JSON.parse(first) as { head: LogHead; publicKey: string };
    const [stored] = headsOf(home.file);
    expect(head.signedAt).toBeGreaterThan(stored?.signedAt ?? Infinity);
    const discovery = (await (await fetch(`${String(line['url'])}/public/v1/discovery/keys`)).json()) as Json;
    expect(discovery['notarizer']).toBe(publicKey);

    await addWallets(client, 1);
    const noted = await home.run('audit', 'head', '--json');
    expect(noted.json).toMatchObject({
      organizationId: home.organizationId,
      rows: 6,
      head: { sequence: 6, publicKey },
    });
    const { hash } = noted.json['head'] as LogHead;
    const told = await home.run('audit', 'head');
    expect(told.stdout).toContain(`keyhearth audit verify --head 6:${hash} --public-key ${publicKey}\n`);
    const given = ['--head', `6:${hash}`, '--public-key', publicKey];
    expect((await home.run('audit', 'verify', '--json', ...given)).json).toMatchObject({
      ok: true,
      publicKeyFrom: 'given',
    });
    expect((await home.run('audit', 'verify', '--json')).json).toMatchObject({
      ok: true,
      publicKeyFrom: 'vault',
    });
    const early = await home.run('audit', 'verify', running, ...given);
    expect(early.code).toBe(1);
    expect(early.stdout).toMatch(
      /^the end is missing: the log ends at entry 5, and entry 6 is one that you noted\n/,
    );
    expect(early.stdout).toMatch(/\n1 problem: this log was changed or is incomplete\.\n$/);

    await home.run('lock');
    expect((await home.run('audit', 'verify', '--json')).json).toMatchObject({
      ok: true,
      publicKeyFrom: 'file',
    });
    await service.stop();
    const stopped = join(home.path, 'stopped.jsonl');
    expect((await home.run('audit', 'export', stopped)).stdout).toBe(
      `Exported the activity log to ${stopped}: 6 entries, signed up to entry 6. Verify it with: keyhearth audit verify ${stopped}\n`,
    );
    expect((await home.run('audit', 'verify', ...given)).code).toBe(0);
    expect(await checkText(readFileSync(stopped, 'utf8'))).toMatchObject({
      rows: 6,
      signed: 6,
      findings: [],
    });
    const piped = await runCommand(['audit', 'verify', '-', '--json'], {
      environment: home.environment,
      input: (await home.run('audit', 'export', '-')).stdout,
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({ ok: true, rows: 6 });
    expect((await home.run('audit', 'head', '--json')).json).toEqual(noted.json);
  });

  // A door is a way too, beside those that unlock.
  test('lists the events of doors in the timeline', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    await using served = await home.serve(...unlocked(home));
    expect(served.line['url']).toMatch(/^http:/);
    expect(await home.run('doors', 'add', 'laptop')).toMatchObject({ code: 0 });
    expect(await home.run('doors', 'on', 'ssh')).toMatchObject({ code: 0 });
    const { code, stdout } = await home.run('audit', 'timeline');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ Program paired +ssh /);
    expect(stdout).toMatch(/ Door switched on +ssh /);
  });

  test('ships the stand-alone verifier, which needs nothing beside it', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const { service, client } = await home.serve(...unlocked(home));
    await addWallets(client, 2);
    await service.stop();
    const file = join(home.path, 'log.jsonl');
    await home.run('audit', 'export', file);
    const script = join(home.path, 'verify-log.mjs');
    cpSync(join(import.meta.dirname, '../../dist/standalone/verify-log.mjs'), script);
    const { stdout } = await run(process.execPath, [script, file], { cwd: home.path, env: {} });
    expect(stdout).toMatch(
      /^2 entries of vault .*\nEntry 2 is the one that the vault signed on .*\nThe log is intact\.\n$/,
    );
    const said = run(process.execPath, [script, forge(file)], { cwd: home.path, env: {} });
    await expect(said).rejects.toMatchObject({ code: 1, stdout: expect.not.stringMatching(lies) as string });
  });

  test('names what was done to the file behind the vault’s back, and doctor does too', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const { service, client } = await home.serve(...unlocked(home));
    await addWallets(client, 4);
    await service.stop();
    tamper(home.file, (database) => {
      database.exec('DELETE FROM activities WHERE sequence = 4');
    });
    const { code, json } = await home.run('audit', 'verify', '--json');
    expect(code).toBe(1);
    expect(json).toMatchObject({ ok: false, rows: 3, signed: 0, more: 0 });
    expect((json as unknown as LogCheck).findings).toMatchObject([
      { row: 4, problem: expect.stringMatching(/^the end is missing: the log ends at entry 3/) as string },
    ]);
    const doctor = await home.run('doctor', '--no-keychain', '--json');
    expect(doctor.code).toBe(1);
    expect(doctor.json['findings']).toContainEqual({
      check: 'signed heads of the log',
      outcome: 'failed',
      detail: expect.stringMatching(/^the end is missing/) as string,
    });
  });

  test('refuses what it cannot do by name', async () => {
    using home = new Home();
    expect(await home.run('audit', 'verify', '--json')).toMatchObject({ code: 3 });
    await home.init('--no-keychain');
    const there = join(home.path, 'there');
    writeFileSync(there, 'mine');
    const refusals: readonly (readonly [argv: readonly string[], code: number, message: RegExp])[] = [
      [['export', there], 1, /there is there already: it is not overwritten$/],
      [['export', join(home.path, 'no/such/directory/log')], 2, /cannot be created: there is no directory /],
      [['verify', join(home.path, 'nothing')], 2, /nothing cannot be read: there is no such file/],
      [['verify', there], 1, /^this is no exported log: line 1 is not JSON$/],
      [
        ['verify', '--head', '4'],
        2,
        /^invalid --head "4": expected SEQUENCE:HASH as `keyhearth audit head` writes it$/,
      ],
      [
        ['verify', '--public-key', '02ab'],
        2,
        /^invalid --public-key "02ab": expected an uncompressed P-256 key/,
      ],
      [
        ['accept-rollback'],
        2,
        /^missing secret: accepting an older file takes the recovery phrase or the password/,
      ],
      [
        ['accept-rollback', '--recovery-file', '/no/such'],
        2,
        /^--recovery-file \/no\/such cannot be read: there is no such file or directory$/,
      ],
    ];
    for (const [argv, code, message] of refusals) {
      const refused = await home.run('audit', ...argv, '--json');
      expect(errorOf(refused), argv.join(' ')).toMatch(message);
      expect(refused.code, argv.join(' ')).toBe(code);
    }
    expect(readFileSync(there, 'utf8')).toBe('mine');
  });
});

describe('a file that was rolled back, with a real keyring', () => {
  test(
    'is refused at the unlock with whatever opens it, until its owner accepts it',
    { timeout: 180_000 },
    async () => {
      await using keyring = await startKeyring('unlocked');
      using home = new Home({ keyring: keyring.environment });
      await home.init();
      await using first = await home.serve();
      expect(first.line['state']).toBe('unlocked');
      await addWallets(first.client, 3);
      expect(await first.service.stop()).toBe(0);
      const verified = await home.run('audit', 'verify');
      expect(verified.code).toBe(0);
      expect(verified.stdout).toContain('\nThe keychain holds a note of entry 3.\n');

      const older = join(home.path, 'older.db');
      cpSync(home.file, older);
      await using second = await home.serve();
      await addWallets(second.client, 2);
      expect(await second.service.stop()).toBe(0);
      cpSync(older, home.file);
      for (const name of ['-wal', '-shm']) expect(existsSync(home.file + name)).toBe(false);

      const problem =
        /the vault's file is older than one that was used here: its log ends at entry 3, and the keychain holds a note, signed on .*Z, of entry 5\. Put the newer file/;
      const found = await home.run('audit', 'verify');
      expect(found.code).toBe(1);
      expect(found.stdout).toMatch(
        /^the end is missing: the log ends at entry 3, and entry 5 is one that the keychain holds a note of/,
      );
      const byPassword = await home.serve('--password-file', home.passwordFile);
      expect(byPassword.line['state']).toBe('locked');
      expect(byPassword.service.stderr).toMatch(problem);
      await byPassword.service.stop();
      await using byKeychain = await home.serve();
      expect(byKeychain.line['state']).toBe('locked');
      expect(byKeychain.service.stderr).toMatch(/^The vault stays locked: /);
      expect(byKeychain.service.stderr).toMatch(problem);
      const phraseFile = join(home.path, 'phrase');
      writeFileSync(phraseFile, `${home.recoveryPhrase}\n`, { mode: 0o600 });
      const byPhrase = await home.run('unlock', '--recovery-file', phraseFile, '--json');
      expect(byPhrase.code).toBe(7);
      expect(errorOf(byPhrase)).toMatch(problem);
      // Not while the vault is served, and not with a foreign secret.
      expect(
        await home.run('audit', 'accept-rollback', '--recovery-file', phraseFile, '--yes', '--json'),
      ).toMatchObject({ code: 4 });
      await byKeychain.service.stop();
      const wrong = join(home.path, 'wrong');
      writeFileSync(wrong, 'not the password');
      expect(
        await home.run('audit', 'accept-rollback', '--password-file', wrong, '--yes', '--json'),
      ).toMatchObject({ code: 5 });
      const unasked = await home.run('audit', 'accept-rollback', '--password-file', home.passwordFile);
      expect(unasked.code).toBe(2);
      expect(unasked.stderr).toMatch(problem);

      const accepted = await home.run(
        'audit',
        'accept-rollback',
        '--recovery-file',
        phraseFile,
        '--yes',
        '--json',
      );
      expect(accepted).toMatchObject({ code: 0, json: { accepted: true } });
      const again = await home.run(
        'audit',
        'accept-rollback',
        '--password-file',
        home.passwordFile,
        '--json',
      );
      expect(again).toMatchObject({ code: 0, json: { accepted: false } });
      await using last = await home.serve();
      expect(last.line['state']).toBe('unlocked');
      await addWallets(last.client, 1);
      expect(await last.service.stop()).toBe(0);
      expect((await home.run('audit', 'verify')).stdout).toContain(
        '\nThe keychain holds a note of entry 4.\n',
      );
    },
  );

  test('a keyring that does not answer does not delay the unlock, and is reported later', async () => {
    await using keyring = await startKeyring('unlocked');
    using home = new Home({ keyring: keyring.environment });
    await home.init();
    const goOn = await keyring.pause();
    await using served = await home.serve('--password-file', home.passwordFile).finally(goOn);
    const { service, client } = served;
    const before = await home.run('audit', 'verify');
    expect(before.stdout).toMatch(/\nThe keychain holds no note of the log: .* does not answer/);
    await addWallets(client, 1);
    expect(await service.stop()).toBe(0);
    const after = await home.run('audit', 'verify');
    expect(after.stdout).toContain('\nThe keychain holds a note of entry 1.\n');
  });
});
