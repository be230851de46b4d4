/** The `keyhearth` command as a person or a script runs it: what it writes, where, and how it ends. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  command,
  CommandProcess,
  ethereumAccount,
  runCommand,
  send,
  TestClient,
  temporaryDirectory,
  testKeyOf,
} from '../support/support.ts';
import { exitCodeTexts } from '../../main/commands/shared/output.ts';
import type { CommandOptions, Json } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

const password = 'correct horse battery staple';

/** A user's home: where the command looks for a vault and for keys, and nothing of the machine's own. */
class Home implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly vault = join(this.path, 'vault');
  readonly keys = join(this.path, 'config', 'keys');
  readonly environment = {
    HOME: this.path,
    KEYHEARTH_DATA_DIR: this.vault,
    KEYHEARTH_CONFIG_DIR: join(this.path, 'config'),
  };

  /** Runs a command in this home; its JSON, where it was asked for. */
  async run(argv: readonly string[], options: CommandOptions = {}) {
    const ended = await runCommand(argv, { environment: this.environment, ...options });
    return { ...ended, json: parsed(ended.stdout), error: errorIn(ended.stderr) };
  }

  start(argv: readonly string[], options: CommandOptions = {}): CommandProcess {
    return new CommandProcess(argv, { environment: this.environment, ...options });
  }

  /** A file that only its owner reads. */
  secret(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

function parsed(text: string): Json | undefined {
  if (!/^\{.*\}\n$/.test(text)) return undefined;
  return JSON.parse(text) as Json;
}

/** The message of an error that was written as JSON. */
function errorIn(stderr: string): unknown {
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return undefined;
  return (JSON.parse(last) as { error: { message: string } }).error.message;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

const initArguments = (home: Home): string[] => [
  ...['init', '--no-keychain', '--organization', 'Acme', '--user', 'Ada', '--email', 'ada@example.com'],
  ...['--password-file', home.secret('password', `${password}\n`)],
];

describe('--help', () => {
  test('names every command and documents the exit codes', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const name of [
      'init',
      'serve',
      'dev',
      'status',
      'lock',
      'unlock',
      'open',
      'keygen',
      'request',
      'wallets',
      'approvals',
      'audit',
      'doctor',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    for (const [code, text] of Object.entries(exitCodeTexts))
      expect(stdout).toContain(`  ${code}  ${text}\n`);
  });

  test.each(['init', 'serve', 'dev', 'unlock', 'keygen', 'request'])(
    '%s --help says what it takes',
    async (name) => {
      const { code, stdout } = await runCommand([name, '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: keyhearth ${name} `));
    },
  );

  test('--version is the version of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
    ) as Json;
    expect((await runCommand(['--version'])).stdout).toBe(`${String(version)}\n`);
  });
});

describe('wrong usage', () => {
  test.each([
    [['fly'], /unknown command 'fly'/],
    [['serve', '--fast'], /unknown option '--fast'/],
    [
      ['keygen'],
      /^keyhearth: required option '--name <name>' not specified\nRun `keyhearth keygen --help` for the options[.]/,
    ],
    [['keygen', '--json'], /^\{"error":\{"message":"required option '--name <name>' not specified"\}\}\n$/],
    [
      ['backup', 'schedule', '--json'],
      /^\{"error":\{"message":"missing required argument 'directory'"\}\}\n$/,
    ],
    [['serve', '--port', 'http'], /invalid port "http": expected a number from 0 \(any free port\) to 65535/],
    [['serve', '--port', '70000'], /invalid port "70000"/],
    [
      ['serve', '--allow-origin', 'app.example'],
      /invalid origin "app\.example": expected scheme, host and port alone/,
    ],
    [['serve', '--allow-origin', 'https://app.example/'], /invalid origin/],
    [['init', '--password-fd', 'three'], /invalid --password-fd "three": expected a number/],
    [
      ['init', '--password-file', '/no/such/file'],
      /--password-file \/no\/such\/file cannot be read: there is no such file/,
    ],
    [['keygen', '--name', '../evil'], /invalid key name "\.\.\/evil": expected letters, digits/],
    [[], /Usage: keyhearth/],
    [['--json'], /^\{"error":\{"message":"expected a command: /],
  ])('%j exits with 2', async (argv, message) => {
    using home = new Home();
    const { code, stdout, stderr } = await home.run(argv);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
    expect(existsSync(home.vault)).toBe(false);
  });

  // The class: a variable that a script left unset, read as the working directory.
  test.each([
    [['init', '--no-keychain', '--data-dir', '']],
    [['keygen', '--name', 'second', '--config-dir', '']],
    [['backup', 'schedule', '']],
    [['backup', '']],
    [['takeover', '--directory', '']],
    [['secret', 'get', 'token', '--output', '']],
    [['unlock', '--share-file', 'share', '--share-file', '']],
  ])('an empty path in %j is none', async (argv) => {
    using home = new Home();
    const { code, stdout, stderr } = await home.run(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /invalid (--[a-z-]+|<[a-z]+>) "": expected the path of a (file|directory), got an empty one/,
    );
  });

  test('a password is not taken from the command line', async () => {
    using home = new Home();
    const { code, stderr } = await home.run(['init', '--password', password]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/unknown option '--password'/);
  });
});

describe('init', () => {
  test('makes a vault that its owner alone can read, and keys beside it', async () => {
    using home = new Home();
    const { code, json, stderr } = await home.run([...initArguments(home), '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(json).toEqual({
      organizationId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      dataDirectory: home.vault,
      keyslots: ['recovery', 'password'],
      apiPublicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/) as string,
      privateKeyFile: join(home.keys, 'owner.private'),
      recoveryPhrase: expect.stringMatching(/^([a-z]+ ){23}[a-z]+$/) as string,
    });
    expect(modeOf(home.vault)).toBe(0o700);
    expect(modeOf(join(home.vault, 'vault.db'))).toBe(0o600);
    expect(modeOf(home.keys)).toBe(0o700);
    expect(readdirSync(home.keys).sort()).toEqual(['owner.private', 'owner.public']);
    for (const name of readdirSync(home.keys)) expect(modeOf(join(home.keys, name))).toBe(0o600);
    expect(readFileSync(join(home.keys, 'owner.public'), 'utf8')).toBe(`${String(json?.['apiPublicKey'])}\n`);
    // No process holds it now.
    expect(existsSync(join(home.vault, 'endpoint.json'))).toBe(false);
  });

  test('tells a person the phrase, once, and what comes next', async () => {
    using home = new Home();
    const { code, stdout, json } = await home.run(initArguments(home));
    expect(code).toBe(0);
    expect(json).toBeUndefined();
    expect(stdout).toMatch(
      /^Recovery phrase \(write it down; it is shown only once\):\n\n([a-z]+ ){23}[a-z]+\n\n/,
    );
    expect(stdout).toMatch(/\nUnlocks with the recovery phrase or a password\.\n/);
    expect(stdout).toMatch(/\nNext: keyhearth serve\n$/);
  });

  test.each([
    ['a file', (home: Home) => ({ argv: ['--password-file', home.secret('p', `${password}\r\nmore\n`)] })],
    [
      'a file descriptor',
      () => ({ argv: ['--password-fd', '3'], options: { descriptor3: `${password}\n` } }),
    ],
    ['standard input', () => ({ argv: ['--password-fd', '0'], options: { input: password } })],
  ] as [string, (home: Home) => { argv: string[]; options?: CommandOptions }][])(
    'takes the password from %s',
    async (_source, from) => {
      using home = new Home();
      const { argv, options = {} } = from(home);
      const { code, stderr } = await home.run(['init', '--no-keychain', '--json', ...argv], options);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      await using service = home.start([
        'serve',
        '--port',
        '0',
        '--json',
        '--password-file',
        home.secret('again', password),
      ]);
      expect(JSON.parse(await service.nextLine())).toMatchObject({ state: 'unlocked' });
    },
  );

  // The class: a mask that takes the owner's own rights. Its files could not be written a moment later.
  test.skipIf(process.platform === 'win32').each(['277', '777'])(
    'under umask %s makes what its owner can write',
    async (mask) => {
      using home = new Home();
      const shell = ['/bin/sh', '-c', `umask ${mask}; exec "$@"`, 'sh', process.execPath, command] as const;
      const ended = await home.run(initArguments(home), {
        program: shell,
        environment: { ...home.environment, NODE_DISABLE_COMPILE_CACHE: '1' },
      });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect([home.vault, home.keys].map(modeOf)).toEqual([0o700, 0o700]);
      const files = [home.vault, home.keys].flatMap((directory) =>
        readdirSync(directory).map((name) => join(directory, name)),
      );
      expect(files.filter((file) => modeOf(file) !== 0o600)).toEqual([]);
    },
  );

  test('overwrites nothing, and says so', async () => {
    using home = new Home();
    await home.run(initArguments(home));
    const files = [join(home.vault, 'vault.db'), join(home.keys, 'owner.private')];
    const before = files.map((file) => readFileSync(file));
    const again = await home.run([...initArguments(home), '--json']);
    expect(again.code).toBe(1);
    expect(again.stdout).toBe('');
    expect(again.error).toBe(`there is a vault in ${home.vault} already: it is not overwritten`);
    const plain = await home.run(initArguments(home));
    expect(plain.stderr).toBe(
      `keyhearth: there is a vault in ${home.vault} already: it is not overwritten\n`,
    );
    expect(files.map((file) => readFileSync(file))).toEqual(before);
  });

  test('does not overwrite a key file either, and makes no vault then', async () => {
    using home = new Home();
    mkdirSync(home.keys, { recursive: true });
    writeFileSync(join(home.keys, 'owner.public'), 'mine');
    const { code, error } = await home.run([...initArguments(home), '--json']);
    expect(code).toBe(1);
    expect(error).toBe(
      `${join(home.keys, 'owner.public')} is there already: it is not overwritten. Move it away, or give the key another name. If it is of a run that was killed before it made the vault, it opens nothing`,
    );
    expect(readFileSync(join(home.keys, 'owner.public'), 'utf8')).toBe('mine');
    expect((await home.run([...initArguments(home), '--json', '--key-name', 'other'])).code).toBe(0);
  });

  test.each([
    [
      'no password',
      [],
      'missing password: a vault without a keychain needs one. Give --password-file or --password-fd',
    ],
    ['a short one', ['--password-fd', '3'], 'invalid password: expected 8 to 1024 characters, got 7'],
  ])('without a keychain and with %s it makes nothing', async (_what, argv, message) => {
    using home = new Home();
    const { code, error } = await home.run(['init', '--no-keychain', '--json', ...argv], {
      descriptor3: 'seven77',
    });
    expect(code).toBe(2);
    expect(error).toBe(message);
    expect(existsSync(home.keys)).toBe(false);
    expect((await home.run([...initArguments(home), '--json'])).code).toBe(0);
  });

  test.each([
    ['--organization', ''],
    ['--organization', 'n'.repeat(65)],
    ['--user', ' '],
    ['--email', 'nobody'],
  ])('%s %j is refused, and leaves no key behind', async (option, value) => {
    using home = new Home();
    const { code, error } = await home.run([...initArguments(home), '--json', option, value]);
    expect(code).toBe(2);
    expect(error).toMatch(new RegExp(`^invalid ${option}: expected `));
    expect(existsSync(home.keys)).toBe(false);
  });

  test('a password whose bytes are not UTF-8 makes nothing: it would be one with others of its length', async () => {
    using home = new Home();
    const file = join(home.path, 'latin1');
    writeFileSync(file, Buffer.from('Pässwörter\n', 'latin1'));
    const { code, error } = await home.run(['init', '--no-keychain', '--json', '--password-file', file]);
    expect({ code, error }).toEqual({ code: 2, error: `--password-file ${file} is not text in UTF-8` });
    expect(existsSync(home.keys)).toBe(false);
  });

  test('a password that is too long leaves no key behind', async () => {
    using home = new Home();
    const argv = [
      'init',
      '--no-keychain',
      '--json',
      '--password-file',
      home.secret('long', 'p'.repeat(1025)),
    ];
    const { code, error } = await home.run(argv);
    expect(code).not.toBe(0);
    expect(error).toMatch(/expected 8 to 1024 characters, got 1025$/);
    expect(existsSync(join(home.keys, 'owner.private'))).toBe(false);
  });

  test('without a keychain service it says what is missing, in one line, and asks for a password', async () => {
    using home = new Home();
    const { code, stderr } = await home.run(['init']);
    expect(code).toBe(2);
    const [reason, problem, ...rest] = stderr.trimEnd().split('\n');
    expect(reason).toMatch(/^No keychain: ./);
    expect(problem).toMatch(/^keyhearth: missing password: a vault without a keychain needs one/);
    expect(rest).toEqual([]);
  });
});

describe('serve', () => {
  let home: Home;
  let organizationId: string;
  let recoveryPhrase: string;
  let processes: AsyncDisposableStack;

  beforeAll(async () => {
    home = new Home();
    const { json } = await home.run([...initArguments(home), '--json']);
    organizationId = String(json?.['organizationId']);
    recoveryPhrase = String(json?.['recoveryPhrase']);
  });
  afterAll(() => {
    home[Symbol.dispose]();
  });

  processes = new AsyncDisposableStack();
  afterEach(async () => {
    await processes.disposeAsync();
    processes = new AsyncDisposableStack();
  });

  const withPassword = (): string[] => ['--password-file', join(home.path, 'password')];

  /** Starts the service and waits for its line. */
  async function serve(argv: readonly string[] = []): Promise<{ process: CommandProcess; line: Json }> {
    const process = processes.use(home.start(['serve', '--port', '0', '--no-keychain', '--json', ...argv]));
    return { process, line: JSON.parse(await process.nextLine()) as Json };
  }

  test('says in one line where it is and what state it is in', async () => {
    const { process, line } = await serve(withPassword());
    expect(line).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      state: 'unlocked',
    });
    expect(await process.stop()).toBe(0);
    expect(process.stderr).toBe('');
    expect(process.stdout.split('\n')).toHaveLength(2);
  });

  test('says it in words to a person', async () => {
    const process = processes.use(home.start(['serve', '--port', '0', '--no-keychain', ...withPassword()]));
    expect(await process.nextLine()).toMatch(
      /^Keyhearth serves http:\/\/127\.0\.0\.1:\d+; the vault is unlocked\.$/,
    );
  });

  test('leaves a note for its owner alone, and takes it away at the end', async () => {
    const note = join(home.vault, 'endpoint.json');
    const { process, line } = await serve(withPassword());
    expect(modeOf(note)).toBe(0o600);
    for (const name of readdirSync(home.vault)) expect(modeOf(join(home.vault, name)), name).toBe(0o600);
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
      pid: process.child.pid,
      port: Number(new URL(String(line['url'])).port),
      socket: join(realpathSync(home.vault), 'control.sock'),
      nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
    });
    await process.stop('SIGINT');
    expect(existsSync(note)).toBe(false);
  });

  test('is reached with the key that init made', async () => {
    const { line } = await serve(withPassword());
    const read = (name: string): string => readFileSync(join(home.keys, name), 'utf8').trim();
    const key = testKeyOf(read('owner.private'), read('owner.public'));
    const client = new TestClient(String(line['url']), organizationId, key);
    expect((await client.query('whoami')).body).toMatchObject({ username: 'Ada', organizationName: 'Acme' });
  });

  // The port of a debugger has no stamps, and a stranger who reaches it reads the keys.
  test('has no debugger that the environment or a signal opens', async () => {
    const environment = { ...home.environment, NODE_OPTIONS: '--inspect=127.0.0.1:0' };
    const argv = ['serve', '--port', '0', '--no-keychain', '--json', ...withPassword()];
    const process = processes.use(home.start(argv, { environment }));
    expect(JSON.parse(await process.nextLine())).toMatchObject({ state: 'unlocked' });
    const [, port] = /Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(process.stderr) ?? [];
    const asking = send(`http://127.0.0.1:${String(port)}`, { method: 'GET', path: '/json/list' });
    await expect(asking).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    process.child.kill('SIGUSR1');
    expect((await home.run(['status', '--json'])).json).toMatchObject({ state: 'unlocked' });
    expect(process.stderr.match(/Debugger listening/g)).toHaveLength(1);
    expect(process.stderr).toContain('a debugger that the environment (NODE_OPTIONS) had opened was closed');
    expect(await process.stop()).toBe(0);
  });

  test('stays locked without a password, and says so', async () => {
    const { process, line } = await serve();
    expect(line['state']).toBe('locked');
    expect(process.stderr).toBe(
      'The vault stays locked: it has no keychain keyslot, and --password-file was not given. Unlock it in the window or with: keyhearth unlock\n',
    );
  });

  test('takes the password from a systemd credential', async () => {
    const credentials = join(home.path, 'credentials');
    mkdirSync(credentials, { recursive: true });
    writeFileSync(join(credentials, 'keyhearth-password'), password);
    const process = processes.use(
      home.start(['serve', '--port', '0', '--json'], {
        environment: { ...home.environment, CREDENTIALS_DIRECTORY: credentials },
      }),
    );
    expect(JSON.parse(await process.nextLine())).toMatchObject({ state: 'unlocked' });
  });

  test('ends with 5 when the password does not open the vault, and lets go of it', async () => {
    const argv = [
      'serve',
      '--port',
      '0',
      '--json',
      '--password-file',
      home.secret('wrong', 'not the password'),
    ];
    const { code, stdout, error, stderr } = await home.run(argv);
    expect(code).toBe(5);
    expect(stdout).toBe('');
    expect(error).toBe('The password does not open this vault.');
    expect(stderr).not.toContain('not the password');
    expect(existsSync(join(home.vault, 'endpoint.json'))).toBe(false);
  });

  test('ends with 3 where there is no vault', async () => {
    using empty = new Home();
    const { code, error } = await empty.run(['serve', '--port', '0', '--json', '--no-keychain']);
    expect(code).toBe(3);
    expect(error).toBe(
      `there is no vault in ${empty.vault}: create one with \`keyhearth init\`, or in the window of \`keyhearth serve --ui --open\`. If it is on a disk that is not mounted, mount that first`,
    );
    expect(existsSync(empty.vault)).toBe(false);
  });

  test('leaves no empty file behind if no vault was created in its window', async () => {
    using empty = new Home();
    await using process = empty.start(['serve', '--ui', '--port', '0', '--json', '--no-keychain']);
    expect(JSON.parse(await process.nextLine())).toMatchObject({ state: 'none' });
    expect(await process.stop()).toBe(0);
    expect(readdirSync(empty.vault).sort()).toEqual(['keyhearth.log', 'lock']);
  });

  test('ends in good order with the terminal that it was started on', async () => {
    const note = join(home.vault, 'endpoint.json');
    {
      await using terminal = new Terminal('serve --port 0 --no-keychain', home.environment);
      await expect.poll(() => terminal.shown).toContain('the vault is locked');
      expect(existsSync(note)).toBe(true);
    }
    await expect.poll(() => existsSync(note)).toBe(false);
  });

  test('ends with the shell that npm has run it', async () => {
    const cli = join(import.meta.dirname, '../../dist/main/cli.js');
    const shell = home.start(['serve', '--port', '0', '--json', '--no-keychain'], {
      program: ['sh', '-c', '"$0" "$@"; exit $?', process.execPath, cli],
      environment: { ...home.environment, npm_lifecycle_script: 'keyhearth serve' },
    });
    processes.use(shell);
    await shell.nextLine();
    // Its pipes are open until the service has ended too.
    expect(await shell.stop()).toBe('SIGTERM');
    expect(existsSync(join(home.vault, 'endpoint.json'))).toBe(false);
  });

  test('ends with 4 where a second process holds the vault, and names it', async () => {
    const { process, line } = await serve();
    const { code, error } = await home.run(['serve', '--port', '0', '--json']);
    expect(code).toBe(4);
    expect(error).toBe(
      `The vault in ${home.vault} is in use by process ${String(process.child.pid)}, which serves port ${new URL(String(line['url'])).port}. Stop it first, or use it as it is.`,
    );
    expect((await home.run(['init', '--no-keychain', '--json'])).code).toBe(4);
    expect((await home.run(['status'])).code).toBe(0);
  });

  test('ends with 4 where the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const { code, error } = await home.run(['serve', '--port', String(port), '--json']);
      expect(code).toBe(4);
      expect(error).toBe(
        `Port ${String(port)} is in use by another program. Choose another with --port, or --port 0 for any free one.`,
      );
    } finally {
      other.close();
    }
  });

  test('takes over after a process that was killed, whose note is stale', async () => {
    const { process } = await serve(withPassword());
    const note = join(home.vault, 'endpoint.json');
    await process.stop('SIGKILL');
    expect(existsSync(note)).toBe(true);
    const stale = await home.run(['status', '--json']);
    expect(stale.code).toBe(3);
    expect(stale.json).toEqual({ running: false, directory: home.vault });
    const again = await serve(withPassword());
    expect(again.line['state']).toBe('unlocked');
    expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ pid: again.process.child.pid });
  });

  test('another program on the port of a stale note is not taken for it', async () => {
    const { process } = await serve();
    const note = join(home.vault, 'endpoint.json');
    await process.stop('SIGKILL');
    const { port: stalePort } = JSON.parse(readFileSync(note, 'utf8')) as { port: number };
    const other = createServer((_request, response) => response.end('hello')).listen(stalePort, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    try {
      expect((await home.run(['status'])).code).toBe(3);
      expect((await home.run(['lock'])).code).toBe(3);
    } finally {
      other.close();
      rmSync(note);
    }
  });

  describe('with the commands that speak to it', () => {
    test('status', async () => {
      const { line } = await serve(withPassword());
      const { code, json } = await home.run(['status', '--json']);
      expect(code).toBe(0);
      expect(json).toMatchObject({
        running: true,
        state: 'unlocked',
        url: line['url'],
        directory: home.vault,
        organization: { id: organizationId, name: 'Acme' },
        owner: { userName: 'Ada' },
        keyslots: ['recovery', 'password'],
        keychain: { available: false },
        serverKeys: { signer: expect.stringMatching(/^04[0-9a-f]{128}$/) as string },
      });
      const { stdout } = await home.run(['status']);
      expect(stdout).toMatch(/^State +unlocked\nURL +http:\/\/127\.0\.0\.1:\d+\n/);
      expect(stdout).toContain(`\nOrganization  Acme (${organizationId})\n`);
      expect(stdout).toContain('\nUnlocks with  the recovery phrase or a password\n');
      expect(stdout).toMatch(/\nSigner key +04[0-9a-f]{128}\n$/);
    });

    test('lock, and unlock with the password or the recovery phrase', async () => {
      await serve(withPassword());
      const state = async (): Promise<unknown> => (await home.run(['status', '--json'])).json?.['state'];
      expect(await home.run(['lock', '--json'])).toMatchObject({ code: 0, json: { state: 'locked' } });
      expect(await state()).toBe('locked');
      expect((await home.run(['lock'])).stdout).toBe(
        'The vault is locked, and its keys are erased from memory.\n',
      );
      for (const argv of [
        ['sessions', 'list'],
        ['backup', join(home.path, 'locked.backup')],
      ]) {
        const refused = await home.run([...argv, '--json']);
        expect(refused).toMatchObject({
          code: 5,
          error: 'the vault is locked: run `keyhearth unlock`',
        });
      }

      const wrong = await home.run(['unlock', '--json', '--password-fd', '3'], {
        descriptor3: 'incorrect horse',
      });
      expect(wrong).toMatchObject({ code: 5, stdout: '', error: 'The password does not open this vault.' });
      expect(await state()).toBe('locked');

      const opened = await home.run(['unlock', '--json', ...withPassword()]);
      expect(opened).toMatchObject({ code: 0, json: { state: 'unlocked' } });

      await home.run(['lock']);
      const phraseFile = home.secret('phrase', `\n  ${recoveryPhrase.toUpperCase().replaceAll(' ', '\n')}\n`);
      const recovered = await home.run(['unlock', '--recovery-file', phraseFile]);
      expect(recovered).toMatchObject({ code: 0, stdout: 'The vault is unlocked.\n' });
      expect(await state()).toBe('unlocked');

      await home.run(['lock']);
      const words = recoveryPhrase.split(' ');
      const swapped = [words[1], words[0], ...words.slice(2)].join(' ');
      const unknown = home.secret('unknown', [...words.slice(1), 'keyhearth'].join(' '));
      for (const file of [home.secret('swapped', swapped), home.secret('short', 'abandon'), unknown]) {
        const refused = await home.run(['unlock', '--json', '--recovery-file', file]);
        expect(refused.code).toBe(5);
        expect(refused.error).toMatch(/recovery phrase/);
        for (const word of ['abandon', 'keyhearth']) expect(refused.error).not.toContain(word);
      }
    });

    test('unlock says what it needs', async () => {
      await serve();
      expect(await home.run(['unlock', '--json'])).toMatchObject({
        code: 2,
        error:
          'missing secret: the vault unlocks with the recovery phrase or a password. Give --password-file, --password-fd, --recovery-file or --share-file',
      });
      expect(await home.run(['unlock', '--json', '--recovery-file', '/no/such/file'])).toMatchObject({
        code: 2,
        error: '--recovery-file /no/such/file cannot be read: there is no such file or directory',
      });
      expect(await home.run(['unlock', '--json', '--keychain'])).toMatchObject({
        code: 5,
        error: 'This vault has no keychain to unlock it with. It opens with: recovery phrase, password.',
      });
    });

    test('a frozen vault is called frozen', async () => {
      await serve();
      expect(await home.run(['freeze'])).toMatchObject({ code: 0 });
      for (const argv of [
        ['wallets', 'list'],
        ['keygen', '--name', 'frozen', '--register'],
      ]) {
        expect(await home.run([...argv, '--json'])).toMatchObject({
          code: 5,
          error: expect.stringMatching(/^the vault is frozen: run `keyhearth unlock`/) as string,
        });
      }
      expect((await home.run(['unlock', '--json'])).error).toBe(
        'missing secret: the vault is frozen, and unlocks with the recovery phrase or a password. Give --password-file, --password-fd, --recovery-file or --share-file',
      );
      expect(await home.run(['unlock', ...withPassword()])).toMatchObject({ code: 0 });
    });

    test('keygen makes a pair of files, and registers the key where it is asked to', async () => {
      await serve(withPassword());
      const plain = await home.run(['keygen', '--name', 'plain']);
      expect(plain.code).toBe(0);
      expect(plain.stdout).toMatch(/^Public key {2}0[23][0-9a-f]{64}\nFiles /);
      expect(plain.stdout).toMatch(
        /\nNot registered yet\. To register a key, give --user or --register\.\n$/,
      );
      const registered = await home.run(['keygen', '--name', 'second', '--register', '--json']);
      expect(registered).toMatchObject({
        code: 0,
        json: {
          name: 'second',
          publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/) as string,
          publicKeyFile: join(home.keys, 'second.public'),
          privateKeyFile: join(home.keys, 'second.private'),
          registered: true,
        },
      });
      for (const name of ['plain.private', 'second.private', 'second.public'])
        expect(modeOf(join(home.keys, name))).toBe(0o600);
      const whoami = ['request', '--path', '/public/v1/query/whoami', '--body', '{}', '--json', '--key'];
      expect(await home.run([...whoami, 'second'])).toMatchObject({ code: 0, json: { username: 'Ada' } });
      expect(await home.run([...whoami, 'plain'])).toMatchObject({
        code: 1,
        json: { turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' },
      });

      // As after a command that was killed before it could say what it had done.
      const registeredAgain = await home.run(['keygen', '--name', 'second', '--register', '--json']);
      expect(registeredAgain).toMatchObject({
        code: 1,
        error: expect.stringMatching(
          /second\.private is there already, and its key is registered for "?.?Ada/,
        ) as string,
      });
      const unregistered = await home.run(['keygen', '--name', 'plain', '--register', '--json']);
      expect(unregistered).toMatchObject({
        code: 1,
        error: expect.stringMatching(/plain\.private is there already: it is not overwritten/) as string,
      });

      // Of several at once, one makes the files, and the others say whose name is taken: not that of a draft.
      const many = await Promise.all(
        Array.from({ length: 4 }, () => home.run(['keygen', '--name', 'many', '--json'])),
      );
      expect(many.filter(({ code }) => code === 0)).toHaveLength(1);
      symlinkSync(join(home.keys, 'nowhere'), join(home.keys, 'linked.private'));
      const linked = await home.run(['keygen', '--name', 'linked', '--json']);
      for (const { error } of [...many.filter(({ code }) => code !== 0), linked]) {
        expect(error).toMatch(/(many|linked)\.private is there already: it is not overwritten/);
      }

      const again = await home.run(['keygen', '--name', 'second', '--json']);
      expect(again).toMatchObject({
        code: 1,
        error: expect.stringMatching(
          /second\.public is there already|second\.private is there already/,
        ) as string,
      });
    });

    test('keygen --register in a locked vault says so, and makes no files', async () => {
      await serve();
      const { code, error } = await home.run(['keygen', '--name', 'locked', '--register', '--json']);
      expect(code).toBe(5);
      expect(error).toMatch(/^the vault is locked/i);
      expect(existsSync(join(home.keys, 'locked.private'))).toBe(false);
    });

    test('request stamps a body and shows the answer', async () => {
      await serve(withPassword());
      const parameters = { walletName: 'By command', accounts: [ethereumAccount] };
      const body = JSON.stringify({ type: 'ACTIVITY_TYPE_CREATE_WALLET', parameters });
      const made = await home.run([
        'request',
        '--json',
        '--path',
        '/public/v1/submit/create_wallet',
        '--body',
        body,
      ]);
      expect(made).toMatchObject({ code: 0, json: { activity: { status: 'ACTIVITY_STATUS_COMPLETED' } } });

      const fromFile = home.secret('body.json', '{}');
      const listed = await home.run([
        'request',
        '--path',
        '/public/v1/query/list_wallets',
        '--body',
        `@${fromFile}`,
      ]);
      expect(listed.code).toBe(0);
      expect(listed.stdout).toMatch(/^\{\n {2}"activity": \{\n/);
      expect(JSON.parse(listed.stdout)).toMatchObject({ wallets: [{ walletName: 'By command' }] });

      const fromInput = await home.run(
        ['request', '--json', '--path', '/public/v1/query/list_wallets', '--body', '-'],
        { input: '{}' },
      );
      expect(fromInput).toMatchObject({ code: 0, json: { wallets: [{}] } });

      const refused = await home.run([
        'request',
        '--json',
        '--path',
        '/public/v1/submit/create_wallet',
        '--body',
        body,
      ]);
      expect(refused).toMatchObject({ code: 1, json: { code: 3 } });
    });

    test('request sends a body exactly as given, to the path of its choice', async () => {
      const { line } = await serve(withPassword());
      const path = ['--json', '--path', '/public/v1/query/whoami'];
      const raw = ` {"organizationId" : "${organizationId}"}`;
      const url = ['--url', String(line['url'])];
      expect(await home.run(['request', ...path, '--raw', ...url, '--body', raw])).toMatchObject({ code: 0 });
      expect(await home.run(['request', ...path, '--raw', '--body', '{}'])).toMatchObject({
        code: 1,
        json: { message: 'missing field organizationId: expected a string' },
      });
    });

    test('stamp writes what request would send, for other clients', async () => {
      const { line } = await serve(withPassword());
      const body = JSON.stringify({ organizationId });
      const { code, json } = await home.run(['stamp', '--body', body, '--json']);
      expect(code).toBe(0);
      expect(json).toEqual({ header: 'X-Stamp', value: expect.stringMatching(/^[A-Za-z0-9_-]+$/) as string });
      const { stdout } = await home.run(['stamp', '--body', '-'], { input: body });
      for (const value of [String(json?.['value']), stdout.trim()]) {
        const answer = await send(String(line['url']), {
          path: '/public/v1/query/whoami',
          headers: { 'x-stamp': value },
          body,
        });
        expect(answer.body).toMatchObject({ username: 'Ada' });
      }
    });

    test.each([
      [['--path', 'whoami', '--body', '{}'], 2, /invalid --path "whoami": expected \/public\/v1\/…/],
      [['--path', '/public/v1/query/whoami', '--body', '{'], 2, /--body is not JSON$/],
      [['--path', '/public/v1/query/whoami', '--body', '[]'], 2, /--body is not a JSON object$/],
      [
        ['--path', '/public/v1/query/whoami', '--body', '@/no/such'],
        2,
        /--body @\/no\/such cannot be read: there is no such file/,
      ],
      [
        ['--path', '/public/v1/query/whoami', '--body', '{}', '--key', 'none'],
        1,
        /none\.public does not exist: create a key with `keyhearth keygen --name none --register`$/,
      ],
      [
        ['--path', '/public/v1/query/whoami', '--body', '{}', '--raw', '--url', 'http://127.0.0.1:9'],
        3,
        /nothing answers at http:\/\/127\.0\.0\.1:9/,
      ],
      [
        ['--path', '/public/v1/query/whoami', '--body', '{}', '--url', 'nowhere'],
        2,
        /invalid --url "nowhere": expected http/,
      ],
    ])('request %j ends with %i', async (argv, expected, message) => {
      await serve();
      const { code, stdout, error } = await home.run(['request', '--json', ...argv]);
      expect(error).toMatch(message);
      expect(code).toBe(expected);
      expect(stdout).toBe('');
    });

    test('open writes a link that signs one browser in, once', async () => {
      const { line } = await serve(['--ui', ...withPassword()]);
      const { port } = new URL(String(line['url']));
      expect(String(line['windowUrl']).startsWith(`http://localhost:${port}/#code=`)).toBe(true);
      const { code, json } = await home.run(['open', '--no-browser', '--json']);
      expect(code).toBe(0);
      const link = new URL(String(json?.['windowUrl']));
      expect(link.origin).toBe(`http://localhost:${port}`);
      const exchange = () =>
        send(link.origin, {
          path: '/window/session',
          body: JSON.stringify({ code: link.hash.slice('#code='.length) }),
        });
      expect((await exchange()).status).toBe(200);
      expect((await exchange()).status).toBe(401);
      expect((await home.run(['open', '--no-browser'])).stdout).toMatch(
        /^Window \(the link works once, for ten minutes\): http:\/\/localhost:\d+\/#code=\S+\n$/,
      );
    });

    test('open says what to do where the window is not served', async () => {
      await serve();
      expect(await home.run(['open', '--no-browser', '--json'])).toMatchObject({
        code: 1,
        error: 'this Keyhearth serves no window: start it with --ui',
      });
    });

    test('serve --ui joins one that runs', async () => {
      const first = await serve(['--ui']);
      const second = await home.run(['serve', '--ui', '--port', '0', '--json']);
      expect(second.code).toBe(0);
      expect(second.json).toMatchObject({ url: first.line['url'] });
      expect(second.json?.['windowUrl']).not.toBe(first.line['windowUrl']);
    });

    test.each([
      ['lock'],
      ['unlock', '--keychain'],
      ['open', '--no-browser'],
      ['keygen', '--name', 'nobody', '--register'],
      ['request', '--path', '/public/v1/query/whoami', '--body', '{}'],
    ])('%s without it ends with 3', async (...argv) => {
      const { code, error } = await home.run([...argv, '--json']);
      expect(code).toBe(3);
      expect(error).toBe(
        `the vault in ${home.vault} is not running: start it with \`keyhearth serve\`, or open the app`,
      );
      expect(existsSync(join(home.keys, 'nobody.private'))).toBe(false);
    });

    test('status without it says so and ends with 3, on either place of --json', async () => {
      expect(await home.run(['--json', 'status'])).toMatchObject({ code: 3, json: { running: false } });
      expect(await home.run(['status'])).toMatchObject({
        code: 3,
        stdout: `Not running. Start the vault in ${home.vault} with: keyhearth serve\n`,
      });
    });
  });
});

describe('doctor', () => {
  interface Finding {
    readonly check: string;
    readonly outcome: string;
    readonly detail: string;
  }

  const examine = async (home: Home): Promise<{ code: unknown; ok: unknown; findings: Finding[] }> => {
    const { code, json, stderr } = await home.run(['doctor', '--no-keychain', '--json']);
    if (json === undefined) throw new Error(`doctor gave no JSON: ${stderr}`);
    return { code, ok: json['ok'], findings: json['findings'] as Finding[] };
  };
  const about = (findings: readonly Finding[], check: RegExp): Finding | undefined =>
    findings.find((finding) => check.test(finding.check));

  test('finds a new vault well, whether it runs or not', async () => {
    using home = new Home();
    await home.run(initArguments(home));
    const still = await examine(home);
    expect(still).toMatchObject({ code: 0, ok: true });
    expect(about(still.findings, /^cryptography$/)).toMatchObject({ outcome: 'ok' });
    expect(about(still.findings, /^keychain$/)).toMatchObject({ outcome: 'note' });
    expect(about(still.findings, /^database$/)).toMatchObject({
      outcome: 'ok',
      detail: 'integrity check says ok',
    });
    expect(about(still.findings, /^schema$/)).toMatchObject({ outcome: 'ok' });
    expect(about(still.findings, /^activity log$/)).toMatchObject({ outcome: 'ok' });
    expect(about(still.findings, /^service$/)).toMatchObject({
      outcome: 'note',
      detail: 'not running',
    });

    await using service = home.start([
      'serve',
      '--port',
      '0',
      '--no-keychain',
      '--json',
      '--password-file',
      join(home.path, 'password'),
    ]);
    const line = JSON.parse(await service.nextLine()) as Json;
    const body = JSON.stringify({
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      parameters: { walletName: 'x', accounts: [] },
    });
    await home.run(['request', '--path', '/public/v1/submit/create_wallet', '--body', body]);
    const running = await examine(home);
    expect(running).toMatchObject({ code: 0, ok: true });
    expect(about(running.findings, /^service$/)?.detail).toBe(`running at ${String(line['url'])}`);
    expect(about(running.findings, /^activity log$/)?.detail).toBe('an unbroken chain of 1 entries');
    const { stdout } = await home.run(['doctor', '--no-keychain']);
    expect(stdout).toMatch(/^Result +Check +Details\nok +cryptography +the known answers are right\n/);
    expect(stdout).toMatch(/\nAll checks passed\.\n$/);
  });

  test('finds nothing wrong where there is nothing, and makes nothing', async () => {
    using home = new Home();
    expect(await examine(home)).toMatchObject({ code: 0, ok: true });
    expect(existsSync(home.vault)).toBe(false);
  });

  test('names a file that others can read, and the command that fixes it', async () => {
    using home = new Home();
    await home.run(initArguments(home));
    const file = join(home.vault, 'vault.db');
    chmodSync(file, 0o644);
    const { code, ok, findings } = await examine(home);
    expect(code).toBe(1);
    expect(ok).toBe(false);
    expect(about(findings, /vault\.db$/)).toMatchObject({
      outcome: 'failed',
      detail: '644, so other users have access: run chmod 600 on the file',
    });
    const { stdout } = await home.run(['doctor', '--no-keychain']);
    expect(stdout).toMatch(
      /\nfailed +mode of .*vault\.db +644, so other users have access: run chmod 600 on the file\n/,
    );
    expect(stdout).toMatch(/\n\d checks? failed\.\n$/);
  });

  test('finds a log that was changed behind the vault’s back', async () => {
    using home = new Home();
    await home.run(initArguments(home));
    await using service = home.start([
      'serve',
      '--port',
      '0',
      '--no-keychain',
      '--json',
      '--password-file',
      join(home.path, 'password'),
    ]);
    await service.nextLine();
    for (const walletName of ['one', 'two']) {
      const body = JSON.stringify({
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        parameters: { walletName, accounts: [] },
      });
      await home.run(['request', '--path', '/public/v1/submit/create_wallet', '--body', body]);
    }
    await service.stop();
    const database = new Sqlite(join(home.vault, 'vault.db'));
    database.exec(`DROP TRIGGER activities_no_update; UPDATE activities SET votes = '[]' WHERE sequence = 1`);
    database.close();
    const { code, findings } = await examine(home);
    expect(code).toBe(1);
    expect(about(findings, /^activity log$/)).toMatchObject({
      outcome: 'failed',
      detail: 'entry 1 was changed after it was written',
    });
  });

  test('finds a file of a newer version, and one that is none', async () => {
    using home = new Home();
    await home.run(initArguments(home));
    const file = join(home.vault, 'vault.db');
    const database = new Sqlite(file);
    database.pragma('user_version = 9999');
    database.close();
    const newer = await examine(home);
    expect(newer.code).toBe(1);
    expect(about(newer.findings, /^schema$/)?.outcome).toBe('failed');
    const refused = await home.run(['serve', '--port', '0', '--json']);
    expect(refused.code).toBe(1);
    expect(refused.error).toMatch(
      /^The vault file has schema version 9999; this Keyhearth knows versions up to \d+\. Open it with the newer Keyhearth that last used it\.$/,
    );

    for (const name of readdirSync(home.vault))
      if (name.startsWith('vault.db-')) rmSync(join(home.vault, name));
    writeFileSync(file, 'this is not a database, and long enough to be looked at as one'.repeat(100));
    const broken = await examine(home);
    expect(broken.code).toBe(1);
    expect(about(broken.findings, /^database$/)).toMatchObject({
      outcome: 'failed',
      detail: 'the file: it is not an SQLite database',
    });
  });
});
