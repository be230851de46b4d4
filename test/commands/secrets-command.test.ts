/** `keyhearth secret` and `keyhearth run`, as scripts and people use them, over a served vault. */
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atLength, report } from '../campaigns/length.ts';
import { filesIn } from '../support/secret-watch.ts';
import { CommandProcess, runCommand, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { CommandOptions, Json, TestKey, TestVault } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

let service: TestVault;
const papers = temporaryDirectory();
let environment: Record<string, string>;

beforeAll(async () => {
  service = await startTestVault();
  environment = {
    HOME: papers.path,
    KEYHEARTH_DATA_DIR: service.directory,
    KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
  };
  addKey('owner', service.key);
});
afterAll(async () => {
  papers[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

function addKey(name: string, { publicKey, privateKey }: TestKey): void {
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, `${name}.public`), publicKey);
  writeFileSync(join(keysDirectory, `${name}.private`), privateKey, { mode: 0o600 });
}

const command = (argv: readonly string[], options: CommandOptions = {}) =>
  runCommand(argv, { environment, ...options });

let numbers = 0;
const newName = (): string => `secret-${String(++numbers)}`;
const path = (name: string): string => join(papers.path, name);

function paper(text: string | Uint8Array): string {
  const file = path(`paper-${String(++numbers)}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

async function store(input: string, name = newName(), ...more: readonly string[]): Promise<string> {
  const ended = await command(['secret', 'set', name, ...more, '--json'], { input });
  expect(ended.stderr).toBe('');
  expect(JSON.parse(ended.stdout)).toMatchObject({ name });
  return name;
}

const get = async (name: string): Promise<string> => (await command(['secret', 'get', name])).stdout;

describe('keyhearth secret', () => {
  test('stores what it reads, and writes it to the letter', async () => {
    expect(await get(await store('one line\n'))).toBe('one line');
    expect(await get(await store('one line\r\n'))).toBe('one line');
    expect(await get(await store('two\nlines\n'))).toBe('two\nlines\n');
    const file = paper('from a file');
    const name = await store('', newName(), '--value-file', file);
    const output = path('output');
    expect(await command(['secret', 'get', name, '--output', output])).toMatchObject({ code: 0 });
    expect(readFileSync(output, 'utf8')).toBe('from a file');
    expect(statSync(output).mode & 0o077).toBe(0);
    expect((await command(['secret', 'get', name, '--output', output])).stderr).toContain('output');
  });

  test('takes any bytes, and says which form they have', async () => {
    const bytes = Buffer.from([0, 255, 10, 0]);
    const name = await store('', newName(), '--value-file', paper(bytes));
    const { stdout } = await command(['secret', 'get', name, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ name, secretBase64: bytes.toString('base64') });
  });

  test('lists names and properties, and deletes', async () => {
    const name = await store('value of the list', newName(), '--property', 'env=live', '--property', 'a=b=c');
    const { stdout } = await command(['secret', 'list', '--json']);
    expect(stdout).not.toContain('value of the list');
    expect((JSON.parse(stdout) as { secrets: Json[] }).secrets[0]).toMatchObject({
      name,
      staticProperties: [
        { key: 'env', value: 'live' },
        { key: 'a', value: 'b=c' },
      ],
    });
    expect((await command(['secret', 'list'])).stdout).toContain('env=live, a=b=c');
    expect(await command(['secret', 'rm', name, '--yes'])).toMatchObject({
      code: 0,
      stdout: `Deleted ${name}.\n`,
    });
    expect((await command(['secret', 'get', name])).stderr).toContain('no secret has the id or the name');
  });

  test('replaces a value only when that is asked for', async () => {
    const name = await store('before');
    const refused = await command(['secret', 'set', name], { input: 'after' });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('--replace gives it another value');
    await store('after', name, '--replace');
    expect(await get(name)).toBe('after');
  });

  test.each([
    ['nothing', '', 'the value is empty'],
    ['a megabyte', 'x'.repeat(1_000_000), 'is too long: expected at most 65536 bytes'],
  ])('refuses %s', async (_, input, problem) => {
    const ended = await command(['secret', 'set', newName()], { input });
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain(problem);
  });

  test.each([['--value', 'hunter2hunter2'], ['--value=hunter2hunter2'], ['hunter2hunter2']])(
    'does not repeat a value that is among its words: %s',
    async (...words) => {
      const ended = await command(['secret', 'set', newName(), ...words], { input: 'x' });
      expect(ended.code).toBe(2);
      expect(ended.stdout + ended.stderr).not.toContain('hunter2');
    },
  );

  test.each([['a\nb'], ['a\u202eb'], [' a']])('refuses the name %j', async (name) => {
    const ended = await command(['secret', 'set', name], { input: 'value' });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('<name>');
  });

  test('refuses to store a secret without a name', async () => {
    const ended = await command(['secret', 'set', ''], { input: 'value' });
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('invalid <name>');
  });

  test('asks on a terminal, and shows no letter that is typed', async () => {
    const name = newName();
    await using terminal = new Terminal(`secret set ${name}`, environment);
    await terminal.type('typed value\r', 'value of the secret');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.shown).not.toContain('typed value');
    expect(await get(name)).toBe('typed value');
    await using show = new Terminal(`secret get ${name}`, environment);
    await show.type('y', 'Show the value of secret');
    expect(await show.ended()).toBe(0);
    expect(show.shown).toContain('typed value\r\n');
  });

  test('does not send a terminal what it would obey', async () => {
    const name = await store('\u001b]0;title\u0007');
    await using terminal = new Terminal(`secret get ${name} --yes`, environment);
    expect(await terminal.ended()).toBe(2);
    expect(terminal.shown).toContain('a terminal does not show');
  });
});

/** The words of a script of Node.js as the command that is run. */
const node = (script: string): readonly string[] => ['--', process.execPath, '-e', script];

const run = (env: string, words: readonly string[], options: CommandOptions = {}) =>
  command(['run', '--env', paper(env), ...words], options);

describe('keyhearth run', () => {
  test('gives the command what the file says, and secrets for references; all else as it was', async () => {
    const name = await store('s3cr3t value');
    const env = `PLAIN=1\nexport TOKEN=keyhearth://${name}\nQUOTED="a b"\n`;
    const script = `console.log([process.env.PLAIN, process.env.TOKEN.split('').join('.'), process.env.QUOTED, process.env.KEPT, process.argv.length].join('|'))`;
    const ended = await run(env, node(script), { environment: { ...environment, KEPT: 'kept' } });
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: `1|s.3.c.r.3.t. .v.a.l.u.e|a b|kept|1\n` });
  });

  test('an ID names its own secret, whatever others are called', async () => {
    const made = await command(['secret', 'set', newName(), '--json'], { input: 'named by its ID' });
    const { secretId } = JSON.parse(made.stdout) as { readonly secretId: string };
    await store('called as the ID of another', secretId);
    const script = node('console.log(process.env.TOKEN)');
    const ended = await run(`TOKEN=keyhearth://${secretId}`, ['--no-mask', ...script]);
    expect(ended).toMatchObject({ code: 0, stdout: 'named by its ID\n' });
  });

  test('keeps the key that reaches the vault from the program, unless the file names one', async () => {
    const name = await store('some other secret');
    const { publicKey, privateKey } = service.key;
    const holder = { ...environment, KEYHEARTH_API_KEY: `${publicKey}:${privateKey}` };
    const [env, script] = [`TOKEN=keyhearth://${name}`, node('console.log(process.env.KEYHEARTH_API_KEY)')];
    expect(await run(env, script, { environment: holder })).toMatchObject({ code: 0, stdout: 'undefined\n' });
    const ended = await run(`${env}\nKEYHEARTH_API_KEY=its-own`, script, { environment: holder });
    expect(ended).toMatchObject({ code: 0, stdout: 'its-own\n' });
  });

  test('masks the secret on both outputs, in its spellings, one byte at a time too', async () => {
    const value = 'c4n4ry/value+of=a?test';
    const name = await store(value);
    const script = `
      const s = process.env.TOKEN;
      const say = (text) => console.log(text);
      say(s); console.error(s); say(Buffer.from(s).toString('base64')); say(Buffer.from('user:' + s).toString('base64'));
      say(Buffer.from(s).toString('hex')); say(encodeURIComponent(s)); say(JSON.stringify({ s }));
      (async () => { for (const c of s + '\\n') await new Promise((done) => process.stdout.write(c, () => setTimeout(done, 2))); })();`;
    const ended = await run(`TOKEN=keyhearth://${name}`, node(script));
    const mask = `<keyhearth://${name}>`;
    const lines = ended.stdout.trimEnd().split('\n');
    expect(ended.stderr).toBe(`${mask}\n`);
    expect(lines).toHaveLength(7);
    for (const line of lines) expect(line).toContain(mask);
    expect(lines.at(-1)).toBe(mask);
  });

  test('leaves the output alone with --no-mask', async () => {
    const name = await store('shown on purpose');
    const ended = await run(`TOKEN=keyhearth://${name}`, [
      '--no-mask',
      ...node('console.log(process.env.TOKEN)'),
    ]);
    expect(ended.stdout).toBe('shown on purpose\n');
  });

  test('starts nothing where Node would print the secrets', async () => {
    const name = await store('not for Node to print');
    const file = paper(`TOKEN=keyhearth://${name}\n`);
    const argv = ['run', '--env', file, ...node('console.log(1)')];
    for (const NODE_DEBUG of ['child_process', 'http,CHILD*', '*']) {
      const ended = await command(argv, { environment: { ...environment, NODE_DEBUG } });
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).not.toContain('not for Node to print');
      expect(ended.stderr).toContain('NODE_DEBUG');
    }
    const others = await command(argv, { environment: { ...environment, NODE_DEBUG: 'repl' } });
    expect(others).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
  });

  test('passes input and exit codes on', async () => {
    const name = await store('some secret');
    const env = `TOKEN=keyhearth://${name}`;
    expect(await run(env, ['--', 'cat'], { input: 'through' })).toMatchObject({ code: 0, stdout: 'through' });
    expect(await run(env, node('process.exit(7)'))).toMatchObject({ code: 7 });
    expect(await run(env, ['--', '/nowhere/program'])).toMatchObject({ code: 127 });
  });

  // The class: no signal that asks a process to end leaves the program running with its secrets.
  test.each(['SIGTERM', 'SIGQUIT'] as const)('passes %s on', async (signal) => {
    const env = `TOKEN=keyhearth://${await store('some secret')}`;
    const script = `process.on('${signal}', () => process.exit(9)); console.log('up'); setInterval(() => {}, 1000)`;
    await using process_ = new CommandProcess(['run', '--env', paper(env), ...node(script)], { environment });
    expect(await process_.nextLine()).toBe('up');
    process_.child.kill(signal);
    expect(await process_.ended()).toBe(9);
  });

  // The class: the program is neither kept from its end, with its secrets, nor has its exit code replaced.
  test.each(['stdout', 'stderr'] as const)(
    'ends with the program where the reader of %s leaves',
    async (to) => {
      const env = `TOKEN=keyhearth://${await store('some secret')}`;
      const script = `
      process.on('SIGTERM', () => {}); process.${to}.on('error', () => process.exit(7));
      console.log('up'); setInterval(() => process.${to}.write('x'.repeat(65536)), 5)`;
      await using process_ = new CommandProcess(['run', '--env', paper(env), ...node(script)], {
        environment,
      });
      expect(await process_.nextLine()).toBe('up');
      process_.child[to]?.destroy();
      expect(await process_.ended()).toBe(7);
      expect(process_.stderr).not.toContain('Warning');
    },
  );

  test('starts nothing where a reference has no secret, and names all of them', async () => {
    const name = await store('there');
    const mark = path('started');
    const env = `A=keyhearth://${name}\nB=keyhearth://no-such\nC=keyhearth://nor-this\nD=keyhearth://no-such`;
    const ended = await run(env, ['--', 'touch', mark]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('the vault does not have: "no-such", "nor-this".');
    expect(existsSync(mark)).toBe(false);
  });

  test.each([
    [
      'within a longer value',
      'URL=postgres://app:keyhearth://db@host/db',
      'expected URL to be keyhearth://NAME and nothing else',
    ],
    ['without a name', 'A=keyhearth://', 'expected A to be keyhearth://NAME'],
    ['in a line that is none', 'A', 'line 1: expected NAME=value'],
    ['twice', 'A=1\nA=keyhearth://x', 'line 2: A is on line 1 already'],
  ])('refuses a reference %s', async (_, env, problem) => {
    const mark = path('started too');
    const ended = await run(env, ['--', 'touch', mark]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(problem);
    expect(existsSync(mark)).toBe(false);
  });

  test('says of a value with a NUL that no variable can hold it', async () => {
    const name = await store('', newName(), '--value-file', paper(Buffer.from('a\0bcdef')));
    const ended = await run(`TOKEN=keyhearth://${name}`, ['--', 'true']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      'the secret of TOKEN cannot be a variable of the environment: it has a NUL',
    );
  });

  test('as a user without the right starts nothing', async () => {
    const name = await store('not for ben');
    const { client } = await service.newUser('Ben');
    addKey('ben', client.key);
    const ended = await run(`TOKEN=keyhearth://${name}`, ['--api-key', 'ben', '--', 'true']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('sufficient permissions');
  });
});

const isLinux = process.platform === 'linux';

/** The arguments and the environment of a process, as the system shows them. */
function seenOf(pid: number): { readonly argv: string; readonly environ: string } {
  const read = (what: string): string => {
    try {
      return readFileSync(`/proc/${String(pid)}/${what}`, 'latin1');
    } catch {
      return '';
    }
  };
  return { argv: read('cmdline'), environ: read('environ') };
}

/** Every process of this computer but the command's own child. */
const processes = (): readonly number[] =>
  readdirSync('/proc').flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []));

