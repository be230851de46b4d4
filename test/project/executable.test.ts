/** The `keyhearth` command as one file, as `npm run executable` makes it: run where there is no Node and no project. */
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeExecutable } from '../../main/packaging/make-executable.ts';
import { expectToServeAndSign } from './packed-command.ts';
import { runCommand, temporaryDirectory } from '../support/support.ts';

/** Milliseconds. Some 130 MB are written, and a vault is created and served. */
const patience = 180_000;

const directory = temporaryDirectory();
const executable = join(directory.path, 'keyhearth');
const cache = join(directory.path, 'cache');
/** Nothing but a place to unpack: no PATH, so no Node. */
const environment = { PATH: '/nowhere', HOME: directory.path, XDG_CACHE_HOME: cache };

beforeAll(async () => {
  await makeExecutable(executable);
}, patience);
afterAll(() => {
  directory[Symbol.dispose]();
});

const run = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCommand(argv, { program: [executable], environment: { ...environment, ...more } });

test(
  'serves, signs, backs up and posts events',
  async () => {
    await expectToServeAndSign([executable], environment);
  },
  patience,
);

test('runs its own parts, even if the unpacked files changed', async () => {
  const [name = ''] = readdirSync(join(cache, 'keyhearth'));
  const command = join(cache, 'keyhearth', name, 'dist/main/cli.js');
  const before = readFileSync(command, 'utf8');
  writeFileSync(command, 'console.log("changed")');
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(readFileSync(command, 'utf8')).toBe(before);
});

test('loads no code from the environment', async () => {
  const file = join(directory.path, 'evil.cjs');
  writeFileSync(file, 'console.log("evil")');
  const { stdout } = await run(['--version'], { NODE_OPTIONS: `--require=${file}` });
  expect(stdout).not.toContain('evil');
});

test('a service that it installs runs it again, and no script', async () => {
  const { stdout } = await run(['service', 'install', '--print']);
  const line =
    process.platform === 'darwin' ? `<string>${executable}</string>` : `ExecStart="${executable}" "serve"`;
  expect(stdout).toContain(line);
});

test('keeps to its size, and tells nothing of the machine that made it', async () => {
  const added = statSync(executable).size - statSync(process.execPath).size;
  expect(added).toBeLessThan(25 * 2 ** 20);
  const projectRoot = join(import.meta.dirname, '../..');
  const { stdout } = await promisify(execFile)('grep', ['-c', '-a', '-F', projectRoot, executable]).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  expect(stdout).toBe('0\n');
});
