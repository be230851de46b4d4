import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { desktopObstacle, fetchWatched, isBuildStale, sandboxObstacle } from './start.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-start-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Writes a file that changed at the given second. */
async function put(name: string, second: number, text = ''): Promise<string> {
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await utimes(path, second, second);
  return path;
}

describe('isBuildStale', () => {
  beforeEach(async () => {
    await put('main/http/server.ts', 100);
    await put('renderer/main.tsx', 110);
    await put('preload/contract.ts', 120);
    await put('package-lock.json', 130);
    for (const name of ['main/cli.js', 'main/index.js', 'preload/index.cjs', 'renderer/index.html']) {
      await put(join('dist', name), 210);
    }
    await put('dist/.built', 200);
  });

  test('a build that began after the last change is fresh', async () => {
    expect(await isBuildStale(directory)).toBe(false);
  });

  test.each([
    'main/http/server.ts',
    'renderer/main.tsx',
    'preload/contract.ts',
    'package-lock.json',
    'vite.config.ts',
  ])('a change of %s while or after it was built makes it stale', async (name) => {
    await put(name, 205);
    expect(await isBuildStale(directory)).toBe(true);
  });

  test('a change of a test does not', async () => {
    await put('main/http/server.test.ts', 300);
    expect(await isBuildStale(directory)).toBe(false);
  });

  test.each(['.built', 'main/cli.js', 'main/index.js', 'preload/index.cjs', 'renderer/index.html'])(
    'a build without %s is stale',
    async (name) => {
      await rm(join(directory, 'dist', name));
      expect(await isBuildStale(directory)).toBe(true);
    },
  );
});

describe('desktopObstacle', () => {
  const linux = { platform: 'linux', userId: 1000 } as const;

  test('names the missing display on Linux', () => {
    expect(desktopObstacle({ ...linux, environment: { DISPLAY: '' } })).toMatch(
      /no display.*WAYLAND_DISPLAY/,
    );
  });

  test.each(['DISPLAY', 'WAYLAND_DISPLAY'])('either display will do: %s', (name) => {
    expect(desktopObstacle({ ...linux, environment: { [name]: ':0' } })).toBeUndefined();
  });

  test('root gets no app without a sandbox', () => {
    expect(desktopObstacle({ ...linux, userId: 0, environment: { DISPLAY: ':0' } })).toMatch(/root/);
  });

  test.each(['darwin', 'win32'] as const)('%s needs no variable', (platform) => {
    expect(desktopObstacle({ platform, userId: 0, environment: {} })).toBeUndefined();
  });
});

describe('sandboxObstacle', () => {
  const settings = (all: Record<string, string>) => (name: string) => all[name];

  test.each([
    ['kernel/apparmor_restrict_unprivileged_userns', '1'],
    ['kernel/unprivileged_userns_clone', '0'],
    ['user/max_user_namespaces', '0'],
  ])('%s=%s stops the sandbox, unless its helper is setuid root', (name, value) => {
    expect(sandboxObstacle(settings({ [name]: value }), false)).toContain(`${name}=${value}`);
    expect(sandboxObstacle(settings({ [name]: value }), true)).toBeUndefined();
  });

  test('usual settings do not', () => {
    const usual = { 'kernel/unprivileged_userns_clone': '1', 'user/max_user_namespaces': '63000' };
    expect(sandboxObstacle(settings(usual), false)).toBeUndefined();
  });
});

describe('fetchWatched', () => {
  const fetching = async (code: string, idleMs = 10_000, totalMs = 60_000): Promise<string | undefined> => {
    const script = await put('install.cjs', 0, code);
    return fetchWatched({ script, into: join(directory, 'dist'), idleMs, totalMs });
  };

  test('a script that ends well has no failure', async () => {
    expect(await fetching('process.exitCode = 0;')).toBeUndefined();
  });

  test('the first line of what a script complains about is the reason', async () => {
    expect(await fetching(`console.error(new TypeError('fetch failed').stack); process.exitCode = 1;`)).toBe(
      'fetch failed',
    );
  });

  test('a silent failure is told by its exit code', async () => {
    expect(await fetching('process.exitCode = 3;')).toMatch(/exit code 3/);
  });

  test('a script that writes nothing is stopped', async () => {
    expect(await fetching('setInterval(() => {}, 1000);', 400)).toMatch(/nothing came/);
  });

  const growing = (path: string): string =>
    `const fs = require('node:fs'); let left = 12; const path = ${path};
     setInterval(() => { if (left-- > 0) fs.appendFileSync(path, 'more'); else process.exit(0); }, 100);`;

  test('a script that goes on writing may take longer than that, in the temporary directory', async () => {
    expect(await fetching(growing(`require('node:os').tmpdir() + '/electron.zip'`), 800)).toBeUndefined();
  });

  test('or where it unpacks', async () => {
    await mkdir(join(directory, 'dist'));
    expect(await fetching(growing(JSON.stringify(join(directory, 'dist/electron'))), 800)).toBeUndefined();
  });

  test('but not for ever', async () => {
    expect(await fetching(growing(`require('node:os').tmpdir() + '/electron.zip'`), 800, 500)).toMatch(
      /it took over/,
    );
  });
});
