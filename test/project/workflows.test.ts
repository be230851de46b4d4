/** The workflows of the code's host: what they may do, that what they run is there, and that nothing is released untested. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const projectRoot = join(import.meta.dirname, '../..');
const directory = join(projectRoot, '.github/workflows');

const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
const { load } = createRequire(builder.resolve('app-builder-lib'))('js-yaml') as {
  readonly load: (text: string) => unknown;
};

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly 'continue-on-error'?: unknown;
}

interface WorkflowJob {
  readonly needs?: string;
  readonly if?: string;
  readonly permissions?: object;
  /** Of a job that has steps; others are another workflow. */
  readonly steps?: readonly Step[];
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly secrets?: unknown;
  readonly strategy?: {
    readonly matrix: { readonly include?: readonly { readonly runner: string; readonly system: string }[] };
  };
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

const read = (name: string): Workflow => load(readFileSync(join(directory, name), 'utf8')) as Workflow;

describe.each(readdirSync(directory))('%s', (name) => {
  const workflow = read(name);
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps ?? []);

  test('may read the code, and no job of strangers’ more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    if (Object.hasOwn(workflow.on, 'pull_request')) {
      for (const job of Object.values(workflow.jobs)) {
        expect(job.permissions).toBeUndefined();
        // Secrets that it hands on would reach the code of a stranger, whatever workflow they go to.
        expect(job.secrets).toBeUndefined();
      }
      expect(readFileSync(join(directory, name), 'utf8')).not.toContain('secrets.');
    }
  });

  test('takes each action by the hash of its code', () => {
    for (const { uses } of steps)
      if (uses !== undefined) expect(uses).toMatch(/^actions[/][\w-]+@[0-9a-f]{40}$/);
    for (const { uses } of Object.values(workflow.jobs)) {
      if (uses === undefined) continue;
      expect(uses).toMatch(/^[.][/][.]github[/]workflows[/][\w-]+[.]yml$/);
      expect(existsSync(join(projectRoot, uses)), uses).toBe(true);
    }
  });

  test('runs scripts and files that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const commands = steps.map(({ run = '' }) => run).join('\n');
    const named = [...commands.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
    for (const script of named) expect(Object.keys(scripts)).toContain(script);
    const files = [...commands.matchAll(/(?:main|test)[/][\w./-]+[.](?:ts|sh)|[.]ci[/]run/g)].map(
      ([file]) => file,
    );
    for (const file of files) expect(existsSync(join(projectRoot, file)), file).toBe(true);
    expect(named.length + files.length).toBeGreaterThan(0);
  });

  test('puts nothing that others can choose into a shell', () => {
    const chosen = /\$\{\{\s*github\.(event|head_ref|ref_name|actor)/;
    for (const { run = '' } of steps) expect(run).not.toMatch(chosen);
  });

  test.skipIf(process.platform === 'win32')('has scripts that Bash can read', () => {
    for (const { run = '' } of steps) {
      const { stderr } = spawnSync('bash', ['-n'], {
        input: run.replaceAll(/\$\{\{.*?\}\}/g, 'x'),
        encoding: 'utf8',
      });
      expect(stderr, run).toBe('');
    }
  });
});

describe('what is shipped', () => {
  const { package: job } = read('package.yml').jobs;
  const steps = job?.steps ?? [];
  const scriptOf = (name: string): string => steps.find((step) => step.name === name)?.run ?? '';

  test('passes its suite, is packed, is used, and only then goes anywhere', () => {
    const order = ['Suite', 'Installers', 'Smoke', 'Upload'];
    expect(steps.map(({ name = '' }) => name).filter((name) => order.includes(name))).toEqual(order);
    expect(scriptOf('Suite')).toContain('npm run test:electron');
    expect(scriptOf('Installers')).toContain('electron-builder --publish never');
    expect(scriptOf('Smoke')).toContain('npm run smoke');
    // A step that runs whatever came before, or whose failure is none, would make the order mean nothing.
    for (const step of steps) {
      expect(step['continue-on-error'], step.name).toBeUndefined();
      expect(step.if ?? '', step.name).toMatch(/^$|^inputs[.]upload$|^matrix[.]system == 'linux'$/);
      expect(step.run ?? '', step.name).not.toContain('|| true');
    }
  });

  test('brings its documentation as a website, once', () => {
    const [, once = ''] =
      /= linux-x64 \]; then\n(.*?)\n *fi$/ms.exec(scriptOf('What goes into the release')) ?? [];
    expect(once).toMatch(
      /npm run docs:site -- (\S+)\n *tar -czf "out\/keyhearth-documentation-.*" -C \1 \.$/m,
    );
  });

  test('runs on three systems and two processors, for a change as for a release', () => {
    const runners = job?.strategy?.matrix.include ?? [];
    expect(runners.map(({ system }) => system)).toEqual(['linux', 'linux', 'mac', 'mac', 'win', 'win']);
    expect(new Set(runners.map(({ runner }) => runner)).size).toBe(6);
    for (const [name, inputs] of [
      ['check.yml', undefined],
      ['release.yml', { upload: true }],
    ] as const) {
      const callers = Object.values(read(name).jobs).filter(({ uses }) => uses?.endsWith('/package.yml'));
      expect(callers, name).toHaveLength(1);
      expect(callers[0]?.with, name).toEqual(inputs);
      expect(callers[0]?.if, name).toBeUndefined();
    }
    const { draft } = read('release.yml').jobs;
    expect(draft).toMatchObject({ needs: 'package' });
    expect(draft?.if).toBeUndefined();
  });

  test.each([
    ['Linux', ['xvfb-run', 'on-wayland.sh', '.deb', '.AppImage']],
    ['macOS', ['.dmg', '.zip']],
    ['Windows', ['.exe', '.msi']],
  ])('is used as %s installs it', (system, parts) => {
    const [, branch = ''] = new RegExp(`^ *${system}\\)(.*?);;$`, 'ms').exec(scriptOf('Smoke')) ?? [];
    for (const part of parts) expect(branch).toContain(part);
  });

  test('shows on Linux that the deb needs no change of the system for its sandbox', () => {
    // The suite's own change is taken back before.
    expect(scriptOf('Suite')).toMatch(/userns=0\n.*test:electron\n.*userns=1\n/s);
    const [before = ''] = scriptOf('Smoke').split('sysctl');
    expect(before.match(/[.]deb$/gm)).toHaveLength(2);
    expect(before).not.toContain('.AppImage');
  });
});
