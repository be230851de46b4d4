/** `keyhearth backup` and `keyhearth restore`, from one home to another that has nothing but the phrase. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CommandProcess,
  ethereumAccount,
  resultOf,
  runCommand,
  TestClient,
  temporaryDirectory,
  testKeyOf,
} from '../support/support.ts';
import { startKeyring, type KeyringSession } from '../keys/keychain.ts';
import type { Json } from '../support/support.ts';

const password = 'correct horse battery staple';

/** A machine: a home of its own, without a D-Bus session and so without a keychain. */
class Machine implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly home = this.#directory.path;
  readonly vault = join(this.home, '.local/share/keyhearth');
  readonly environment = { HOME: this.home };

  run(...argv: readonly string[]): ReturnType<typeof runCommand> {
    return runCommand(argv, { environment: this.environment });
  }

  async json(...argv: readonly string[]): Promise<Json> {
    const { code, stdout, stderr } = await this.run(...argv, '--json');
    if (code !== 0) throw new Error(`keyhearth ${argv.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as Json;
  }

  /** Serves the vault. @returns the process and its address. */
  async serve(...argv: readonly string[]): Promise<{ process: CommandProcess; url: string }> {
    const options = { environment: this.environment };
    const process = new CommandProcess(['serve', '--port', '0', '--json', ...argv], options);
    const { url } = JSON.parse(await process.nextLine()) as { url: string };
    return { process, url };
  }

  secret(name: string, text: string): string {
    const file = join(this.home, name);
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    return file;
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

let laptop: Machine;
let stick: ReturnType<typeof temporaryDirectory>;
let passwordFile: string;
let phrase: string;
let organizationId: string;

beforeEach(async () => {
  laptop = new Machine();
  stick = temporaryDirectory();
  passwordFile = laptop.secret('password', password);
  const made = await laptop.json(
    'init',
    '--organization',
    'Acme',
    '--user',
    'Ada',
    '--password-file',
    passwordFile,
  );
  phrase = made['recoveryPhrase'] as string;
  organizationId = made['organizationId'] as string;
});
afterEach(() => {
  laptop[Symbol.dispose]();
  stick[Symbol.dispose]();
});

const keyOf = (machine: Machine): ReturnType<typeof testKeyOf> => {
  const read = (name: string): string =>
    readFileSync(join(machine.home, '.config/keyhearth/keys', name), 'utf8').trim();
  return testKeyOf(read('owner.private'), read('owner.public'));
};

/** All that the API tells of a vault. */
async function everything(client: TestClient): Promise<Json> {
  const entries = [
    'list_wallets',
    'list_wallet_accounts',
    'list_users',
    'list_private_keys',
    'list_activities',
    'whoami',
  ];
  const answers = await Promise.all(
    entries.map(async (operation) => {
      const { status, body } = await client.query(operation);
      expect(status).toBe(200);
      // A query's envelope names the query itself, with the time of its asking.
      return [operation, { ...body, activity: undefined }] as const;
    }),
  );
  return Object.fromEntries(answers);
}

test.each([0, 10])(
  'a vault of %i accounts comes to a new machine whole, with only the phrase',
  async (accounts) => {
    using desktop = new Machine();
    const served = await laptop.serve('--password-file', passwordFile);
    const client = new TestClient(served.url, organizationId, keyOf(laptop));
    if (accounts > 0) {
      const wanted = Array.from({ length: accounts }, (_, index) => ({
        ...ethereumAccount,
        path: `m/44'/60'/0'/0/${String(index)}`,
      }));
      const made = await client.submit('create_wallet', 'CREATE_WALLET', {
        walletName: 'Savings',
        accounts: wanted,
      });
      expect(resultOf(made).addresses).toHaveLength(accounts);
    }
    const before = await everything(client);
    const file = join(stick.path, 'acme.backup');

    // The vault runs, and goes on running.
    const backedUp = await laptop.json('backup', file);
    expect(backedUp).toMatchObject({ file, size: statSync(file).size });
    expect(await laptop.json('backup', 'verify', file)).toMatchObject({
      openedWith: 'vault',
      counts: { accounts },
      problemCount: 0,
      uncovered: { activities: 0, resources: [] },
    });
    expect(await laptop.json('backup', 'status')).toMatchObject({
      backups: [{ file, provenAt: expect.any(Number) as unknown }],
      notices: [],
    });
    expect(await served.process.stop()).toBe(0);

    const paper = desktop.secret('paper', phrase);
    const elsewhere = ['--data-dir', join(desktop.home, 'elsewhere')];
    const { stdout } = await desktop.run('restore', file, '--recovery-file', paper, ...elsewhere);
    expect(stdout).toContain('What was deleted, revoked or rejected since then is back');
    const restored = await desktop.json('restore', file, '--recovery-file', paper);
    expect(restored).toMatchObject({
      directory: desktop.vault,
      organizationId,
      organizationName: 'Acme',
      keyslots: ['recovery', 'password'],
      keychainProblem: expect.stringMatching(/./) as unknown,
    });
    const there = await desktop.serve();
    await desktop.json('unlock', '--recovery-file', paper);
    const { port } = new URL(there.url);
    expect(port).not.toBe('');
    // API key files are their owner's to bring.
    const after = await everything(new TestClient(there.url, organizationId, keyOf(laptop)));
    expect(after).toEqual(before);
    // The log is as it was: the timeline alone tells that this vault came out of a file.
    expect(await desktop.json('audit', 'timeline')).toMatchObject({
      events: expect.arrayContaining([
        expect.objectContaining({ kind: 'restored', count: 1 }) as unknown,
      ]) as unknown,
    });
    expect(await there.process.stop()).toBe(0);
  },
);

