import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  desktopObstacle,
  fetchWatched,
  findElectron,
  isBuildStale,
  sandboxObstacle,
  outputs,
} from '../../main/start.ts';
import type { Computer, Search } from '../../main/start.ts';

let directory: string;
beforeEach(async () => {
  // macOS has its temporary directory behind a link.
  directory = await realpath(await mkdtemp(join(tmpdir(), 'keyhearth-start-')));
});
afterEach(async () => {
  vi.unstubAllEnvs();
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
    for (const name of outputs) {
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

/** A Linux desktop whose kernel lets programs make namespaces. */
const usual: Computer = {
  platform: 'linux',
  userId: 1000,
  environment: { DISPLAY: ':0' },
  kernelSetting: (name) =>
    ({ 'kernel/unprivileged_userns_clone': '1', 'user/max_user_namespaces': '63000' })[name],
};

describe('desktopObstacle', () => {
  test('names the missing display on Linux', () => {
    expect(desktopObstacle({ ...usual, environment: { DISPLAY: '' } })).toMatch(
      /no display.*WAYLAND_DISPLAY/,
    );
  });

  test.each(['DISPLAY', 'WAYLAND_DISPLAY'])('either display will do: %s', (name) => {
    expect(desktopObstacle({ ...usual, environment: { [name]: ':0' } })).toBeUndefined();
  });

  test('root gets no app without a sandbox', () => {
    expect(desktopObstacle({ ...usual, userId: 0 })).toMatch(/root/);
  });

  test.each(['darwin', 'win32'] as const)('%s needs no variable', (platform) => {
    expect(desktopObstacle({ ...usual, platform, userId: 0, environment: {} })).toBeUndefined();
  });
});

describe('sandboxObstacle', () => {
  const refusing = (name: string, value: string): Computer => ({
    ...usual,
    kernelSetting: (asked) => (asked === name ? value : undefined),
  });

  test.each([
    ['kernel/apparmor_restrict_unprivileged_userns', '1'],
    ['kernel/unprivileged_userns_clone', '0'],
    ['user/max_user_namespaces', '0'],
  ])('%s=%s stops the sandbox, and the ways to the desktop app are named', async (name, value) => {
    const computer = refusing(name, value);
    const helper = join(directory, 'chrome-sandbox');
    const without = sandboxObstacle(computer, helper);
    expect(without).toContain(`${name}=${value}`);
    expect(without).toContain('npm run package');
    // The command would fail where there is no helper to change.
    expect(without).not.toContain('chmod');
    await put('chrome-sandbox', 0);
    expect(sandboxObstacle(computer, helper)).toContain(`sudo chown root: '${helper}' && sudo chmod 4755`);
    expect(sandboxObstacle({ ...computer, platform: 'darwin' }, helper)).toBeUndefined();
  });

  test('a helper that is setuid root needs no namespaces', () => {
    // A stand-in that this user cannot make: any setuid program of the system has the same owner and mode.
    const helper = ['/usr/bin/su', '/bin/su', '/usr/bin/sudo', '/usr/bin/passwd'].find((path) =>
      existsSync(path),
    );
    const obstacle = sandboxObstacle(refusing('user/max_user_namespaces', '0'), helper ?? directory);
    if (helper === undefined) expect(obstacle).toBeDefined();
    else expect(obstacle).toBeUndefined();
  });

  test('usual settings do not', () => {
    expect(sandboxObstacle(usual, join(directory, 'chrome-sandbox'))).toBeUndefined();
  });
});

// Windows runs no script in place of a program.
describe.skipIf(process.platform === 'win32')('findElectron', () => {
  const version = '45.4.1';
  let fetched: string[];
  beforeEach(() => {
    fetched = [];
  });

  /** A program that says a version as Electron does, and nothing else. */
  async function putElectron(name: string, says: string, code = 0): Promise<string> {
    const path = await put(name, 0, `#!/bin/sh\necho '${says}'\nexit ${String(code)}\n`);
    await chmod(path, 0o755);
    return path;
  }

  const find = (
    environment: Readonly<Record<string, string>>,
    fetchInto: (distribution: string) => Promise<string | undefined> = () => Promise.resolve('no network'),
  ): Promise<Search> =>
    findElectron(
      { ...usual, environment: { DISPLAY: ':0', ...environment } },
      { directory: join(directory, 'package'), version },
      (distribution) => {
        fetched.push(distribution);
        return fetchInto(distribution);
      },
    );

  test('the package’s own comes before the one on the path', async () => {
    const program = await putElectron('package/dist/electron', 'v45.4.1');
    await put('package/path.txt', 0, 'electron');
    await putElectron('bin/electron', 'v45.0.0');
    expect(await find({ PATH: join(directory, 'bin') })).toEqual({ program });
    expect(fetched).toEqual([]);
  });

  test('one that was not unpacked to its end is fetched again', async () => {
    await putElectron('package/dist/electron', 'v45.4.1');
    expect(await find({})).toMatchObject({ obstacle: expect.stringContaining('no network') as unknown });
    expect(fetched).toEqual([join(directory, 'package/dist')]);
  });

  test('one on the path will do where the package has none, also behind a link', async () => {
    const program = await putElectron('opt/electron45/electron', 'v45.9.0');
    await mkdir(join(directory, 'bin'));
    await symlink(program, join(directory, 'bin/electron'));
    const PATH = ['', '.', join(directory, 'nowhere'), join(directory, 'bin')].join(delimiter);
    expect(await find({ PATH })).toEqual({ program });
    expect(fetched).toEqual([]);
  });

  test('npm’s launcher on the path stands for the program that it would start', async () => {
    await put('global/electron/cli.js', 0, 'throw new Error("it would fetch");');
    await mkdir(join(directory, 'bin'));
    await symlink(join(directory, 'global/electron/cli.js'), join(directory, 'bin/electron'));
    const PATH = join(directory, 'bin');
    expect(await find({ PATH })).toHaveProperty('obstacle');
    const program = await putElectron('global/electron/dist/electron', 'v45.1.0');
    expect(await find({ PATH })).toEqual({ program });
  });

  test.each([
    ['another version', 'v39.2.0'],
    ['no Electron', 'electron, a calculator'],
    ['a version of something else', '45'],
  ])('%s on the path is passed over, and named where nothing can be fetched', async (_what, says) => {
    const program = await putElectron('bin/electron', says);
    const PATH = join(directory, 'bin');
    expect(await find({ PATH })).toEqual({
      obstacle: `Electron's runtime could not be fetched (no network); ${program} is no Electron 45 (it says ${JSON.stringify(says)})`,
    });
    const own = join(directory, 'package/dist/electron');
    expect(
      await find({ PATH }, async () => {
        await putElectron('package/dist/electron', 'v45.4.1');
        return undefined;
      }),
    ).toEqual({ program: own });
  });

  test('a named place excludes all others, and nothing is fetched', async () => {
    await putElectron('bin/electron', 'v45.0.0');
    const environment = {
      PATH: join(directory, 'bin'),
      ELECTRON_OVERRIDE_DIST_PATH: join(directory, 'mine'),
    };
    expect(await find(environment)).toEqual({
      obstacle: `Electron's runtime is not at ${join(directory, 'mine/electron')}`,
    });
    const program = await putElectron('mine/electron', 'v44.0.0');
    expect(await find(environment)).toMatchObject({
      obstacle: expect.stringContaining('no Electron 45') as unknown,
    });
    await putElectron('mine/electron', 'v45.0.1');
    expect(await find(environment)).toEqual({ program });
    expect(fetched).toEqual([]);
  });

  test('one that does not start is not taken', async () => {
    await putElectron('mine/electron', 'v45.0.1', 127);
    expect(await find({ ELECTRON_OVERRIDE_DIST_PATH: join(directory, 'mine') })).toEqual({
      obstacle: "Electron's runtime does not start (it ended with exit code 127)",
    });
  });

  // The app is started with the same environment as the trial.
  test('what an installed app’s fuses have it ignore does not reach Electron: no code, no debugger, no plain Node', async () => {
    const program = await put(
      'mine/electron',
      0,
      '#!/bin/sh\n[ -z "$ELECTRON_RUN_AS_NODE$NODE_OPTIONS" ] && [ "$KEPT" = 1 ] && echo v45.4.1 || echo v24.21.0\n',
    );
    await chmod(program, 0o755);
    const environment = {
      ELECTRON_OVERRIDE_DIST_PATH: join(directory, 'mine'),
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--inspect=9229 --require=./evil.js',
      KEPT: '1',
    };
    expect(await find(environment)).toEqual({ program });
  });

  test('an empty variable names no place', async () => {
    expect(await find({ ELECTRON_OVERRIDE_DIST_PATH: '' })).toHaveProperty('obstacle');
    expect(fetched).toHaveLength(1);
  });

  test('on macOS the program is within its application', async () => {
    const program = await putElectron('mine/Electron.app/Contents/MacOS/Electron', 'v45.4.1');
    expect(
      await findElectron(
        {
          ...usual,
          platform: 'darwin',
          environment: { ELECTRON_OVERRIDE_DIST_PATH: join(directory, 'mine') },
        },
        { directory: join(directory, 'package'), version },
        () => Promise.resolve('no network'),
      ),
    ).toEqual({ program });
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

  // A mirror would say itself what its files are to be. The package has the digests of the real ones.
  test.each(['electron_use_remote_checksums', 'npm_config_electron_use_remote_checksums'])(
    'the environment cannot have digests fetched: %s',
    async (name) => {
      vi.stubEnv(name, '1');
      expect(await fetching(`process.exitCode = process.env['${name}'] === undefined ? 0 : 1;`)).toBe(
        undefined,
      );
    },
  );

  test('a silent failure is reported with its exit code', async () => {
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

describe('npm install without its scripts', () => {
  const root = join(import.meta.dirname, '../..');
  const check = join(root, 'main/packaging/check-node.mjs');

  /** @returns how a program ended, its output, and the lines of its standard error. */
  function run(
    program: string,
    ...argv: readonly string[]
  ): { readonly code: number | null; readonly out: string; readonly lines: readonly string[] } {
    const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8' });
    return { code: status, out: stdout, lines: stderr.split('\n').filter((line) => line !== '') };
  }

  test.each(['start', 'test'])('is noticed by npm %s before anything else', (script) => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts[script]).toMatch(/^node --import \.\/main\/packaging\/check-node\.mjs /);
  });

  test('is named in one line by a Node that runs no TypeScript', () => {
    const program = ['--import', check, '-e', 'console.log(1)'];
    const older = run(process.execPath, '--no-experimental-strip-types', ...program);
    expect(older).toMatchObject({ code: 1, out: '' });
    expect(older.lines).toEqual([
      expect.stringMatching(/Run `npm install` again, without --ignore-scripts\.$/),
    ]);
    expect(run(process.execPath, ...program)).toMatchObject({ code: 0, out: '1\n' });
  });

  test.skipIf(process.platform === 'win32')(
    'is named by the launcher, which has no Node and no build',
    () => {
      const launcher = join(directory, 'keyhearth');
      cpSync(join(root, 'keyhearth'), launcher);
      const refused = {
        code: 1,
        out: '',
        lines: [expect.stringMatching(/^keyhearth: this checkout is not set up yet: run `npm install` in /)],
      };
      expect(run(launcher, 'status')).toEqual(refused);
      mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
      symlinkSync(process.execPath, join(directory, 'node_modules/.bin/node'));
      expect(run(launcher, 'status')).toEqual(refused);
    },
  );
});
