/**
 * Commands beside a machine that does not do its part: a service that is stopped, another one in its place, files that are
 * damaged, forbidden or left behind, a keyring that hangs. The class is every command that waits for another: each ends, in
 * bounded time, with an exit code of its own and words that say what was found and what to do; none of them is a raw text.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { postControl, SilentError } from '../../main/control/client.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { openVault } from '../../main/app/compose.ts';
import { launchdAgent, systemdUnit } from '../../main/commands/vault/service-files.ts';
import { startKeyring } from '../keys/keychain.ts';
import { CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';
import type { CommandOptions, Json } from '../support/support.ts';

const cli = join(import.meta.dirname, '../../dist/main/cli.js');
const password = 'a password of the ending test';
const phrase = `${'abandon '.repeat(23)}art`;
const isRoot = process.geteuid?.() === 0;

/** A vault in a directory of its own, with what opens it in files. */
class Place implements AsyncDisposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly vault = join(this.path, 'vault');
  readonly keys = join(this.path, 'config', 'keys');
  readonly passwordFile = join(this.path, 'password');
  readonly environment: Record<string, string>;
  readonly #running: CommandProcess[] = [];

  constructor(environment: Readonly<Record<string, string>> = {}) {
    writeFileSync(this.passwordFile, `${password}\n`, { mode: 0o600 });
    this.environment = {
      HOME: this.path,
      ...environment,
      KEYHEARTH_DATA_DIR: this.vault,
      KEYHEARTH_CONFIG_DIR: join(this.path, 'config'),
    };
  }

  get unlocking(): string[] {
    return ['--no-keychain', '--password-file', this.passwordFile];
  }

  /** Creates the vault in this process: its creation is not what is tested. */
  async make(more: { readonly wordsAreYetToBeShown?: true } = {}): Promise<void> {
    const vault = openVault(makeConfig({ dataDir: this.vault, keychain: false }, {}));
    const owner = { organizationName: 'Acme', userName: 'Ada', useKeychain: false, password };
    await vault.setUp({ ...owner, recoveryPhrase: phrase, recoveryConfirmed: false, ...more });
    vault.close();
  }

  run(argv: readonly string[], options: CommandOptions = {}): ReturnType<typeof runCommand> {
    return runCommand(argv, { environment: this.environment, ...options });
  }

  start(argv: readonly string[]): CommandProcess {
    const process = new CommandProcess(argv, { environment: this.environment });
    this.#running.push(process);
    return process;
  }

  async serve(more: readonly string[] = []): Promise<CommandProcess & { readonly url: string }> {
    const process = this.start(['serve', '--port', '0', '--json', ...this.unlocking, ...more]);
    const { url } = JSON.parse(await process.nextLine()) as { readonly url: string };
    return Object.assign(process, { url });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running) {
      process.child.kill('SIGCONT');
      await process.stop('SIGKILL');
    }
    this.#directory[Symbol.dispose]();
  }
}

/** Raw messages that must not appear, alone or after a colon. */
const rawSqlite =
  /^(keyhearth: )?([^:]*: )?(database disk image is malformed|file is not a database|unable to open database file|disk I\/O error|database is locked)\.?$/m;

