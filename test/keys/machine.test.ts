/**
 * The machine around the vault, with other users on it: what they read in its process list, what they are sent where they
 * listen in its place, and who may come in with its link. The class is every command: they are taken from the command's own
 * table, so that a new one is tried too.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { opening } from '../../main/commands/shared/open-page.ts';
import { declareCommands } from '../../main/commands/program.ts';
import { listenForControl } from '../../main/control/server.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { atLength } from '../campaigns/length.ts';
import {
  askControl,
  CommandProcess,
  runCommand,
  send,
  signInWindow,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { CommandOptions, Json, TestVault } from '../support/support.ts';

const isRoot = process.geteuid?.() === 0;
/** A user without rights here. If the tests do not run as root, this user plays the other one. */
const otherUser = 65_534;
const asOther = isRoot ? { uid: otherUser, gid: otherUser } : {};

const password = 'a password of the machine test';

interface Ran {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A user's home with a vault in it, and programs in the place of those that commands start. */
class Home implements AsyncDisposable {
  readonly #directory = temporaryDirectory();
  readonly path = realpathSync(this.#directory.path);
  readonly vault: string;
  readonly #programs = join(this.path, 'bin');
  readonly #calls = join(this.path, 'calls');
  readonly papers = join(this.path, 'papers');
  phrase = '';
  organizationId = '';
  /** Texts that no other user may read. */
  readonly secrets: string[] = [password];
  #service: CommandProcess | undefined;

  constructor(vault = 'vault') {
    this.vault = join(this.path, vault);
    mkdirSync(this.#programs);
    mkdirSync(this.papers);
    // Opening takes a moment in which others may look.
    const recorder = `#!/bin/sh\nfor word in "$0" "$@"; do printf '%s\\n' "$word" >> '${this.#calls}'; done\n`;
    for (const name of ['xdg-open', 'open', 'sensible-browser', 'firefox', 'systemctl', 'launchctl', 'id']) {
      writeFileSync(join(this.#programs, name), recorder, { mode: 0o755 });
    }
  }

  get environment(): Record<string, string> {
    return {
      HOME: this.path,
      PATH: this.#programs,
      BROWSER: join(this.#programs, 'firefox'),
      KEYHEARTH_DATA_DIR: this.vault,
      KEYHEARTH_CONFIG_DIR: join(this.path, 'config'),
    };
  }

  async make(): Promise<void> {
    this.paper('password', `${password}\n`);
    const words = ['init', '--no-keychain', '--organization', 'Acme', '--user', 'Ada', '--json'];
    const { stdout, stderr } = await this.run([...words, '--password-file', this.paperOf('password')]);
    const made = JSON.parse(stdout || stderr) as Json;
    this.phrase = String(made['recoveryPhrase']);
    this.organizationId = String(made['organizationId']);
    this.paper('phrase', this.phrase);
    const key = readFileSync(join(this.path, 'config', 'keys', 'owner.private'), 'utf8').trim();
    this.secrets.push(
      this.phrase,
      ...this.phrase
        .split(' ')
        .slice(0, 6)
        // Two words: one alone may be in another program's arguments.
        .map((word, index, words) => ` ${word} ${words[index + 1] ?? ''}`)
        .slice(0, 3),
      key,
    );
  }

  /** Serves the vault. @returns the line that says so. */
  async serve(more: readonly string[] = []): Promise<Json> {
    const unlocking = ['--no-keychain', '--password-file', this.paperOf('password')];
    this.#service = this.start(['serve', '--port', '0', '--json', ...unlocking, ...more]);
    const line = JSON.parse(await this.#service.nextLine()) as Json;
    this.secrets.push(readEndpoint(this.vault)?.nonce ?? '');
    return line;
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#service?.stop(signal);
  }

  run(argv: readonly string[], options: CommandOptions = {}): Promise<Ran> {
    return runCommand(argv, { environment: this.environment, ...options });
  }

  /** In a process of its own, where others look for it. */
  async runVisibly(argv: readonly string[]): Promise<Ran> {
    await using command = this.start(argv);
    const code = await command.ended();
    return { code, stdout: command.stdout, stderr: command.stderr };
  }

  start(argv: readonly string[]): CommandProcess {
    return new CommandProcess(argv, { environment: this.environment });
  }

  paperOf(name: string): string {
    return join(this.papers, name);
  }

  paper(name: string, text: string): void {
    writeFileSync(this.paperOf(name), text, { mode: 0o600 });
  }

  /** The words of every program that was started in this home. */
  get calls(): string {
    return existsSync(this.#calls) ? readFileSync(this.#calls, 'utf8') : '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#directory[Symbol.dispose]();
  }
}

/** The argument of each command, by the name of the operand or option. */
const operands: Readonly<Record<string, (home: Home) => string>> = {
  file: (home) => home.paperOf('draft'),
  directory: (home) => home.papers,
  kind: () => 'password',
  keyslot: () => 'recovery',
  shell: () => 'bash',
  name: () => 'network',
  value: () => 'on',
  'on-or-off': () => 'on',
  channel: () => 'desktop',
};
const options: Readonly<Record<string, (home: Home) => string>> = {
  '--path': () => '/public/v1/query/whoami',
  '--body': () => '{}',
  '--type': () => 'ethereum',
  '--curve': () => 'ed25519',
  '--output': (home) => home.paperOf(`sheet-${String(Math.random()).slice(2)}`),
  '--name': () => `name-${String(Math.random()).slice(2)}`,
  '--host': () => 'mail.example',
  '--from': () => 'vault@example.com',
  '--user': () => 'vault',
  '--port': () => '0',
};
/** The sources of secrets: a command gets the first that it accepts. */
const sources: readonly (readonly [string, string])[] = [
  ['--recovery-file', 'phrase'],
  ['--password-file', 'password'],
  ['--mnemonic-file', 'phrase'],
  ['--key-file', 'key'],
  ['--gateway-file', 'gateway'],
];

/** Commands that run until they are stopped, or that take the vault over: they have tests of their own. */
const lasting = new Set(['serve', 'dev', 'webhooks listen']);

/** Commands that open the vault's file themselves, if its lock is free: they use no service. */
const openingItself = new Set(['init', 'restore', 'audit accept-rollback']);

/** Every command with the words that make it go as far as it can. */
function everyCommand(home: Home): ReadonlyMap<string, readonly string[]> {
  const program = new Command('keyhearth');
  declareCommands(program);
  const found = new Map<string, readonly string[]>();
  const visit = (command: Command, path: readonly string[]): void => {
    for (const child of command.commands) visit(child, [...path, child.name()]);
    const flags = new Set(command.options.map(({ long }) => long ?? ''));
    // A group alone shows its help.
    if (!flags.has('--json')) return;
    const words = [...path];
    const add = (flag: string, value?: string): void => {
      if (flags.has(flag)) words.push(flag, ...(value === undefined ? [] : [value]));
    };
    for (const operand of command.registeredArguments) {
      if (!operand.required && path.join(' ') !== 'backup' && path.join(' ') !== 'sessions revoke') continue;
      words.push(operands[operand.name()]?.(home) ?? 'something');
    }
    for (const { long, mandatory } of command.options) {
      const value = options[long ?? '']?.(home);
      if (value !== undefined) add(long ?? '', value);
      else if (mandatory) add(long ?? '', 'something');
    }
    const source = sources.find(([flag]) => flags.has(flag));
    if (source !== undefined) add(source[0], home.paperOf(source[1]));
    add('--new-password-file', home.paperOf('new password'));
    for (const flag of ['--yes', '--no-keychain', '--register', '--print', '--json']) add(flag);
    found.set(path.join(' '), words);
  };
  visit(program, []);
  return new Map([...found].filter(([name]) => name !== '' && !lasting.has(name)));
}

/** Runs every command, where they are visible a few at a time. */
async function runAll(
  home: Home,
  commands: ReadonlyMap<string, readonly string[]>,
  look: (name: string, ran: Ran) => void,
  { visibly = false } = {},
): Promise<void> {
  const waiting = [...commands];
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, argv] = next;
      look(name, await (visibly ? home.runVisibly(argv) : home.run(argv)));
    }
  };
  await Promise.all(Array.from({ length: visibly ? 3 : 1 }, one));
}

/** A program of another user that listens on a port, answers everything with success, and notes what it was sent. */
class Listener implements AsyncDisposable {
  readonly #child: ChildProcess;
  heard = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.heard += text));
  }

  static async on(port: number): Promise<Listener> {
    const script = `
      const { createServer } = require('node:net');
      const answer = 'HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\nconnection: close\\r\\n\\r\\n{"value":{}}';
      let ready = 0;
      for (const host of ['127.0.0.1', '::1']) createServer((socket) => {
        console.log('connection');
        socket.on('error', () => {});
        socket.on('data', (data) => { console.log(data.toString()); socket.end(answer); });
      }).on('error', () => {}).listen({ port: ${String(port)}, host, ipv6Only: host === '::1' }, () => console.error('ready'));`;
    const child = spawn(process.execPath, ['-e', script], {
      ...asOther,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const listener = new Listener(child);
    await once(child.stderr, 'data');
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

let home: Home;

beforeAll(async () => {
  home = new Home();
  await home.make();
  home.paper('new password', 'another password, which is long\n');
  home.paper('key', '11'.repeat(32));
  home.paper('gateway', '{"url":"https://sms.example","body":"{{text}}"}');
  home.paper('draft', '{"policyName":"x","effect":"EFFECT_ALLOW","consensus":"true"}');
  home.secrets.push('another password, which is long', '11'.repeat(32));
});
afterAll(() => home[Symbol.asyncDispose]());

const leaks = (text: string): readonly string[] => home.secrets.filter((secret) => text.includes(secret));

test('every command is tried: those that are not run until they are stopped', () => {
  const names = [...everyCommand(home).keys()];
  expect(names.length).toBeGreaterThan(50);
  expect(names).toEqual(
    expect.arrayContaining(['unlock', 'backup', 'keyslots add', 'recovery check', 'open']),
  );
});

describe('after kill -9, with another user on the port that endpoint.json names', () => {
  let port: number;

  beforeAll(async () => {
    await home.serve(['--ui']);
    port = readEndpoint(home.vault)?.port ?? 0;
    await home.stop();
    expect(readEndpoint(home.vault)).toMatchObject({ port });
  });

  test('no command connects to it, and each that needs the service says that none runs', async () => {
    await using listener = await Listener.on(port);
    const note = readFileSync(join(home.vault, 'endpoint.json'), 'utf8');
    for (const argv of [
      ['unlock', '--password-file', home.paperOf('password')],
      ['lock'],
      ['open'],
      ['status'],
      ['sessions', 'list'],
      ['messages', 'desktop', 'on'],
      ['keygen', '--name', 'x', '--register', '--password-file', home.paperOf('password')],
    ]) {
      const { code, stdout, stderr } = await home.run(argv);
      expect({ argv, code }).toEqual({ argv, code: 3 });
      expect(stdout + stderr).toMatch(/ is not running: start it|^Not running[.:] /m);
    }
    // These open the file itself, where no process serves it, and say what they did.
    const file = join(home.papers, 'after.backup');
    const backedUp = await home.run(['backup', file, '--recovery-file', home.paperOf('phrase')]);
    expect(backedUp).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Created backup ${file} (`) as string,
    });
    expect((await home.run(['recovery', 'check', '--recovery-file', home.paperOf('phrase')])).code).toBe(0);
    expect(listener.heard).toBe('');
    // Another process that held the vault took the note away with it.
    writeFileSync(join(home.vault, 'endpoint.json'), note, { mode: 0o600 });
  });

  test(
    'and with a program in the place of the socket: no command sends either anything, and each says what it found',
    { timeout: 180_000 },
    async () => {
      await using listener = await Listener.on(port);
      const impostor = await Impostor.at(join(home.vault, 'control.sock'));
      try {
        const note = readFileSync(join(home.vault, 'endpoint.json'));
        for (const [name, argv] of everyCommand(home)) {
          if (!openingItself.has(name)) continue;
          await home.run(argv);
          writeFileSync(join(home.vault, 'endpoint.json'), note, { mode: 0o600 });
        }
        let asked = 0;
        const others = new Map([...everyCommand(home)].filter(([name]) => !openingItself.has(name)));
        await runAll(home, others, (name, { code, stdout, stderr }) => {
          expect({ name, leaks: leaks(stdout) }).toEqual({ name, leaks: [] });
          expect(`${name}: ${stdout}${stderr}`).not.toMatch(/undefined|\[object|Created backup/);
          if (!stderr.includes('is not the service of this vault')) return;
          asked++;
          expect({ name, code }).toEqual({ name, code: 3 });
          expect(stdout).toBe('');
          expect(stderr).toMatch(/Nothing secret was sent to it\. Restart the vault/);
        });
        // Those that never speak to the service are few: they make things, or check files.
        expect(asked).toBeGreaterThan(40);
        expect(readFileSync(join(home.vault, 'endpoint.json'))).toEqual(note);
        expect(listener.heard).toBe('');
        for (const line of impostor.heard) expect(line).toMatch(/^keyhearth-control 1 [A-Za-z0-9_-]{43}\n$/);
        expect(impostor.heard.length).toBeGreaterThanOrEqual(asked);
      } finally {
        await impostor[Symbol.asyncDispose]();
      }
    },
  );

  test.skipIf(!isRoot)('a socket of another user is not even connected to', async () => {
    const address = join(home.vault, 'control.sock');
    const impostor = await Impostor.at(address);
    chownSync(address, otherUser, otherUser);
    try {
      const { code, stderr } = await home.run(['unlock', '--password-file', home.paperOf('password')]);
      expect(code).toBe(3);
      expect(stderr).toContain(`${address} belongs to user id ${String(otherUser)}`);
      expect(impostor.heard).toEqual([]);
    } finally {
      await impostor[Symbol.asyncDispose]();
    }
  });

  test('the next start takes the place over, and commands reach it', async () => {
    const address = join(home.vault, 'control.sock');
    const impostor = await Impostor.at(address);
    try {
      await home.serve(['--ui']);
      expect(statSync(address).mode & 0o777).toBe(0o600);
      expect((await home.run(['status'])).stdout).toMatch(/^State +/);
      // A second process becomes a client of the first, as before.
      const second = await home.run(['serve', '--ui', '--json', '--no-keychain']);
      expect(JSON.parse(second.stdout)).toMatchObject({
        windowUrl: expect.stringContaining('#code=') as string,
      });
      expect(impostor.heard).toEqual([]);
    } finally {
      await impostor[Symbol.asyncDispose]();
      await home.stop('SIGTERM');
    }
    expect(existsSync(address)).toBe(false);
  });
});

/** A program that listens at a socket's place, knows no secret, and says that all is well. */
class Impostor implements AsyncDisposable {
  readonly heard: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined).setEncoding('utf8');
      socket.on('data', (text: string) => {
        this.heard.push(text);
        socket.write(`${'A'.repeat(43)} ${'B'.repeat(43)}\nready\nHTTP/1.1 200 OK\r\n\r\n{"value":{}}`);
      });
    });
  }

  static async at(address: string): Promise<Impostor> {
    const impostor = new Impostor();
    rmSync(address, { force: true });
    impostor.#server.listen(address);
    await once(impostor.#server, 'listening');
    chmodSync(address, 0o600);
    return impostor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

test('no command takes an answer that it does not know for success', { timeout: 180_000 }, async () => {
  await home.serve(['--ui']);
  const status = JSON.parse((await askControl(home.vault, 'status', { args: [] })).text) as Json;
  await home.stop();
  const asked = new Set<string>();
  const answers = ['{"value":{}}', '{}', 'all is well'];
  for (const [turn, answer] of answers.entries()) {
    const { nonce = '' } = readEndpoint(home.vault) ?? {};
    const service = await listenForControl({
      ...{ directory: home.vault, others: [], secret: nonce, left: undefined },
      answer: (request, response) => {
        const isStatus = request.url === '/status';
        if (!isStatus) asked.add(request.url ?? '');
        response.end(isStatus ? JSON.stringify(status) : answer);
      },
    });
    const note = join(home.vault, 'endpoint.json');
    const own = readFileSync(note);
    writeFileSync(
      note,
      JSON.stringify({ ...(JSON.parse(own.toString()) as Json), socket: service?.address }),
    );
    // In a short run each command gets one of the answers.
    const others = new Map(
      [...everyCommand(home)]
        .filter(([name]) => !openingItself.has(name))
        .filter((_command, index) => atLength(index % answers.length, turn) === turn),
    );
    try {
      await runAll(home, others, (name, { code, stdout, stderr }) => {
        expect(`${name}: ${stdout}${stderr}`).not.toMatch(/undefined|\[object/);
        if (!stderr.includes('in a way that this command does not know')) return;
        expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: '' });
      });
    } finally {
      await service?.close();
      writeFileSync(note, own);
    }
  }
  expect([...asked].sort()).toEqual(
    expect.arrayContaining([
      '/backUp',
      '/backups',
      '/checkRecovery',
      '/keyslots',
      '/link',
      '/lock',
      '/unlock',
    ]),
  );
});

describe('the process list', () => {
  test('has no secret in it while any command runs, or the window opens', { timeout: 180_000 }, async () => {
    const line = await home.serve(['--ui', '--open']);
    home.secrets.push(new URL(String(line['windowUrl'])).hash.slice('#code='.length));
    const seen = new Set<string>();
    let looking = true;
    const stillLooking = (): boolean => looking;
    const watch = (async () => {
      while (stillLooking()) {
        for (const words of processList()) seen.add(words);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    try {
      const look = (_name: string, { stdout }: Ran): void => {
        for (const [, code = ''] of stdout.matchAll(/#code=([A-Za-z0-9_-]+)/g)) home.secrets.push(code);
      };
      await runAll(home, everyCommand(home), look, { visibly: true });
      const again = await home.runVisibly(['serve', '--ui', '--open', '--json', '--no-keychain']);
      home.secrets.push(new URL(String((JSON.parse(again.stdout) as Json)['windowUrl'])).hash.slice(6));
      // The service does not wait for the program that opens the window.
      await expect.poll(() => pagesIn(home.calls).length).toBe(3);
    } finally {
      looking = false;
      await watch;
    }
    for (const page of pagesIn(home.calls)) {
      home.secrets.push(/#code=([A-Za-z0-9_-]{22})"/.exec(readFileSync(page, 'utf8'))?.[1] ?? '');
    }
    expect(home.secrets.filter((secret) => secret.length > 20).length).toBeGreaterThan(6);
    expect(leaks(home.calls)).toEqual([]);
    expect([...seen].flatMap(leaks)).toEqual([]);
    await home.stop('SIGTERM');
    // Unused pages are deleted when the service ends.
    for (const page of pagesIn(home.calls)) expect(existsSync(dirname(page))).toBe(false);
  });

  test.each(['linux', 'darwin', 'win32', 'freebsd'] as const)(
    'on %s a browser gets the path of a file alone',
    (platform) => {
      const words = opening(platform, '/home/ada/keyhearth-window-abcdef/open.html');
      expect(words.at(-1)).toBe('file:///home/ada/keyhearth-window-abcdef/open.html');
      expect(words.slice(0, -1).join(' ')).toMatch(/^(xdg-open|open|rundll32 url\.dll,FileProtocolHandler)$/);
    },
  );

  test('no other place of the product starts programs', () => {
    const main = join(import.meta.dirname, '../../main');
    const starting = readdirSync(main, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .filter((name) => readFileSync(join(main, name), 'utf8').includes("'node:child_process'"));
    expect(starting.sort()).toEqual([
      'commands/shared/open-page.ts',
      // Run git alone, to read and write its settings.
      'commands/ssh/git-setup.ts',
      'commands/ssh/sign-for-git.ts',
      // Runs the words that `keyhearth dev` and `keyhearth run` were given, and no others: secrets are in the environment.
      'commands/vault/run-command.ts',
      'commands/vault/service.ts',
      // Runs the command's own words again on a newer Node: they were arguments already, and no secret is one.
      'packaging/become.ts',
      'packaging/list-contents.ts',
      'packaging/make-executable.ts',
      'packaging/newer-node.ts',
      'start.ts',
    ]);
  });

  test('has no stamp in it when curl is used as the page about signing says', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/signing.md'), 'utf8');
    const [, lines = ''] = /^## With curl\n[^]*?^```sh\n([^]*?)^```$/m.exec(page) ?? [];
    await using service = await startTestVault();
    const keys = service.config.keysDirectory;
    mkdirSync(keys, { recursive: true });
    writeFileSync(join(keys, 'owner.public'), service.key.publicKey);
    writeFileSync(join(keys, 'owner.private'), service.key.privateKey, { mode: 0o600 });
    const command = join(import.meta.dirname, '../../dist/main/cli.js');
    const script = lines
      .replace('<organization id>', service.organizationId)
      .replace('http://127.0.0.1:7377', service.url)
      .replace('keyhearth stamp', `'${process.execPath}' '${command}' stamp`)
      .replace('curl ', 'record ');
    // Prints curl's arguments beside its answer.
    const record = `record() { printf '%s\\n' "$@" >&2; curl --silent "$@"; }\n`;
    const child = spawn('bash', ['-c', record + script], {
      env: { PATH: process.env['PATH'], KEYHEARTH_CONFIG_DIR: dirname(keys) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [said, given] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(JSON.parse(said)).toMatchObject({ username: 'Root' });
    expect(given).toContain('@-');
    expect(given).not.toMatch(/[A-Za-z0-9_-]{60}/);
  });
});

/** The command lines of all processes, as every user reads them. */
function processList(): readonly string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return [];
    try {
      return [readFileSync(`/proc/${name}/cmdline`, 'utf8')];
    } catch {
      return [];
    }
  });
}

const pagesIn = (calls: string): readonly string[] =>
  calls
    .split('\n')
    .filter((word) => word.startsWith('file://'))
    .map((word) => fileURLToPath(word));

describe('the page that opens the window', () => {
  let service: TestVault;
  beforeAll(async () => {
    service = await startTestVault({ config: { ui: true } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const linkIn = (page: string): string => /url=([^"]+)"/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';

  test('is this user’s alone, works once, and is gone once it is used', async () => {
    const page = service.vault.newPage() ?? '';
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(page)).mode & 0o777).toBe(0o700);
    const { origin, hash } = new URL(linkIn(page));
    expect(origin).toBe(`http://localhost:${new URL(service.url).port}`);
    const session = await signInWindow(linkIn(page));
    expect(session.cookie).toMatch(/^keyhearth_/);
    expect(existsSync(dirname(page))).toBe(false);
    const again = { path: '/window/session', body: JSON.stringify({ code: hash.slice(6) }) };
    expect((await send(service.url, again)).status).toBe(401);
  });

  // The class: a browser lives for days, starts programs of its own, and would hand the key to each of them.
  test('is opened by a program that does not get the key of the command', async () => {
    using directory = temporaryDirectory();
    const record = join(directory.path, 'environment');
    const recorder = `#!/bin/sh\n/usr/bin/env > '${record}.draft' && /bin/mv '${record}.draft' '${record}'\n`;
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(directory.path, name), recorder, { mode: 0o755 });
    }
    const environment = {
      HOME: directory.path,
      PATH: directory.path,
      KEYHEARTH_DATA_DIR: service.directory,
      KEYHEARTH_API_KEY: `02${'ab'.repeat(32)}:${'cd'.repeat(32)}`,
    };
    await using command = new CommandProcess(['open'], { environment });
    expect(await command.ended(), command.stderr).toBe(0);
    // The command does not wait for it.
    await expect.poll(() => existsSync(record), { timeout: 20_000 }).toBe(true);
    const seen = readFileSync(record, 'utf8');
    expect(seen).toContain('KEYHEARTH_DATA_DIR=');
    expect(seen).not.toContain('KEYHEARTH_API_KEY');
    expect(seen).not.toContain('cdcd');
  });

  test('is followed by browsers: the window’s page answers a link from a file, and nothing else does', async () => {
    const headers = { accept: 'text/html', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const get = async (path: string, destination: string): Promise<number> => {
      const raw = { method: 'GET', path, headers: { ...headers, 'sec-fetch-dest': destination } };
      return (await send(service.url, raw)).status;
    };
    expect(await get('/', 'document')).toBe(200);
    expect(await get('/', 'iframe')).toBe(403);
    expect(await get('/wallets', 'document')).toBe(403);
    expect(await get('/public/v1/discovery/keys', 'document')).toBe(403);
  });

  test.skipIf(!isRoot || process.platform !== 'linux')('lets in no browser of another user', async () => {
    const link = service.vault.newLink();
    const { hash, port } = new URL(link);
    const body = JSON.stringify({ code: hash.slice('#code='.length) });
    const asOtherUser = async (script: string): Promise<string> => {
      const child = spawn(process.execPath, ['-e', script], {
        ...asOther,
        cwd: '/',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      await once(child, 'close');
      return said;
    };
    for (const host of ['127.0.0.1', '[::1]']) {
      const script = `fetch('http://${host}:${port}/window/session', { method: 'POST', body: ${JSON.stringify(body)} })
        .then(async (answer) => console.log(answer.status, await answer.text()))`;
      expect(await asOtherUser(script)).toMatch(/^403 .*another user of this computer opened this link/);
    }
    // A client that ends its side at once has no answer, and spends nothing.
    const head = `POST /window/session HTTP/1.1\\r\\nHost: localhost:${port}\\r\\nContent-Type: application/json\\r\\nContent-Length: ${body.length}\\r\\n\\r\\n`;
    const half = `const socket = require('node:net').connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('data', (said) => console.log(String(said))).on('end', () => socket.destroy());
      socket.end('${head}' + ${JSON.stringify(body)});`;
    expect(await asOtherUser(half)).not.toContain('token');
    // The code still works for its intended browser.
    expect((await signInWindow(link)).cookie).toMatch(/^keyhearth_/);
  });
});

describe('where the vault’s directory cannot hold the socket', () => {
  const long = `${'a'.repeat(90)}/${'b'.repeat(90)}`;
  let far: Home;
  let runtime: string;

  beforeAll(async () => {
    far = new Home(long);
    await far.make();
    runtime = join(far.path, 'runtime');
    mkdirSync(runtime, { mode: 0o700 });
  });
  afterEach(() => far.stop());
  afterAll(() => far[Symbol.asyncDispose]());

  const start = async (environment: Record<string, string>): Promise<CommandProcess> => {
    const words = ['serve', '--port', '0', '--json', '--no-keychain'];
    const process = new CommandProcess(words, { environment: { ...far.environment, ...environment } });
    await process.nextLine();
    return process;
  };

  test.each([
    ['that of the session', (): Record<string, string> => ({ XDG_RUNTIME_DIR: runtime, TMPDIR: '/nowhere' })],
    ['a private one in the temporary directory', (): Record<string, string> => ({ TMPDIR: runtime })],
  ])('it is in another: %s', async (_what, environment) => {
    const first = await start(environment());
    const { socket } = readEndpoint(far.vault) ?? {};
    expect(dirname(dirname(socket ?? ''))).toBe(runtime);
    expect(statSync(dirname(socket ?? '')).mode & 0o777).toBe(0o700);
    expect((await far.run(['status'])).stdout).toMatch(/^State +/);
    const unlock = ['unlock', '--password-file', far.paperOf('password')];
    expect((await far.run(unlock)).stdout).toBe('The vault is unlocked.\n');

    // The next service removes the files of a killed one, and its own when it ends.
    await first.stop('SIGKILL');
    expect((await far.run(['status'])).code).toBe(3);
    const second = await start(environment());
    expect(readdirSync(runtime)).toEqual([expect.not.stringContaining(dirname(socket ?? '?'))]);
    expect(readEndpoint(far.vault)?.socket).not.toBe(socket);
    await second.stop('SIGTERM');
    expect(readdirSync(runtime)).toEqual([]);
  });

  test('and a directory there that others may use is not taken', async () => {
    const process = await start({ XDG_RUNTIME_DIR: runtime });
    const { socket = '' } = readEndpoint(far.vault) ?? {};
    chmodSync(dirname(socket ?? ''), 0o755);
    const { code, stderr } = await far.run(['lock']);
    expect(code).toBe(4);
    expect(stderr).toMatch(/other users may use .*: its mode is 755/);
    await process.stop('SIGTERM');
  });
});

test('the secrets in endpoint.json open nothing on the port itself', async () => {
  await using service = await startTestVault();
  const { nonce = '', port } = readEndpoint(service.directory) ?? {};
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  expect((probe.address() as AddressInfo).port).not.toBe(port);
  probe.close();
  for (const path of ['/window/unlock', '/window/link', '/link', '/unlock']) {
    const headers = { authorization: `Bearer ${nonce}` };
    const answer = await send(service.url, { path, headers, body: '{"args":[]}' });
    expect(answer.status).toBeGreaterThanOrEqual(401);
  }
});