describe.skipIf(!isLinux)('a canary', () => {
  const runs = atLength(8, 1000);

  test(
    `is after ${String(runs)} runs in no output, file, log, argument, or environment but the command's own`,
    { timeout: runs * 30_000 },
    async () => {
      const canary = `c4n4ry-${randomBytes(12).toString('hex')}`;
      const name = await store(canary);
      const needles = [canary, Buffer.from(canary).toString('base64'), Buffer.from(canary).toString('hex')];
      const holds = (text: string): boolean => needles.some((needle) => text.includes(needle));
      const file = paper(`TOKEN=keyhearth://${name}\n`);
      // The command shows its process id, waits for a signal that is passed on to it, and prints the secret whole, in pieces and in spellings.
      const script = `
      const s = process.env.TOKEN;
      const waiting = setInterval(() => {}, 1000);
      process.once('SIGUSR2', () => {
        clearInterval(waiting);
        console.log(s); console.error('error: ' + s);
        console.log(Buffer.from(s).toString('base64'), Buffer.from(s).toString('hex'));
        for (const c of s) process.stdout.write(c);
        process.exitCode = 3;
      });
      console.log(process.pid);`;
      let found = 0;
      for (let round = 1; round <= runs; round += 1) {
        await using runner = new CommandProcess(['run', '--env', file, ...node(script)], { environment });
        const pid = Number(await runner.nextLine());
        // The child holds the secret: that the search finds it there shows that it searches.
        if (holds(seenOf(pid).environ)) found += 1;
        for (const other of round % 10 === 1 ? processes() : [runner.child.pid ?? 0, process.pid]) {
          const { argv, environ } = seenOf(other);
          expect(holds(argv), `argv of ${String(other)}`).toBe(false);
          if (other !== pid) expect(holds(environ), `environment of ${String(other)}`).toBe(false);
        }
        runner.child.kill('SIGUSR2');
        expect(await runner.ended()).toBe(3);
        expect(holds(runner.stdout + runner.stderr)).toBe(false);
        expect(runner.stdout.split(`<keyhearth://${name}>`).length).toBeGreaterThanOrEqual(5);
      }
      expect(found).toBe(runs);
      const log = await service.root.query('list_activities', { paginationOptions: { limit: '100' } });
      const places = [
        ...filesIn(dirname(service.directory)),
        ...filesIn(papers.path),
        ['the log', Buffer.from(log.text)] as const,
      ];
      expect(places.length).toBeGreaterThan(5);
      for (const [place, content] of places)
        expect(holds(Buffer.from(content).toString('latin1')), place).toBe(false);
      report('canary of keyhearth run', { runs, 'places searched': places.length });
    },
  );
});

test('a service whose file was replaced says so to what asks it for its keys', async () => {
  await using other = await startTestVault();
  const keys = join(dirname(other.directory), 'config', 'keys');
  mkdirSync(keys, { recursive: true });
  writeFileSync(join(keys, 'owner.public'), other.key.publicKey);
  writeFileSync(join(keys, 'owner.private'), other.key.privateKey, { mode: 0o600 });
  const file = join(other.directory, 'vault.db');
  copyFileSync(file, `${file}.older`);
  renameSync(`${file}.older`, file);
  const options = {
    environment: {
      HOME: papers.path,
      KEYHEARTH_DATA_DIR: other.directory,
      KEYHEARTH_CONFIG_DIR: dirname(keys),
    },
    input: 'a value',
  };
  // The file is looked at as the first is asked.
  for (const name of ['first', 'second']) {
    const { code, stderr } = await runCommand(['secret', 'set', name], options);
    expect(stderr).toContain('file was changed outside Keyhearth');
    expect(stderr).not.toContain('form expected');
    expect(code).toBe(7);
  }
});