describe('10: calls to a service end', () => {
  test('where it is stopped: with its process, what that means and the way on', async () => {
    await using place = new Place();
    await place.make();
    const service = await place.serve();
    const { pid } = service.child;
    service.child.kill('SIGSTOP');
    const began = performance.now();
    const ended = await Promise.all(
      [['status'], ['lock'], ['freeze'], ['keyslots', 'list'], ['settings', 'list', '--json']].map((argv) =>
        place.run(argv),
      ),
    );
    for (const { code, stdout, stderr } of ended) {
      expect(stderr).toContain(`rocess ${String(pid)} serves the vault in ${place.vault}`);
      expect(stderr).toContain('it has not answered for 10 s');
      if (process.platform === 'linux') expect(stderr).toContain(`kill -CONT ${String(pid)}`);
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    }
    // Bounded by the patience of the command, and not by that of the one who waits.
    expect(performance.now() - began).toBeLessThan(45_000);
    service.child.kill('SIGCONT');
    expect(await place.run(['status'])).toMatchObject({ code: 0 });
  });

  test('where it stops in the middle of a long call, and not where that takes its time', async () => {
    await using place = new Place();
    await place.make();
    const service = await place.serve();
    const { socket = null, nonce = '' } = readEndpoint(place.vault) ?? {};
    if (socket === null) throw new Error('no socket');
    const endpoint = { socket, nonce };
    // One that asks for a password waits as long as the process shows that it is there.
    const patience = { answer: 60_000, sign: 1_500, pause: 200 };
    const proof = { with: 'password', password };
    const answer = await postControl(endpoint, 'prove', { args: [proof] }, patience);
    expect(answer.status).toBe(200);
    const asked = postControl(endpoint, 'prove', { args: [proof] }, patience);
    const refused = expect(asked).rejects.toThrow(SilentError);
    service.child.kill('SIGSTOP');
    await refused;
    service.child.kill('SIGCONT');
    // A process that lives, and an answer that does not come.
    await expect(
      postControl(
        endpoint,
        'verifyBackup',
        { args: [{ file: '/nowhere' }] },
        { ...patience, answer: -1, pause: 0 },
      ),
    ).rejects.toThrow(SilentError);
  });

  test('a stranger on the port of one that was killed is not taken for it', async () => {
    await using place = new Place();
    await place.make();
    const service = await place.serve();
    const { port } = new URL(service.url);
    await service.stop('SIGKILL');
    const asked: string[] = [];
    const stranger = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => stranger.listen(Number(port), '127.0.0.1', resolve));
    try {
      const { code, stdout } = await place.run(['status']);
      expect({ code, stdout }).toEqual({
        code: 3,
        stdout: `Not running. Start the vault in ${place.vault} with: keyhearth serve\n`,
      });
      expect(asked).toEqual([]);
    } finally {
      stranger.close();
    }
  });

  test('the lock says who has the vault, whatever endpoint.json says', async () => {
    await using place = new Place();
    await place.make();
    const service = await place.serve();
    const note = join(place.vault, 'endpoint.json');
    const pid = String(service.child.pid);
    for (const damage of [
      undefined,
      '',
      '{"pid":',
      JSON.stringify({ pid: 1, nonce: 'x', socket: '/nowhere', port: 1 }),
    ]) {
      if (damage === undefined) rmSync(note);
      else writeFileSync(note, damage, { mode: 0o600 });
      for (const argv of [['status'], ['lock'], ['keyslots', 'list']]) {
        const { code, stderr } = await place.run(argv);
        expect({ code, argv, damage }).toEqual({ code: 4, argv, damage });
        expect(stderr).toMatch(
          /has the vault .* open and accepts no commands|is in use by|is not the service of this vault/,
        );
      }
    }
    await service.stop();
    // And where no process holds it, no note does.
    writeFileSync(note, JSON.stringify({ pid: Number(pid), nonce: 'x', socket: '/nowhere', port: 1 }), {
      mode: 0o600,
    });
    expect(await place.run(['status'])).toMatchObject({ code: 3 });
  });
});

