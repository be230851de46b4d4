import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { programPath } from './program-path.ts';

/** As a hostile repository that is the current directory, whose programs have the names that are asked for. */
const hostile = /^(?:[^\\/]+|\.\\.*)$/;

describe('on Windows', () => {
  const environment = {
    SystemRoot: String.raw`C:\Windows`,
    Path: String.raw`.;;bin;C:Tools;C:\Tools;"C:\Program Files\Git\cmd"`,
  };
  const files = new Set([
    String.raw`C:\Windows\System32\rundll32.exe`,
    String.raw`C:\Program Files\Git\cmd\git.exe`,
    String.raw`C:\Tools\node.exe`,
    String.raw`C:\Tools\build.v2`,
  ]);
  const path = (name: string) =>
    programPath(name, environment, 'win32', (file) => hostile.test(file) || files.has(file));

  test.each([
    ['git', String.raw`C:\Program Files\Git\cmd\git.exe`],
    ['rundll32', String.raw`C:\Windows\System32\rundll32.exe`],
    ['node.exe', String.raw`C:\Tools\node.exe`],
    ['build.v2', String.raw`C:\Tools\build.v2`],
  ])('%s is one of the PATH or of the system, and not of the current directory', (name, expected) => {
    expect(path(name)).toBe(expected);
  });

  test('a program that is nowhere else is a path that leads nowhere', () => {
    expect(path('ssh-keygen')).toBe(String.raw`C:\Windows\System32\ssh-keygen.exe`);
    expect(programPath('git', {}, 'win32', () => false)).toBe(String.raw`C:\Windows\System32\git.exe`);
  });

  test.each(['.\\deploy', './deploy', 'C:\\Tools\\node.exe', 'C:deploy'])('the path %s stays', (name) => {
    expect(path(name)).toBe(name);
  });
});

test.each(['linux', 'darwin'] as const)(
  'on %s the name stays, which is looked for along the PATH',
  (platform) => {
    expect(programPath('git', {}, platform, () => true)).toBe('git');
  },
);

describe('each program that the product starts', () => {
  /** First arguments that are paths already. */
  const paths: Readonly<Record<string, string>> = {
    'start.ts process.execPath': 'its own Node',
    'start.ts program': 'an Electron, which was looked for on the disk',
    'packaging/become.ts program': 'paths of `findNode` and of `findElectron`',
    'packaging/newer-node.ts program': 'the paths that `findNode` tries',
  };
  const main = join(import.meta.dirname, '..');
  const starts = readdirSync(main, { recursive: true, encoding: 'utf8' })
    // Packages are built in a checkout of the project's own.
    .filter((file) => file.endsWith('.ts') && !/(?:\.test|list-contents|make-executable)\.ts$/.test(file))
    .map((file) => [file, readFileSync(join(main, file), 'utf8')] as const)
    .filter(([, text]) => text.includes("'node:child_process'"))
    .flatMap(([file, text]) => {
      const calls = [
        ...text.matchAll(/(?<![.\w])(?:spawn|exec|execFile|fork)(?:Sync)?\(\s*((?:[^,()]|\([^)]*\))*)/g),
      ];
      return calls.map(([, first = '']) => `${file.replaceAll('\\', '/')} ${first}`);
    });

  test('is found', () => {
    expect(starts.length).toBeGreaterThan(8);
  });

  test.each(starts)('%s is outside of the current directory', (start) => {
    expect(start in paths || / programPath\(.*\)$/.test(start)).toBe(true);
  });
});
