/** `keyhearth service`: the files that systemd and launchd get, and what these are asked to do with them. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { launchdAgent, systemdName, systemdUnit } from '../../main/commands/vault/service-files.ts';
import { runCommand, temporaryDirectory } from '../support/support.ts';
import type { Json } from '../support/support.ts';

const home = temporaryDirectory();
const vault = join(home.path, 'the vault');
const unit = join(home.path, '.config/systemd/user/keyhearth.service');
const calls = join(home.path, 'calls');
const bin = join(home.path, 'bin');
const passwordFile = join(home.path, 'pass word');
mkdirSync(bin);
mkdirSync(vault);
writeFileSync(passwordFile, 'correct horse\n', { mode: 0o600 });
// A test must not change the user's own systemd: this one records its arguments, and fails or waits on demand.
writeFileSync(
  join(bin, 'systemctl'),
  `#!/bin/sh
echo "$@" >> '${calls}'
case "$*" in *"$FAILING"*) echo 'no such bus' >&2; exit 1;; esac
case "$*" in *"$HELD"*)
  tries=30
  until grep -q disable '${calls}' || [ $((tries -= 1)) -lt 0 ]; do sleep 0.1; done;;
esac
`,
);
chmodSync(join(bin, 'systemctl'), 0o755);
afterAll(() => {
  home[Symbol.dispose]();
});
beforeEach(() => {
  writeFileSync(calls, '');
  writeFileSync(join(vault, 'vault.db'), '');
});

const environment = (failing: string, held = 'nothing') => ({
  HOME: home.path,
  PATH: `${bin}${delimiter}${String(process.env['PATH'])}`,
  KEYHEARTH_DATA_DIR: vault,
  FAILING: failing,
  HELD: held,
});

async function service(argv: readonly string[], failing?: string, held?: string) {
  const ended = await runCommand(['service', ...argv, '--json'], {
    environment: environment(failing ?? 'nothing', held),
  });
  return { ...ended, json: ended.stdout.startsWith('{') ? (JSON.parse(ended.stdout) as Json) : undefined };
}

const asked = (): string[] => readFileSync(calls, 'utf8').trimEnd().split('\n');

/** systemd's verdict on a unit. */
async function systemdVerdict(text: string): Promise<string> {
  const file = join(home.path, 'keyhearth.service');
  writeFileSync(file, text);
  try {
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--user', file], {
      env: { PATH: process.env['PATH'], HOME: home.path, XDG_RUNTIME_DIR: home.path },
    });
    return stderr;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Error('systemd-analyze is missing: sudo apt-get install systemd', { cause: error });
    }
    return String(error);
  }
}