describe('10: files', () => {
  test('a bad lock file is not the vault’s end', async () => {
    await using place = new Place();
    await place.make();
    for (const content of [
      Buffer.alloc(8192, 7),
      Buffer.from('x'),
      Buffer.from('SQLite format 3\0and no more'),
    ]) {
      writeFileSync(join(place.vault, 'lock'), content);
      expect(await place.run(['status'])).toMatchObject({ code: 3 });
      expect(await place.run(['keyslots', 'list'])).toMatchObject({ code: 0, stderr: '' });
    }
    rmSync(join(place.vault, 'lock'));
    mkdirSync(join(place.vault, 'lock'));
    const { code, stderr } = await place.run(['keyslots', 'list']);
    expect(stderr).toBe(`keyhearth: ${join(place.vault, 'lock')} cannot be used: it is a directory\n`);
    expect(code).toBe(1);
  });

  test('what SQLite says never stands alone: the file, what it means and what to do', async () => {
    await using place = new Place();
    await place.make();
    const file = join(place.vault, 'vault.db');
    const whole = readFileSync(file);
    const damages: Readonly<Record<string, Buffer>> = {
      'no database': Buffer.alloc(8192, 7),
      'a damaged page of the schema': Buffer.concat([
        whole.subarray(0, 100),
        Buffer.alloc(3996, 0xff),
        whole.subarray(4096),
      ]),
      'the half of it': whole.subarray(0, 4096 * 2),
    };
    for (const [name, bytes] of Object.entries(damages)) {
      for (const leftover of ['-wal', '-shm']) rmSync(`${file}${leftover}`, { force: true });
      writeFileSync(file, bytes);
      for (const argv of [
        ['serve', '--port', '0', ...place.unlocking],
        ['keyslots', 'list'],
        ['audit', 'verify'],
        ['audit', 'head', '--json'],
        ['doctor', '--no-keychain', '--password-file', place.passwordFile],
        ['doctor', '--accept-changes', '--yes', '--password-file', place.passwordFile],
        ['restore', '/nowhere', '--password-file', place.passwordFile],
      ]) {
        const { code, stdout, stderr } = await place.run(argv);
        const said = `${stdout}${stderr}`;
        expect(code, `${name}: ${argv.join(' ')}: ${said}`).not.toBe(0);
        expect(said, `${name}: ${argv.join(' ')}`).not.toMatch(rawSqlite);
        if (/SQLite cannot read|not an SQLite database/.test(said)) {
          expect(said, `${name}: ${argv.join(' ')}`).toMatch(/vault\.db/);
          expect(said, `${name}: ${argv.join(' ')}`).toMatch(/restore|doctor|move it away/i);
        }
      }
    }
  });

  test('a service does not start again what cannot get better', async () => {
    await using place = new Place();
    await place.make();
    const unit = systemdUnit({ command: ['/bin/true'] });
    const [, listed = ''] = /^RestartPreventExitStatus=(.*)$/m.exec(unit) ?? [];
    const final = new Set(listed.split(' ').map(Number));
    const wrong = join(place.path, 'wrong');
    writeFileSync(wrong, 'another password\n', { mode: 0o600 });
    const serve = ['serve', '--port', '0', '--no-keychain'];
    expect(launchdAgent({ command: ['/bin/true'] }, '/log')).toContain('<string>--launchd</string>');
    const both = async (argv: readonly string[], expected: number): Promise<void> => {
      const { code, stderr } = await place.run(argv);
      expect(code, stderr).toBe(expected);
      expect(final).toContain(code);
      expect(await place.run([...argv, '--launchd'])).toMatchObject({ code: 0 });
    };
    await both([...serve, '--password-file', wrong], 5);
    await both(['serve', '--port', 'x'], 2);
    await both([...serve, '--data-dir', join(place.path, 'nowhere')], 3);
    const file = join(place.vault, 'vault.db');
    const whole = readFileSync(file);
    writeFileSync(file, Buffer.alloc(8192, 7));
    await both([...serve, '--password-file', place.passwordFile], 7);
    writeFileSync(file, whole);
    // A frozen one is served, and refuses.
    expect(await place.run(['freeze'])).toMatchObject({ code: 0 });
    const frozen = await place.serve();
    expect(frozen.stderr).toContain('stays frozen');
    await frozen.stop();
    // A full disk may have room again.
    expect(final).not.toContain(8);
    expect(final).not.toContain(1);
  });

  test('an unreadable directory is reported as such, and not as no vault', async () => {
    await using place = new Place();
    await place.make();
    const other = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    if (isRoot) {
      chmodSync(place.path, 0o755);
      chownSync(place.vault, 65_534, 65_534);
    }
    chmodSync(place.vault, 0);
    try {
      for (const argv of [
        ['status'],
        ['lock'],
        ['keyslots', 'list'],
        ['audit', 'verify'],
        ['doctor', '--no-keychain'],
      ]) {
        const child = spawn(process.execPath, [cli, ...argv], {
          env: { PATH: process.env['PATH'], ...place.environment },
          stdio: ['ignore', 'pipe', 'pipe'],
          cwd: '/',
          ...other,
        });
        const ended = once(child, 'close');
        const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
        await ended;
        expect(`${stdout}${stderr}`, argv.join(' ')).toMatch(/cannot be looked into.*permission is denied/);
        expect(`${stdout}${stderr}`, argv.join(' ')).not.toMatch(/no vault in|no vault file/);
        expect(child.exitCode, argv.join(' ')).toBe(1);
      }
    } finally {
      chmodSync(place.vault, 0o700);
    }
  });

  test('a path that SQLite cannot open is refused by its length, before anything is created', async () => {
    await using place = new Place();
    const long = join(place.path, ...Array.from({ length: 5 }, () => 'x'.repeat(100)));
    for (const argv of [['init', ...place.unlocking, '--json'], ['status'], ['serve']]) {
      const { code, stderr } = await place.run([...argv, '--data-dir', long]);
      expect(stderr).toMatch(
        /the path of the vault’s directory is too long: it has 5\d\d bytes, and SQLite takes at most 487/,
      );
      expect(code).toBe(2);
    }
    expect(existsSync(join(place.path, 'x'.repeat(100)))).toBe(false);
    // As long as it may be, it works: a vault, a backup, a restore.
    const directory = `${place.path}/`;
    const short = 487 - Buffer.byteLength(directory);
    const parts = [200, 200, short - 402].filter((length) => length > 0).map((length) => 'y'.repeat(length));
    const longest = join(place.path, ...parts);
    expect(Buffer.byteLength(longest)).toBe(487);
    expect(await place.run(['init', ...place.unlocking, '--json', '--data-dir', longest])).toMatchObject({
      code: 0,
    });
    const backup = join(place.path, 'a.backup');
    const opened = ['--password-file', place.passwordFile, '--no-keychain', '--data-dir', longest];
    expect(await place.run(['backup', backup, ...opened])).toMatchObject({ code: 0 });
    rmSync(longest, { recursive: true });
    expect(await place.run(['restore', backup, ...opened])).toMatchObject({ code: 0 });
  });

  test.skipIf(process.platform === 'win32')('below a working directory that was deleted', async () => {
    await using place = new Place();
    const deleted = join(place.path, 'deleted');
    const program = (...argv: readonly string[]): [string, ...string[]] => [
      'sh',
      '-c',
      'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"',
      deleted,
      process.execPath,
      cli,
      ...argv,
    ];
    for (const argv of [
      ['status', '--data-dir', 'x'],
      ['init', ...place.unlocking, '--data-dir', 'x'],
      ['status', '--config-dir', 'x'],
    ]) {
      const { code, stderr } = await place.run([], { program: program(...argv) });
      expect(stderr, argv.join(' ')).toContain('the working directory was deleted');
      expect(code).not.toBe(0);
    }
  });

  // The class: every file that a command reads. A device or a pipe never ends.
  describe.runIf(process.platform === 'linux')('that never end are read to a bound', () => {
    const endless = '/dev/zero';
    test.each([
      ['policies', 'create', endless],
      ['policies', 'test', endless],
      ['audit', 'verify', endless],
      ['sign', 'transaction', endless, '--type', 'ethereum', '--with', 'a key'],
      ['backup', 'a.backup', '--password-file', endless],
      ['backup', 'a.backup', '--recovery-file', endless],
      ['messages', 'sms', '--gateway-file', endless],
      ['wallets', 'list', '--vault-file', endless],
    ])('%s %s %s %s', async (...argv) => {
      await using place = new Place();
      await place.make();
      const command = place.start(argv);
      const code = await command.ended();
      expect(command.stderr).toMatch(/ is too long: expected at most [0-9]+ bytes|a line is longer than any/);
      expect([1, 2]).toContain(code);
    });
  });
});