test('doctor names a scheduled backup that failed or is late, with the way on', async () => {
  const folder = join(stick.path, 'scheduled');
  mkdirSync(folder);
  const doctor = async (): Promise<string | undefined> => {
    const { stdout } = await laptop.run('doctor');
    return /^\w+ +scheduled backups .*$/m.exec(stdout)?.[0];
  };
  expect(await doctor()).toBeUndefined();
  const first = await laptop.serve('--password-file', passwordFile);
  await laptop.json('backup', 'schedule', folder, '--hours', '24');
  await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.backup'))).toHaveLength(1);
  const fine = /^ok +scheduled backups +every 24 hours into \S+; the next is due \d{4}-/;
  expect(await doctor()).toMatch(fine);
  await first.process.stop();
  expect(await doctor()).toMatch(fine);

  // Set while nothing serves the vault, to a stick that is gone as it is due.
  const other = join(stick.path, 'other');
  mkdirSync(other);
  await laptop.json('backup', 'schedule', other, '--hours', '24', '--password-file', passwordFile);
  rmdirSync(other);
  const second = await laptop.serve('--password-file', passwordFile);
  const failed =
    /^failed +scheduled backups +the last was not made, at \S+: .*Make \S+ writable, or choose another: `keyhearth backup schedule/;
  await expect.poll(doctor).toMatch(failed);
  await second.process.stop();
  expect(await doctor()).toMatch(failed);
});

describe('keyhearth backup', () => {
  test('of a vault that does not run opens it with what is given', async () => {
    const file = join(stick.path, 'a.backup');
    const paper = laptop.secret('paper', phrase);
    const none = await laptop.run('backup', file);
    expect(none).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(
        /missing secret: the vault is not running, and unlocks with the recovery phrase or a password/,
      ) as unknown,
    });
    const wrong = await laptop.run('backup', file, '--password-file', laptop.secret('wrong', 'wrong horse'));
    expect(wrong).toMatchObject({ code: 5, stderr: 'keyhearth: The password does not open this vault.\n' });
    expect(readdirSync(stick.path)).toEqual([]);
    expect(await laptop.run('backup', file, '--recovery-file', paper)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Created backup .*a\.backup \(\d+ KiB, 0 log entries\)\.\n/) as unknown,
      stderr: '',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await laptop.run('backup', file, '--recovery-file', paper)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is a file .*a\.backup already: .*\(--force\)/) as unknown,
    });
    expect((await laptop.run('backup', file, '--force', '--recovery-file', paper)).code).toBe(0);
    const proven = await laptop.run('backup', 'verify', file, '--password-file', passwordFile);
    expect(proven).toMatchObject({ code: 0, stderr: '' });
    expect(proven.stdout).toMatch(/\nOpened with +the password\nContents .* 6 sealed records\n/);
    expect(proven.stdout).toMatch(
      /\nThe test passed: this backup restores\. The date was recorded\.\nThe vault has no changes since this backup\.\n$/,
    );
    const { stdout } = await laptop.run('backup', 'status');
    expect(stdout).toMatch(
      /^Last backup +\S+\nLast tested +\S+\nSchedule +none\. .*\n\nCreated .*\n\S+ +passed +\S+ +\S+a\.backup\n$/,
    );
    // No process holds the vault afterwards, and no file is left over.
    expect(readdirSync(laptop.vault).sort()).toEqual([
      'lock',
      'not-frozen',
      'vault.db',
      'vault.mark',
      'vault.reserve',
    ]);
  });

  test('verify tells what is damaged, and what has changed, by its exit code', async () => {
    const file = join(stick.path, 'a.backup');
    const paper = laptop.secret('paper', phrase);
    await laptop.json('backup', file, '--recovery-file', paper);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -100));
    expect(await laptop.run('backup', 'verify', file, '--recovery-file', paper)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cut off: it has \d+ of its \d+ bytes/) as unknown,
    });
    writeFileSync(file, bytes);
    // On a machine that has no vault as well.
    using other = new Machine();
    const alone = await other.run('backup', 'verify', file, '--recovery-file', paper);
    expect(alone).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nThe test passed: this backup restores\.\n$/) as unknown,
    });
    expect(existsSync(other.vault)).toBe(false);
    expect(await other.run('backup', 'verify', file)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/missing secret for the backup: give --password-file/) as unknown,
    });
    expect(
      await other.run('backup', 'verify', join(stick.path, 'gone'), '--recovery-file', paper),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no file .*gone/) as unknown,
    });
  });

  test('schedule is kept by the service, and turned off again', async () => {
    const folder = join(stick.path, 'folder');
    mkdirSync(folder);
    const served = await laptop.serve('--password-file', passwordFile);
    expect(await laptop.json('backup', 'schedule', folder, '--hours', '6')).toMatchObject({
      schedule: { directory: folder, hours: 6 },
    });
    await expect
      .poll(() => readdirSync(folder).filter((name) => name.endsWith('.backup')).length, { timeout: 20_000 })
      .toBe(1);
    const { file } = (await laptop.json('backup')) as { file: string };
    expect(readdirSync(folder)).toHaveLength(2);
    expect(file.startsWith(folder)).toBe(true);
    expect((await laptop.json('backup', 'schedule', 'off'))['schedule']).toBeNull();
    expect(await laptop.run('backup', 'schedule', folder, '--hours', 'daily')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/invalid --hours "daily"/) as unknown,
    });
    expect(await laptop.run('backup')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /no file is named, and there is no schedule to take one from: name a file, or set a schedule first\n/,
      ) as unknown,
    });
    expect(await served.process.stop()).toBe(0);
    expect(served.process.stderr).toBe('');
  });

  test('says that there is no vault, and makes none', async () => {
    using empty = new Machine();
    for (const argv of [
      ['backup', 'x.backup'],
      ['backup', 'status'],
      ['backup', 'schedule', 'off'],
    ]) {
      expect(await empty.run(...argv)).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/there is no vault in/) as unknown,
      });
    }
    expect(existsSync(empty.vault)).toBe(false);
  });
});

describe('keyhearth restore', () => {
  test('refuses a wrong secret, a directory in use, and a vault that is there', async () => {
    const file = join(stick.path, 'a.backup');
    const paper = laptop.secret('paper', phrase);
    await laptop.json('backup', file, '--recovery-file', paper);
    using desktop = new Machine();
    const wrong = desktop.secret('wrong', `${'abandon '.repeat(23)}art`);
    expect(await desktop.run('restore', file, '--recovery-file', wrong)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(
        /The backup does not open\. The recovery phrase does not open this vault\./,
      ) as unknown,
    });
    expect(await desktop.run('restore', file)).toMatchObject({ code: 2 });
    expect(existsSync(desktop.vault)).toBe(false);
    expect(await laptop.run('restore', file, '--recovery-file', paper)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is a vault in .* already: it is not overwritten/) as unknown,
    });
    const served = await laptop.serve('--password-file', passwordFile);
    expect(await laptop.run('restore', file, '--recovery-file', paper)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/is in use by process/) as unknown,
    });
    await served.process.stop();
  });

  test('with the password shows a person the result and the next step', async () => {
    const file = join(stick.path, 'a.backup');
    await laptop.json('backup', file, '--password-file', passwordFile);
    using desktop = new Machine();
    const { code, stdout } = await desktop.run('restore', file, '--password-file', passwordFile);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Restored the vault of Acme in .*, as it was \d{4}-/);
    expect(stdout).toMatch(/\nUnlocks with the recovery phrase or a password\.\n/);
    expect(stdout).toMatch(/\nNext: keyhearth backup verify FILE/);
    expect((await desktop.run('doctor')).code).toBe(0);
  });
});

test('a vault that opens with a keychain opens with that of its new machine, and the phrase brings it there', async () => {
  await using here = await startKeyring('unlocked');
  await using there = await startKeyring('unlocked');
  const on = (keyring: KeyringSession, ...argv: readonly string[]): ReturnType<typeof runCommand> =>
    runCommand([...argv, '--json'], { environment: keyring.environment });
  const made = await on(here, 'init');
  const { recoveryPhrase, keyslots } = JSON.parse(made.stdout) as {
    recoveryPhrase: string;
    keyslots: string[];
  };
  expect(keyslots).toEqual(['recovery', 'keychain']);
  const file = join(stick.path, 'keychain.backup');
  expect(await on(here, 'backup', file)).toMatchObject({ code: 0, stderr: '' });

  // The file opens with no keychain, not even the one of the machine that made it.
  expect(await on(there, 'restore', file)).toMatchObject({ code: 2 });
  const paper = laptop.secret('paper', recoveryPhrase);
  const restored = await on(there, 'restore', file, '--recovery-file', paper);
  expect(JSON.parse(restored.stdout)).toMatchObject({
    keyslots: ['recovery', 'keychain'],
    keychainProblem: null,
  });
  const service = new CommandProcess(['serve', '--port', '0', '--json'], { environment: there.environment });
  expect(JSON.parse(await service.nextLine())).toMatchObject({ state: 'unlocked' });
  expect(await service.stop()).toBe(0);
});

test('a vault goes back to its backup, though the keychain knows of a newer log', async () => {
  await using keyring = await startKeyring('unlocked');
  const directory = join(stick.path, 'vault');
  const run = (...argv: readonly string[]): ReturnType<typeof runCommand> =>
    runCommand([...argv, '--json', '--data-dir', directory], { environment: keyring.environment });
  const serve = async (): Promise<[CommandProcess, Json]> => {
    const service = new CommandProcess(['serve', '--port', '0', '--json', '--data-dir', directory], {
      environment: keyring.environment,
    });
    return [service, JSON.parse(await service.nextLine()) as Json];
  };
  const { recoveryPhrase } = JSON.parse((await run('init')).stdout) as { recoveryPhrase: string };
  const file = join(stick.path, 'older.backup');
  expect(await run('backup', file)).toMatchObject({ code: 0 });
  const [first] = await serve();
  const body = JSON.stringify({
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    parameters: { walletName: 'Made later', accounts: [] },
  });
  expect(await run('request', '--path', '/public/v1/submit/create_wallet', '--body', body)).toMatchObject({
    code: 0,
  });
  // The log's head is signed at the end, and noted in the keychain.
  expect(await first.stop()).toBe(0);

  renameSync(directory, `${directory}.away`);
  const paper = laptop.secret('paper', recoveryPhrase);
  expect(await run('restore', file, '--recovery-file', paper)).toMatchObject({ code: 0 });
  const [second, line] = await serve();
  expect(line).toMatchObject({ state: 'unlocked' });
  expect(await second.stop()).toBe(0);

  // The newer file, put back later, is unlocked by its own slot: it is not older than the keychain's head.
  renameSync(directory, `${directory}.restored`);
  renameSync(`${directory}.away`, directory);
  const [third, again] = await serve();
  expect(again).toMatchObject({ state: 'unlocked' });
  expect(await third.stop()).toBe(0);
});

test('a service that can open no more files says so, in the place of a fault or a failing disk', async () => {
  const { process: service } = await laptop.serve('--password-file', passwordFile);
  await using _ = service;
  const pid = String(service.child.pid);
  const limit = (most: string): void => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', pid, `--nofile=${most}:`], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
  };
  const usual = /Max open files\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? '';
  const open = readdirSync(`/proc/${pid}/fd`).length;
  // One for the command's own connection.
  let more = 1;
  for (; ; more++) {
    limit(String(open + more));
    const { code, stderr } = await laptop.run('backup', join(stick.path, 'a.backup'));
    if (code === 0) break;
    expect(stderr, `with ${String(more)} more`).toMatch(/can open no more files|too many files are open/);
    expect(existsSync(join(stick.path, 'a.backup'))).toBe(false);
  }
  expect(more).toBeGreaterThan(3);
  limit(usual);
  expect(await laptop.run('backup', join(stick.path, 'b.backup'))).toMatchObject({ code: 0 });
  expect(await laptop.json('status')).toMatchObject({ storage: null });
  expect(await service.stop()).toBe(0);
});

test('a limit of the size of files is named with what to do, in the place of a failing disk', async () => {
  const { process: service } = await laptop.serve('--password-file', passwordFile);
  await using _ = service;
  const limit = (most: string): void => {
    const argv = ['--pid', String(service.child.pid), `--fsize=${most}:`];
    const { status, stderr } = spawnSync('prlimit', argv, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const words = /would be larger than the system or the disk permits\. Raise the limit .*ulimit -f/;
  limit(String(statSync(join(laptop.vault, 'vault.db')).size - 4096));
  const file = join(stick.path, 'a.backup');
  const made = await laptop.run('backup', file);
  expect(made.code).not.toBe(0);
  expect(made.stderr).toMatch(words);
  expect(existsSync(file)).toBe(false);

  // The log beside the database is as large as its limit.
  limit(String(statSync(join(laptop.vault, 'vault.db-wal')).size));
  const wallet = JSON.stringify({
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    parameters: { walletName: 'Large', accounts: [] },
  });
  const create = ['request', '--path', '/public/v1/submit/create_wallet', '--body', wallet];
  const written = await laptop.run(...create);
  expect(written.code).not.toBe(0);
  expect(written.stdout).toMatch(/would be larger .*Raise the limit .*ulimit -f/);
  expect(await laptop.json('status')).toMatchObject({ storage: { cause: 'too-large' } });

  limit('unlimited');
  expect(await laptop.run(...create)).toMatchObject({ code: 0 });
  expect(await laptop.run('backup', file)).toMatchObject({ code: 0 });
  expect(await service.stop()).toBe(0);
});
