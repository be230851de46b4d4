/**
 * The command as `npm install -g` of the packed project leaves it, on the oldest Node that this machine has. The packages come
 * from a registry in this process, which has what `npm install` put beside the project: no network, and no cache of npm's.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNewEnough } from '../../main/packaging/newer-node.ts';
import { CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';
import { expectToServeAndSign } from './packed-command.ts';

const projectRoot = join(import.meta.dirname, '../..');
const modules = join(projectRoot, 'node_modules');
const run = promisify(execFile);
const megabyte = 2 ** 20;

/** Milliseconds. npm installs some 170 MB where it brings a Node. */
const patience = 180_000;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const manifestIn = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;

/**
 * The directory in which `npm install` put the package of this name; undefined for those of other systems.
 */
const directoryOf = (name: string): string | undefined =>
  [name, name.replace(/^@github\//, ''), join('node/node_modules', name)]
    .map((each) => join(modules, each))
    .find((directory) => existsSync(directory) && manifestIn(directory).name === name);

const asked: string[] = [];
const registry = createServer((request, response) => {
  const [name = '', file] = decodeURIComponent(request.url ?? '')
    .slice(1)
    .split('/-/');
  const directory = directoryOf(name);
  asked.push(name);
  if (directory === undefined) {
    response.writeHead(404).end('{}');
  } else if (file === undefined) {
    const manifest = manifestIn(directory);
    const { version } = manifest;
    const tarball = `http://${String(request.headers.host)}/${name}/-/package.tar`;
    const versions = { [version]: { ...manifest, dist: { tarball } } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  } else {
    const left = ['node_modules', 'include', 'share'].map((each) => `--exclude=./${each}`);
    spawn('tar', [...left, '-cf', '-', '-C', directory, '.']).stdout.pipe(response);
  }
});

/** The PATH without what npm and the test runner put before it. */
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((directory) => !directory.includes('node_modules'));
const name = process.platform === 'win32' ? 'node.exe' : 'node';
const programs = path.map((directory) => join(directory, name)).filter((program) => existsSync(program));
const versions = await Promise.all(
  programs.map(async (program) => (await run(program, ['--version'])).stdout.trim()),
);
const old = versions.findIndex((version) => !isNewEnough(version));
const isOld = old !== -1;
const node = programs[old] ?? process.execPath;

const directory = temporaryDirectory();
const prefix = join(directory.path, 'prefix');
const installed = join(prefix, process.platform === 'win32' ? '' : 'lib', 'node_modules/keyhearth');
const executable = join(prefix, process.platform === 'win32' ? 'keyhearth.cmd' : 'bin/keyhearth');
/** With this Node first, as the shell of who has it. */
const environment = {
  PATH: [dirname(node), ...path].join(delimiter),
  HOME: directory.path,
  KEYHEARTH_DATA_DIR: join(directory.path, 'vault'),
  KEYHEARTH_CONFIG_DIR: join(directory.path, 'config'),
};
const shell = process.platform === 'win32';
let said = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', directory.path], {
    cwd: projectRoot,
    shell,
  });
  const [tarball = ''] = readdirSync(directory.path).filter((each) => each.endsWith('.tgz'));
  const { stdout, stderr } = await run(
    'npm',
    [
      ...['install', '--global', '--prefix', prefix, '--foreground-scripts', '--no-audit', '--no-fund'],
      ...['--registry', `http://127.0.0.1:${String(port)}`, '--cache', join(directory.path, 'cache')],
      join(directory.path, tarball),
    ],
    { cwd: directory.path, env: { ...environment, SystemRoot: process.env['SystemRoot'] }, shell },
  );
  said = stdout + stderr;
}, patience);
afterAll(() => {
  registry.close();
  directory[Symbol.dispose]();
});

const version = manifestIn(projectRoot).version;
const runInstalled = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCommand(argv, { program: [executable], environment: { ...environment, ...more } });

/** Bytes of a directory's files. */
const sizeOf = (of: string): number =>
  readdirSync(of, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

test('has the parts that it needs and no others, and built nothing', () => {
  const brought = join(installed, 'runtime');
  expect(existsSync(brought)).toBe(isOld);
  expect(sizeOf(installed) - (isOld ? sizeOf(brought) : 0)).toBeLessThan(60 * megabyte);
  expect(asked).not.toContain('react');
  expect(asked).not.toContain('electron');
  // npm says each script that it runs. `prepare` would build what is built.
  expect(said).toContain('> keyhearth@');
  expect(said).not.toMatch(/^> .* prepare$/m);
});

test(
  'serves, signs, backs up and posts events',
  async () => {
    expect(await runInstalled(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    await expectToServeAndSign([executable], { PATH: environment.PATH });
  },
  patience,
);

test('a service that it installs does not pass by the Node that is too old', async () => {
  const { stdout } = await runInstalled(['service', 'install', '--print']);
  expect(stdout).toContain(isOld ? join(installed, 'runtime/node') : process.execPath);
  expect(stdout).toContain(join(installed, 'dist/main/cli.js'));
});

// The last here: it takes away the Node that was brought.
test.runIf(isOld)(
  'without any Node that is new enough, one line says what is missing, and its command helps',
  async () => {
    rmSync(join(installed, 'runtime'), { recursive: true });
    const alone = programs
      .filter((_, index) => !isNewEnough(versions[index] ?? ''))
      .map((each) => dirname(each));
    const { code, stdout, stderr } = await runInstalled(['status'], { PATH: alone.join(delimiter) });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    const [, script = ''] = /: node "([^"]+)"$/.exec(stderr.trim()) ?? [];
    expect(existsSync(script)).toBe(true);
  },
);

describe('become', () => {
  const become = join(projectRoot, 'main/packaging/become.ts');
  const command = join(projectRoot, 'dist/main/cli.js');
  /** The work of an old Node with a newer one, done by this one. */
  const launched = (descriptor3: string | undefined, ...argv: string[]): CommandProcess =>
    new CommandProcess([...argv], {
      program: [
        ...[process.execPath, '--input-type=module', '--eval'],
        `import { become } from ${JSON.stringify(become)};
         await become(process.execPath, [${JSON.stringify(command)}, ...process.argv.slice(1)], process.env, [3]);`,
        '--',
      ] as unknown as [string, ...string[]],
      environment,
      ...(descriptor3 === undefined ? {} : { descriptor3 }),
    });

  test('passes on a file that an option names, signals, and the exit code', async () => {
    await using init = launched(
      'correct horse battery staple',
      'init',
      '--no-keychain',
      '--password-fd',
      '3',
      '--json',
    );
    expect({ code: await init.ended(), stderr: init.stderr }).toMatchObject({ code: 0 });
    await using again = launched('another', 'init', '--no-keychain', '--password-fd', '3', '--json');
    expect(await again.ended()).not.toBe(0);
  });

  test.skipIf(process.platform === 'win32')('leaves no service behind when it is killed', async () => {
    const note = join(environment.KEYHEARTH_DATA_DIR, 'endpoint.json');
    await using service = launched('', 'serve', '--no-keychain', '--port', '0', '--json');
    await service.nextLine();
    expect(existsSync(note)).toBe(true);
    service.child.kill('SIGKILL');
    await expect.poll(() => existsSync(note)).toBe(false);
  });
});