describe('4, 11: init', () => {
  const files = (place: Place): string[] =>
    [place.vault, place.keys].flatMap((directory) => (existsSync(directory) ? readdirSync(directory) : []));

  test('makes no vault where it could not show its words', async () => {
    await using place = new Place();
    const argv = ['init', '--json', '--user', 'Ada', ...place.unlocking];
    for (const output of ['/dev/full', '/dev/null', 'a closed pipe']) {
      const ended = await new Promise<{ code: number | null; stderr: string }>((resolve) => {
        const descriptor = output.startsWith('/') ? openSync(output, 'w') : undefined;
        const child = spawn(process.execPath, [cli, ...argv], {
          env: { PATH: process.env['PATH'], ...place.environment },
          stdio: ['ignore', descriptor ?? 'pipe', 'pipe'],
        });
        if (descriptor === undefined) child.stdout?.destroy();
        else closeSync(descriptor);
        let stderr = '';
        child.stderr?.setEncoding('utf8').on('data', (said: string) => (stderr += said));
        child.once('close', (code) => {
          resolve({ code, stderr });
        });
      });
      expect(ended.stderr, output).toMatch(/no vault was created: .*(could not be shown|would be lost)/);
      expect(ended.code, output).not.toBe(0);
      expect(files(place).filter((name) => !['lock', 'not-frozen'].includes(name))).toEqual([]);
    }
    // Nothing stands in the way of the next, whose words were shown.
    const made = await place.run(argv);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect((JSON.parse(made.stdout) as Json)['recoveryPhrase']).toMatch(/^(\w+ ){23}\w+$/);
    expect((await place.run(['doctor', ...place.unlocking])).stdout).not.toContain('never shown');
  });

  test('that was killed before it showed its words leaves a vault that says so, until there are new ones', async () => {
    await using place = new Place();
    await place.make({ wordsAreYetToBeShown: true });
    const told = /never shown.*keyhearth keyslots change recovery/;
    const doctor = await place.run(['doctor', '--no-keychain']);
    expect(doctor).toMatchObject({ code: 1 });
    expect(doctor.stdout).toMatch(told);
    const service = await place.serve();
    expect((await place.run(['status'])).stdout).toMatch(told);
    expect(JSON.parse((await place.run(['status', '--json'])).stdout)).toMatchObject({ wordsNotShown: true });
    const changed = await place.run([
      'keyslots',
      'change',
      'recovery',
      '--json',
      '--output',
      `${place.passwordFile}.words`,
      '--password-file',
      place.passwordFile,
    ]);
    expect(changed, changed.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse((await place.run(['status', '--json'])).stdout)).toMatchObject({
      wordsNotShown: false,
    });
    await service.stop();
  });

  test('that is ended leaves a vault with its key, or neither', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      await using place = new Place();
      await using ended = new CommandProcess(['init', '--json', ...place.unlocking], {
        environment: place.environment,
      });
      await expect
        .poll(() => existsSync(place.keys) && readdirSync(place.keys).length > 0, {
          timeout: 20_000,
          interval: 1,
        })
        .toBe(true);
      await ended.stop(signal);
      const again = await place.run(['init', '--json', ...place.unlocking]);
      if (again.code === 0) continue;
      expect(again.stderr).toContain('there is a vault in');
      expect(readdirSync(place.keys).sort()).toEqual(['owner.private', 'owner.public']);
    }
  });

  test('is not blocked by an empty key file of a failed run, and leaves no half of a pair', async () => {
    await using place = new Place();
    mkdirSync(place.keys, { recursive: true, mode: 0o700 });
    writeFileSync(join(place.keys, 'owner.private'), '');
    // The public half cannot be written.
    mkdirSync(join(place.keys, 'second.public'));
    const refused = await place.run(['init', '--json', '--key-name', 'second', ...place.unlocking]);
    expect(refused).toMatchObject({ code: 1 });
    expect(readdirSync(place.keys).sort()).toEqual(['owner.private', 'second.public']);
    const made = await place.run(['init', '--json', ...place.unlocking]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(statSync(join(place.keys, 'owner.private')).size).toBe(65);
    // A key is not overwritten.
    const again = await place.run(['keygen', '--name', 'owner']);
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain('it is not overwritten');
  });
});

