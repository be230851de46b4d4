/**
 * Signing for macOS, by electron-builder's own packager and @electron/osx-sign, with a program in place of Apple's `codesign`
 * that notes how it is called. The class: a program in the bundle that runs under another program's entitlements.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const projectRoot = join(import.meta.dirname, '../..');

const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
const { MacPackager } = builder('app-builder-lib') as {
  readonly MacPackager: { readonly prototype: { readonly doSign: (...parts: unknown[]) => Promise<void> } };
};

const usual = 'main/packaging/entitlements.mac.plist';
const commands = 'main/packaging/entitlements.command.plist';

let directory: string;
let application: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-sign-'));
  application = join(directory, 'Keyhearth.app');
  for (const path of ['MacOS/Keyhearth', 'Frameworks/some.dylib', 'Resources/bin/keyhearth']) {
    const file = join(application, 'Contents', path);
    mkdirSync(dirname(file), { recursive: true });
    // osx-sign looks at bytes to know a program.
    writeFileSync(file, new Uint8Array([0xcf, 0xfa, 0xed, 0xfe, 0, 0, 0, 0]));
  }
  const tools = join(directory, 'tools');
  mkdirSync(tools);
  writeFileSync(
    join(tools, 'codesign'),
    `#!/bin/sh\nfor word in "$@"; do printf '%s\\t' "$word"; done >> '${directory}/calls'\necho >> '${directory}/calls'\n`,
    { mode: 0o755 },
  );
  vi.stubEnv('PATH', `${tools}${delimiter}${process.env['PATH'] ?? ''}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

// Windows runs no script in place of a program.
test.skipIf(process.platform === 'win32')(
  'signs the command with its own entitlements, and the rest with those of the app',
  async () => {
    const packager = {
      ...{ appInfo: { type: 'module' }, info: { getWorkspaceRoot: () => Promise.resolve(projectRoot) } },
      doSign: MacPackager.prototype.doSign,
    };
    const identity = { name: 'Developer ID Application: Somebody', hash: 'C0FFEE' };
    await packager.doSign(
      {
        ...{ app: application, platform: 'darwin', type: 'distribution', version: '45.0.0' },
        ...{ identity: identity.hash, identityValidation: false },
        optionsForFile: () => ({ entitlements: usual, hardenedRuntime: true }),
      },
      // As electron-builder.yml names it.
      { sign: 'main/packaging/sign-mac.ts' },
      identity,
    );
    const calls = readFileSync(join(directory, 'calls'), 'utf8')
      .split('\n')
      .map((line) => line.split('\t').slice(0, -1))
      .filter((words) => words[0] === '--sign');
    const entitlements = new Map(
      calls.map((words) => [words.at(-1), words[words.indexOf('--entitlements') + 1]]),
    );
    expect(Object.fromEntries(entitlements)).toEqual({
      [join(application, 'Contents/Resources/bin/keyhearth')]: join(projectRoot, commands),
      [join(application, 'Contents/Frameworks/some.dylib')]: usual,
      [join(application, 'Contents/MacOS/Keyhearth')]: usual,
      [application]: usual,
    });
    expect(new Set(calls.map((words) => words[1]))).toEqual(new Set([identity.hash]));
  },
);

test('the command may load modules that others signed, and the app may not', () => {
  const granted = (file: string): string[] =>
    [...readFileSync(join(projectRoot, file), 'utf8').matchAll(/<key>(.*)<\/key>\s*<true\/>/g)].map(
      ([, key = '']) => key,
    );
  expect(granted(usual)).toEqual(['com.apple.security.cs.allow-jit']);
  expect(granted(commands)).toEqual([
    'com.apple.security.cs.allow-jit',
    'com.apple.security.cs.disable-library-validation',
  ]);
});
