/** `keyhearth settings`, with the built service and with a vault that is not served. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Settings } from '../../preload/contract.ts';
import { CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';

const password = 'correct horse battery staple';

test('keyhearth settings shows and changes them, whether the vault runs or not', async () => {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(temporaryDirectory());
  const file = join(path, 'password');
  writeFileSync(file, password, { mode: 0o600 });
  const environment = {
    HOME: path,
    KEYHEARTH_DATA_DIR: join(path, 'vault'),
    KEYHEARTH_CONFIG_DIR: join(path, 'config'),
  };
  const opens = ['--no-keychain', '--password-file', file];
  const settings = (...argv: string[]) => runCommand(['settings', ...argv], { environment });

  expect(await settings('list')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no vault') as string,
  });
  expect(await runCommand(['init', ...opens], { environment })).toMatchObject({ code: 0 });
  const { stdout } = await settings('list');
  expect(stdout).toMatch(/^Setting +Value\nautoLock\.idleMinutes +10 minutes\n/);
  expect(stdout).toMatch(
    /\nport +usual \(7377\)\nnetwork +on\nlimits +usual\nstartAtLogin +not available here\n/,
  );

  // The vault is not served: the command needs a secret that opens it.
  const closed = await settings('set', 'network', 'off', '--no-keychain');
  expect(closed).toMatchObject({ code: 5, stderr: expect.stringContaining('--password-file') as string });
  expect(await settings('set', 'network', 'off', ...opens)).toEqual({
    code: 0,
    stdout: 'network: off\n',
    stderr: '',
  });

  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await settings('set', 'port', String(port), ...opens)).toMatchObject({ code: 0 });
  const refused = await runCommand(['serve', ...opens], { environment });
  expect(refused).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      `Port ${String(port)}, which the settings name, is in use by another program. Choose another: \`keyhearth settings set port usual\``,
    ) as string,
  });
  other.close();

  const service = new CommandProcess(['serve', '--json', '--port', '0', ...opens], { environment });
  resources.use(service);
  await service.nextLine();
  expect((await settings('get', 'network', '--json')).stdout).toBe('{"name":"network","value":false}\n');
  expect(await settings('set', 'autoLock.idleMinutes', 'never')).toMatchObject({
    code: 0,
    stdout: 'autoLock.idleMinutes: never\n',
  });
  expect(await settings('set', 'autoLock.requestsKeepOpen', 'off')).toMatchObject({
    code: 0,
    stdout: 'autoLock.requestsKeepOpen: off\n',
  });
  expect((await settings('set', 'port', '17377')).stdout).toContain(
    'port: 17377. Takes effect at the next start',
  );
  expect(JSON.parse((await settings('list', '--json')).stdout) as Settings).toEqual({
    autoLock: { idleMinutes: null, requestsKeepOpen: false, onScreenLock: true, onSuspend: true },
    port: 17_377,
    network: false,
    limits: 1,
    startAtLogin: null,
    updates: null,
    desktop: null,
  });

  for (const [argv, code, problem] of [
    [['get', 'ports'], 2, 'invalid <name> "ports": expected autoLock.idleMinutes, '],
    [['get', 'ports'], 2, 'Did you mean "port"?'],
    [['set', 'port', '80'], 2, 'invalid port "80": expected usual, or a number from 1024 to 65535'],
    [['set', 'autoLock.idleMinutes', '0'], 2, 'expected never, or a number from 1 to 1440'],
    [['set', 'network', 'yes'], 2, 'invalid network "yes": expected on or off'],
    [['set', 'updates', 'ask'], 1, 'settings.updates: this Keyhearth runs without the desktop app'],
    [['set', 'network'], 2, "missing required argument 'value'"],
  ] as const) {
    const ended = await settings(...argv);
    expect(ended, argv.join(' ')).toMatchObject({ code });
    expect(ended.stderr).toContain(problem);
  }
  expect(await runCommand(['lock'], { environment })).toMatchObject({ code: 0 });
  expect(await settings('set', 'network', 'on')).toMatchObject({ code: 5 });
});