describe('11: what is left behind', () => {
  test('by a killed backup is gone at the next start, its journal too', async () => {
    await using place = new Place();
    await place.make();
    const left = ['vault.db.copy', 'vault.db.copy-journal', 'vault.db.copy-wal'].map((name) =>
      join(place.vault, name),
    );
    for (const file of left) writeFileSync(file, Buffer.alloc(4096, 1));
    const service = await place.serve();
    expect(left.filter((file) => existsSync(file))).toEqual([]);
    await service.stop();
    // And by a command that makes a backup without a service.
    for (const file of left) writeFileSync(file, Buffer.alloc(4096, 1));
    const opened = ['--password-file', place.passwordFile, '--no-keychain'];
    expect(await place.run(['backup', join(place.path, 'a.backup'), ...opened])).toMatchObject({ code: 0 });
    expect(left.filter((file) => existsSync(file))).toEqual([]);
  });

  test('no request has Node warn of its URL on standard error', async () => {
    await using place = new Place();
    await place.make();
    const service = await place.serve();
    const { port, host } = new URL(service.url);
    const ask = (target: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return text(socket);
    };
    for (const target of [`http://${host}/public/v1/discovery/keys`, '/public/v1/discovery/keys#a']) {
      expect(await ask(target), target).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const target of ['*', 'http://:::/', 'x:y', '//a/b?c', '/a\u00a0b']) {
      expect(await ask(target), target).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    await service.stop();
    expect(service.stderr).toBe('');
  });
});

describe.runIf(process.platform === 'linux')('11: a keyring that hangs', () => {
  let keyring: Awaited<ReturnType<typeof startKeyring>>;
  beforeAll(async () => {
    keyring = await startKeyring('unlocked');
  });
  afterAll(() => keyring[Symbol.asyncDispose]());

  test('is not called available, and a signal ends the service all the same', async () => {
    await using place = new Place(keyring.environment);
    const made = await place.run(['init', '--json', '--password-file', place.passwordFile]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const { organizationId } = JSON.parse(made.stdout) as { readonly organizationId: string };
    const service = place.start(['serve', '--port', '0', '--json']);
    await service.nextLine();
    const keychain = async (): Promise<unknown> =>
      (JSON.parse((await place.run(['status', '--json'])).stdout) as { readonly keychain: unknown }).keychain;
    expect(await keychain()).toEqual({ available: true });
    const resume = await keyring.pause();
    try {
      await expect.poll(keychain).toMatchObject({ available: false });
      // The log has grown: its head is to be noted in the keychain.
      const type = 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG';
      const body = JSON.stringify({ type, parameters: { privateKeyTagName: 'a', privateKeyIds: [] } });
      const tag = ['request', '--path', '/public/v1/submit/create_private_key_tag', '--body', body];
      expect(await place.run(tag), organizationId).toMatchObject({ code: 0 });
      const began = performance.now();
      expect(await service.stop('SIGTERM')).toBe(0);
      expect(performance.now() - began).toBeLessThan(5_000);
    } finally {
      resume();
    }
  });
});
