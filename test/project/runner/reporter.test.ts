import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const projectRoot = join(import.meta.dirname, '../../..');
let directory: string;

beforeEach(async () => {
  // Inside the project, where a configuration finds vitest.
  directory = await mkdtemp(join(projectRoot, 'node_modules/.reporter-'));
  const config = `import { CountsReporter } from '${join(projectRoot, 'test/project/runner/reporter.ts')}';
    export default { test: { include: ['*.spec.ts'], reporters: ['default', new CountsReporter()], globalSetup: globalThis.process.env.SETUP ?? [] } };`;
  await writeFile(join(directory, 'vitest.config.ts'), config);
  await symlink(join(projectRoot, 'package.json'), join(directory, 'package.json'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Runs vitest over the files and gives the last line it printed, and its exit code. */
async function run(
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
) {
  const head = `import { beforeAll, describe, expect, test } from 'vitest';\n`;
  for (const [name, code] of Object.entries(files)) await writeFile(join(directory, name), head + code);
  const { VITEST: _, ...outer } = process.env;
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(projectRoot, 'node_modules/vitest/vitest.mjs'), 'run', '--root', directory],
    { encoding: 'utf8', env: { ...outer, ...environment } },
  );
  return { last: stdout.trimEnd().split('\n').at(-1), status };
}

test('a good run ends with its counts', async () => {
  expect(
    await run({ 'a.spec.ts': `test('one', () => {}); describe('d', () => { test('two', () => {}); });` }),
  ).toEqual({
    last: '2 passed, 0 failed',
    status: 0,
  });
});

test('a bad run does too, with what was skipped', async () => {
  const code = `test('one', () => {}); test('two', () => { expect(1).toBe(2); }); test.skip('three', () => {}); test.todo('four');`;
  expect(await run({ 'a.spec.ts': code })).toEqual({ last: '1 passed, 1 failed, 2 skipped', status: 1 });
});

test('a file that cannot be loaded, a hook that throws and an error outside any test are failures', async () => {
  const files = {
    'a.spec.ts': `test('one', () => {}); throw new Error('no file');`,
    'b.spec.ts': `describe('d', () => { beforeAll(() => { throw new Error('no hook'); }); test('two', () => {}); });`,
    'c.spec.ts': `test('three', () => { void Promise.reject(new Error('nobody listens')); });`,
  };
  const { last, status } = await run(files);
  expect(status).toBe(1);
  expect(last).toMatch(/^1 passed, 3 failed/);
});

test('a run whose set-up throws is a failure', async () => {
  const setup = join(directory, 'setup.ts');
  await writeFile(setup, `export function setup() { throw new Error('no set-up'); }`);
  expect(await run({ 'a.spec.ts': `test('one', () => {});` }, { SETUP: setup })).toEqual({
    last: '0 passed, 1 failed',
    status: 1,
  });
});