describe.runIf(process.platform === 'linux')('systemd', () => {
  test('a unit is created, enabled and started, shown, and removed', async () => {
    const argv = ['install', '--port', '7400', '--ui', '--password-file', passwordFile];
    const installed = await service(argv);
    expect(installed).toMatchObject({ code: 0, json: { file: unit, running: true } });
    expect(asked()).toEqual([
      '--user daemon-reload',
      '--user enable keyhearth.service',
      '--user restart keyhearth.service',
      '--user is-active --quiet keyhearth.service',
    ]);
    // systemd runs what is there: its directories are this user's alone, whatever the umask.
    for (const made of ['.config', '.config/systemd', '.config/systemd/user']) {
      expect(statSync(join(home.path, made)).mode & 0o777, made).toBe(0o700);
    }
    const text = readFileSync(unit, 'utf8');
    expect(text).toContain(`"serve" "--data-dir" "${vault}" "--port" "7400" "--ui"\n`);
    expect(text).toContain(`LoadCredential=keyhearth-password:${passwordFile}\n`);
    expect(await systemdVerdict(text)).toBe('');

    expect(await service(['status'])).toMatchObject({ code: 0, json: { installed: true, running: true } });
    expect(await service(['status'], 'is-active')).toMatchObject({ code: 3, json: { running: false } });
    expect(await service(['uninstall'])).toMatchObject({ code: 0, json: { removed: true } });
    expect(asked().slice(-2)).toEqual(['--user disable --now keyhearth.service', '--user daemon-reload']);
    expect(existsSync(unit)).toBe(false);
    expect(await service(['uninstall'])).toMatchObject({ code: 0, json: { removed: false } });
    expect(await service(['status'])).toMatchObject({ code: 3, json: { installed: false } });
  });

  test('the command of the unit is this one, as systemd will run it', async () => {
    const { stdout } = await service(['install', '--print']);
    expect(stdout).toMatch(/^ExecStart="\/[^"]+node[^"]*" "\/[^"]+\/dist\/main\/cli[.]js" "serve" /m);
    expect(asked()).toEqual(['']);
    expect(existsSync(unit)).toBe(false);
  });

  test('without a vault, such a file or systemd there is an error', async () => {
    const nowhere = await service(['install', '--data-dir', join(home.path, 'nowhere')]);
    expect(nowhere).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no vault') as string,
    });
    const password = await service(['install', '--password-file', '/nowhere']);
    expect(password).toMatchObject({ code: 2, stderr: expect.stringContaining('does not exist') as string });
    const failed = await service(['install'], 'enable');
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        '`systemctl --user enable keyhearth.service` failed: no such bus',
      ) as string,
    });
  });

  test('a service that does not run is not said to', async () => {
    const installed = await service(['install'], 'is-active');
    expect(installed).toMatchObject({ code: 1, json: { file: unit, running: false } });
    const text = await runCommand(['service', 'install'], { environment: environment('is-active') });
    expect(text).toMatchObject({
      code: 1,
      stdout: expect.not.stringContaining('The service runs') as string,
    });
    expect(text.stdout).toContain(`does not run: ${unit}\nLog: journalctl`);
    await service(['uninstall']);
  });

  test('a removal waits for an installation that is under way', async () => {
    // The installation is held in its middle until the removal is at work too, or for three seconds.
    const installing = service(['install'], 'nothing', `enable ${systemdName}`);
    await vi.waitFor(() => {
      expect(asked()).toContain(`--user enable ${systemdName}`);
    }, 30_000);
    const removed = await service(['uninstall']);
    expect(await installing).toMatchObject({ code: 0, json: { running: true } });
    expect(removed).toMatchObject({ code: 0, json: { removed: true } });
    expect(asked()).toEqual([
      '--user daemon-reload',
      '--user enable keyhearth.service',
      '--user restart keyhearth.service',
      '--user is-active --quiet keyhearth.service',
      '--user disable --now keyhearth.service',
      '--user daemon-reload',
    ]);
    expect(existsSync(unit)).toBe(false);
  });

  test('a foreign unit is left alone', async () => {
    writeFileSync(unit, '[Service]\nExecStart=/bin/true\n');
    for (const command of ['install', 'uninstall']) {
      const refused = await service([command]);
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('was not written by') as string,
      });
    }
    expect(readFileSync(unit, 'utf8')).toContain('/bin/true');
  });
});

const awkward = ['/bin/true', 'a "b" \\ %h $HOME & <c> é'] as const;

describe('any text may be part of a service', () => {
  test('as systemd reads it', async () => {
    const text = systemdUnit({ command: awkward });
    expect(text).toContain(String.raw`ExecStart="/bin/true" "a \"b\" \\ %%h $$HOME & <c> é"`);
    expect(await systemdVerdict(text)).toBe('');
  });

  test('as launchd reads it', () => {
    const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
    const { parse } = createRequire(builder.resolve('app-builder-lib'))('plist') as {
      parse: (text: string) => Json;
    };
    const text = launchdAgent({ command: awkward, passwordFile: '/p&w' }, '/log');
    expect(parse(text)).toEqual({
      Label: 'app.keyhearth.service',
      ProgramArguments: [...awkward, '--launchd', '--password-file', '/p&w'],
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ProcessType: 'Background',
      Umask: 0o77,
      HardResourceLimits: { Core: 0 },
      StandardOutPath: '/log',
      StandardErrorPath: '/log',
    });
  });

  test('but none that would be a line of its own', () => {
    const line = { command: ['/bin/true', 'a\nExecStart=/bin/false'] } as const;
    expect(() => systemdUnit(line)).toThrow('without control characters');
    expect(() => launchdAgent(line, '/log')).toThrow('without control characters');
  });
});
