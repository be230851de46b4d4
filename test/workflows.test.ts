/** The workflows of the code's host: what they may do, and that what they run is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const projectRoot = join(import.meta.dirname, '..');
const directory = join(projectRoot, '.github/workflows');

const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
const { load } = createRequire(builder.resolve('app-builder-lib'))('js-yaml') as {
  readonly load: (text: string) => unknown;
};

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly permissions?: object; readonly steps: readonly Step[] }>>;
}

describe.each(readdirSync(directory))('%s', (name) => {
  const workflow = load(readFileSync(join(directory, name), 'utf8')) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test('may read the code, and no job of strangers’ more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    if (Object.hasOwn(workflow.on, 'pull_request')) {
      for (const job of Object.values(workflow.jobs)) expect(job.permissions).toBeUndefined();
      expect(readFileSync(join(directory, name), 'utf8')).not.toContain('secrets.');
    }
  });

  test('takes each action by the hash of its code', () => {
    for (const { uses } of steps)
      if (uses !== undefined) expect(uses).toMatch(/^actions[/][\w-]+@[0-9a-f]{40}$/);
  });

  test('runs scripts and files that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const commands = steps.map(({ run = '' }) => run).join('\n');
    const named = [...commands.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
    for (const script of named) expect(Object.keys(scripts)).toContain(script);
    const files = [...commands.matchAll(/(?:main|test)[/][\w./-]+[.]ts|[.]ci[/]run/g)].map(([file]) => file);
    for (const file of files) expect(existsSync(join(projectRoot, file)), file).toBe(true);
    expect(named.length + files.length).toBeGreaterThan(0);
  });

  test('puts nothing that others can choose into a shell', () => {
    const chosen = /\$\{\{\s*github\.(event|head_ref|ref_name|actor)/;
    for (const { run = '' } of steps) expect(run).not.toMatch(chosen);
  });
});
