/** The samples of docs/samples, run as their readers run them, as far as this machine has what they need. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { npmInstall } from '../support/npm-install.ts';
import { CommandProcess, send, startDevProcess, temporaryDirectory } from '../support/support.ts';
import type { Json } from '../support/support.ts';

const projectRoot = join(import.meta.dirname, '../..');
const samples = join(projectRoot, 'docs/samples');
const node = process.execPath;
const minute = 60_000;

const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
const { load } = createRequire(builder.resolve('app-builder-lib'))('js-yaml') as {
  readonly load: (text: string) => unknown;
};
const readYaml = (name: string): unknown => load(readFileSync(join(samples, name), 'utf8'));

/** A directory with `keyhearth` in it that notes its process before it is the command. */
function watchedCommand(): {
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The processes of vaults that were started. */
  readonly started: () => readonly number[];
} & Disposable {
  const directory = temporaryDirectory();
  const pids = join(directory.path, 'pids');
  const bin = join(directory.path, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh\n[ "$1" != dev ] || echo $$ >> '${pids}'\nexec '${join(projectRoot, 'keyhearth')}' "$@"\n`;
  writeFileSync(join(bin, 'keyhearth'), script);
  chmodSync(join(bin, 'keyhearth'), 0o755);
  return {
    path: directory.path,
    environment: {
      PATH: [bin, join(projectRoot, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter),
      HOME: directory.path,
    },
    started: () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []),
    [Symbol.dispose]: () => {
      directory[Symbol.dispose]();
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

type Watched = ReturnType<typeof watchedCommand>;

/** Runs a program to its end. @throws AssertionError where it fails, with what it wrote. */
function run(watched: Watched, program: string, argv: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, argv, {
    cwd,
    env: { ...watched.environment, PYTHONDONTWRITEBYTECODE: '1' },
    encoding: 'utf8',
    timeout: 2 * minute,
  });
  expect(status, `${program} ${argv.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`).toBe(0);
  return stdout + stderr;
}

/** One vault was started, and it is gone. */
function expectOneVaultGone({ started }: Watched): void {
  expect(started()).toHaveLength(1);
  expect(started().filter(isRunning)).toEqual([]);
}

describe.skipIf(process.platform === 'win32')('a sample of a test runner', () => {
  test('of Vitest', () => {
    using watched = watchedCommand();
    const cli = join(projectRoot, 'node_modules/vitest/vitest.mjs');
    const report = join(watched.path, 'report.json');
    const argv = ['run', '--root', '.', '--reporter', 'json', '--outputFile', report];
    run(watched, node, [cli, ...argv], join(samples, 'vitest'));
    const { numPassedTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8')) as Json;
    expect({ numPassedTests, numTotalTests }).toEqual({ numPassedTests: 2, numTotalTests: 2 });
    expectOneVaultGone(watched);
  });

  test.each([
    ['with cryptography', []],
    ['with nothing but what it brings', ['-S']],
  ])('of Python, %s', (_with, isolated) => {
    using watched = watchedCommand();
    const python = join(samples, 'python');
    if (isolated.length === 0) run(watched, 'python3', ['-c', 'import cryptography'], python);
    const output = run(watched, 'python3', [...isolated, '-m', 'unittest', '--verbose'], python);
    expect(output).toMatch(/^Ran 2 tests in .*\n\nOK$/m);
    expectOneVaultGone(watched);
  });

  // Jest itself is installed by `npm run test:long`.
  test('of Jest has a setup and a teardown that Node can run', () => {
    using watched = watchedCommand();
    const program = `
      require('./setup.cjs')().then(async () => {
        const answer = await fetch(process.env.KEYHEARTH_URL + '/dev/clock');
        console.log(answer.status, process.env.KEYHEARTH_API_KEY.length);
        await require('./teardown.cjs')();
      });`;
    expect(run(watched, node, ['-e', program], join(samples, 'jest'))).toBe('200 131\n');
    expectOneVaultGone(watched);
  });

  if (inject('campaigns') === 'full') {
    test(
      'of Jest, which is installed for it',
      () => {
        using watched = watchedCommand();
        const directory = join(watched.path, 'jest');
        cpSync(join(samples, 'jest'), directory, { recursive: true });
        npmInstall(directory, ['jest@30', '@turnkey/sdk-server@8']);
        expect(run(watched, node, ['node_modules/jest/bin/jest.js'], directory)).toMatch(
          /^Tests: +1 passed, 1 total$/m,
        );
        expectOneVaultGone(watched);
      },
      10 * minute,
    );
  }

  test.each([
    [
      'Vitest',
      node,
      ['-e', "import('./keyhearth.ts').then(({ setup }) => setup()).then(() => console.log('up'))"],
    ],
    ['Jest', node, ['-e', "require('./setup.cjs')().then(() => console.log('up'))"]],
    [
      'Python',
      'python3',
      ['-B', '-c', "from keyhearth import Vault; v = Vault(); print('up', flush=True); input()"],
    ],
  ])('of %s that is killed leaves no vault behind', async (name, program, argv) => {
    using watched = watchedCommand();
    const cwd = join(samples, name.toLowerCase());
    const child = spawn(program, argv, { cwd, env: watched.environment, stdio: ['pipe', 'pipe', 'inherit'] });
    const [up] = (await child.stdout.take(1).toArray()) as Buffer[];
    expect(up?.toString()).toBe('up\n');
    expect(watched.started().filter(isRunning)).toHaveLength(1);
    child.kill('SIGKILL');
    await expect.poll(() => watched.started().filter(isRunning)).toEqual([]);
  });
});

/** Instructions of a Dockerfile with their words; a list in JSON is its words. */
function readDockerfile(): readonly { readonly name: string; readonly words: readonly string[] }[] {
  return readFileSync(join(samples, 'container/Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return { name, words: rest.startsWith('[') ? (JSON.parse(rest) as string[]) : rest.split(' ') };
    });
}

/** A mount namespace in which everything is read-only, and the project is at `/mnt`; for `sh -c`, before its command. */
const readOnly = [
  'mount --make-rprivate /',
  `mount --rbind '${projectRoot}' /mnt`,
  'mount -o remount,ro,bind /mnt',
  'mount -o remount,ro,bind /',
  'cd /mnt',
].join(' && ');

/** The words that run a program as root with mounts that no other process sees. */
const inNamespace: readonly [string, ...string[]] =
  process.getuid?.() === 0 ? ['unshare', '--mount'] : ['sudo', '-n', 'unshare', '--mount'];

/** Why the image's command cannot be run here as a container runs it; undefined where it can. */
const noNamespace = ((): string | undefined => {
  const [program, ...argv] = inNamespace;
  const { status, stderr, error } = spawnSync(program, [...argv, 'sh', '-c', readOnly], {
    encoding: 'utf8',
    timeout: minute,
  });
  if (status === 0) return undefined;
  return `NOT TESTED: that the image's command runs on a tree that is only read. ${error?.message ?? stderr}`;
})();

describe.skipIf(process.platform !== 'linux')('the image', () => {
  const instructions = readDockerfile();
  const all = (name: string): (readonly string[])[] =>
    instructions.filter((each) => each.name === name).map(({ words }) => words);
  const lastOf = (name: string): readonly string[] => all(name).at(-1) ?? [];
  /** A path of the image, in the project: all that it copies is at the same place there. */
  const inProject = (path: string): string => path.replace(/^[/]keyhearth(?=[/]|$)/, projectRoot);

  test('has the Node of the project, and copies what is there once it is built', () => {
    const major = readFileSync(join(projectRoot, '.nvmrc'), 'utf8').trim();
    for (const [image] of all('FROM')) expect(image).toMatch(new RegExp(`^node:${major}-`));
    expect(all('WORKDIR')).toEqual([['/keyhearth'], ['/keyhearth']]);
    const copied = all('COPY').map((words) => words.filter((word) => !word.startsWith('--from=')));
    for (const [source = '', target = ''] of copied) {
      expect(existsSync(inProject(join('/keyhearth', source.replace('/keyhearth', '')))), source).toBe(true);
      expect(target).toMatch(/^[.]([/]|$)/);
    }
    const ignored = readFileSync(join(samples, 'container/Dockerfile.dockerignore'), 'utf8')
      .trim()
      .split('\n');
    // The image has its own build; the local one may be for another system.
    expect(ignored).toEqual(expect.arrayContaining(['.git', 'dist', 'node_modules']));
  });

  test('runs what is there', () => {
    const runs = all('RUN').map((words) => words.join(' '));
    const [link = '', ...npm] = runs.toReversed();
    expect(npm.toReversed()).toEqual(['npm ci', 'npm prune --omit=dev --ignore-scripts']);
    const [, target = '', name] = /^ln -s (\S+) [/]usr[/]local[/]bin[/](\S+)$/.exec(link) ?? [];
    expect(existsSync(inProject(target)), target).toBe(true);
    expect(lastOf('ENTRYPOINT')).toEqual([name]);
  });

  if (noNamespace !== undefined) process.stderr.write(`\n${noNamespace}\n\n`);
  test.skipIf(noNamespace !== undefined)(
    'serves as a user that nothing names, on a tree that is only read',
    async () => {
      const [user = ''] = lastOf('USER');
      expect(user).toMatch(/^[1-9][0-9]+$/);
      const script = /^ln -s (\S+) /.exec(all('RUN').at(-1)?.join(' ') ?? '')?.[1] ?? '';
      const argv = lastOf('CMD').map((word) => (word === lastOf('EXPOSE')[0] ? '0' : word));
      expect(argv).toContain('0');
      const command = [node, script.replace('/keyhearth', '/mnt'), ...argv]
        .map((word) => `'${word}'`)
        .join(' ');
      const asUser = `setpriv --reuid ${user} --regid ${user} --clear-groups --no-new-privs --bounding-set=-all`;
      const program = `${readOnly} && ! touch made 2>/dev/null && exec ${asUser} sh -c "id -u; exec ${command}"`;
      await using serving = new CommandProcess(['sh', '-c', program], { program: inNamespace });
      expect(await serving.nextLine()).toBe(user);
      const { url } = JSON.parse(await serving.nextLine()) as { readonly url: string };
      const answer = await send(url, { method: 'GET', path: '/dev/clock' });
      expect(answer.status).toBe(200);
      // Nothing was to be written, and nothing was tried.
      expect(serving.stderr).not.toMatch(/EROFS|EACCES|ENOENT/);
      expect(await serving.stop()).toBe(0);
    },
  );
});

interface Service {
  readonly command: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: unknown;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
}

describe('the Compose file', () => {
  const { services, networks } = readYaml('container/compose.yml') as {
    readonly services: { readonly vault: Service; readonly tests: Service };
    readonly networks: Readonly<Record<string, { readonly internal: boolean }>>;
  };
  const { vault, tests } = services;

  test('builds the image, and no other machine reaches it', () => {
    const context = join(samples, 'container', vault.build?.context ?? '');
    expect(join(context, vault.build?.dockerfile ?? '')).toBe(join(samples, 'container/Dockerfile'));
    expect(vault.read_only).toBe(true);
    expect([vault.ports, tests.ports]).toEqual([undefined, undefined]);
    expect(Object.values(networks)).toEqual([{ internal: true }]);
  });

  test('names the vault that its command serves, and asks after it', async () => {
    const argv = vault.command.slice(1).map((word) => (word === '7377' ? '0' : word));
    await using dev = await startDevProcess(argv);
    const { url, organizationId, signerPublicKey, apiPublicKey, apiPrivateKey } = dev.line;
    expect(tests.environment).toEqual({
      KEYHEARTH_URL: 'http://vault:7377',
      KEYHEARTH_ORGANIZATION: organizationId,
      KEYHEARTH_SIGNER: signerPublicKey,
      KEYHEARTH_API_KEY: `${apiPublicKey}:${apiPrivateKey}`,
    });
    const { host, port } = new URL(url);
    const asked = await send(url, { method: 'GET', path: '/dev/clock', headers: { host: `vault:${port}` } });
    expect(asked.status).toBe(200);
    const [, program = '', ...words] = vault.healthcheck?.test ?? [];
    expect(program).toBe('node');
    const check = (at: string) =>
      spawnSync(
        node,
        words.map((word) => word.replace('127.0.0.1:7377', at)),
        { timeout: minute },
      ).status;
    expect(check(host)).toBe(0);
    expect(check('127.0.0.1:1')).not.toBe(0);
    // Compose writes a dollar as two.
    const [, ...reader] = tests.command.map((word) => word.replaceAll('$$', '$'));
    const { stdout } = spawnSync(node, reader, {
      env: { KEYHEARTH_URL: url },
      encoding: 'utf8',
      timeout: minute,
    });
    expect(JSON.parse(stdout)).toMatchObject({ mode: 'real' });
  });
});

describe.skipIf(process.platform === 'win32')('the job of GitHub Actions', () => {
  const workflow = readYaml('github-actions.yml') as {
    readonly permissions: unknown;
    readonly jobs: {
      readonly tests: {
        readonly env: Readonly<Record<string, string>>;
        readonly steps: readonly { readonly name?: string; readonly uses?: string; readonly run?: string }[];
      };
    };
  };
  const { env, steps } = workflow.jobs.tests;

  test('may read the code alone, and takes the actions that the project’s own jobs take', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const own = globSync(join(projectRoot, '.github/workflows/*.yml')).map((file) =>
      readFileSync(file, 'utf8'),
    );
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(0);
    for (const uses of used)
      expect(
        own.some((text) => text.includes(`uses: ${uses} `)),
        uses,
      ).toBe(true);
  });

  test('installs Keyhearth, and runs the tests beside a vault', () => {
    using watched = watchedCommand();
    const at = (name: string): string => join(watched.path, name);
    // Stands for Keyhearth's repository, and for npm: an installation takes minutes, and the project has tests of its own for it.
    const bare = { cwd: watched.path, env: watched.environment };
    const git = (...argv: string[]): void => {
      expect(spawnSync('git', argv, bare).status, argv.join(' ')).toBe(0);
    };
    git('init', '--quiet', '--initial-branch', 'main', at('keyhearth'));
    writeFileSync(at('keyhearth/package.json'), '{}');
    git('-C', at('keyhearth'), 'add', '.');
    const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    git('-C', at('keyhearth'), ...author, 'commit', '--quiet', '--message', 'Begin');
    mkdirSync(at('project'));
    mkdirSync(at('temp'));
    const npm = `#!/bin/sh\necho "$PWD $*" >> '${at('npm.log')}'\n[ "$1" = ci ] || exec node check.mjs\n`;
    writeFileSync(at('bin/npm'), npm);
    chmodSync(at('bin/npm'), 0o755);
    const asked =
      "const { status } = await fetch(process.env.KEYHEARTH_URL + '/dev/clock');\nconsole.log(status);\n";
    writeFileSync(at('project/check.mjs'), asked);

    const given = {
      RUNNER_TEMP: at('temp'),
      GITHUB_PATH: at('added'),
      KEYHEARTH_REPOSITORY: `file://${at('keyhearth')}`,
    };
    const outputs = steps.flatMap(({ name = '', run: script }) => {
      if (script === undefined) return [];
      const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: at('project'),
        env: { ...watched.environment, ...env, ...given },
        encoding: 'utf8',
        timeout: minute,
      });
      expect(status, `${name}: ${stderr}`).toBe(0);
      return [stdout];
    });
    expect(outputs).toEqual(['', '', '200\n']);
    const ran = ['temp/keyhearth', 'project', 'project'].map(
      (where, index) => `${at(where)} ${index < 2 ? 'ci' : 'test'}`,
    );
    expect(readFileSync(at('npm.log'), 'utf8').trim().split('\n')).toEqual(ran);
    expect(readFileSync(at('added'), 'utf8')).toBe(`${at('temp/keyhearth')}\n`);
    expect(existsSync(at('temp/keyhearth/package.json'))).toBe(true);
    expectOneVaultGone(watched);
  });
});
